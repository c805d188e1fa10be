/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the tests of tapes of conversations: a tape that has begun, and events by the rules of net.h.
 */
#ifndef IOTAPE_TESTS_NET_SAMPLES_H
#define IOTAPE_TESTS_NET_SAMPLES_H

#include "tests/tape_samples.h"

#define NET_SAMPLES_STREAM 2 /* "tap0", behind the two disks */
#define NET_SAMPLES_HOSTS  5

/* As samples_begin, with an interface and hosts. */
static inline struct tape_writer *net_samples_begin(const char *path)
{
    struct err e = {0};
    struct tape_writer *w = samples_begin(path);
    struct tape_stream s = {.kind = TAPE_STREAM_NET, .name = (char *)"tap0"};
    uint32_t id;
    assert_done(tape_writer_stream(w, &s, &id, &e), e);
    assert_int_equal(id, NET_SAMPLES_STREAM);
    for (uint32_t i = 0; i < NET_SAMPLES_HOSTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "host-%u", i + 1);
        assert_done(tape_writer_host(w, name, &id, &e), e);
        assert_int_equal(id, i);
    }
    return w;
}

static inline struct net_conversation net_samples_conversation(uint32_t number)
{
    return (struct net_conversation){.stream = NET_SAMPLES_STREAM,
            .client = number % 3,
            .server = 3 + number % 2,
            .client_port = (uint16_t)(40000 + number),
            .server_port = number % 2 ? 443 : 53,
            .protocol = number % 2 ? NET_TCP : NET_UDP,
            .marks = (uint8_t)(number % 7 == 3 ? NET_BEGAN_BEFORE | NET_INITIATOR_GUESSED : 0)};
}

/* Event k (0 to 7) of conversation `number`, which takes eight of them, `gap_ns` apart. UDP: four datagrams
 * each way. TCP: a request, two parts of an answer, both ends. */
static inline struct net_event net_samples_event(uint32_t number, unsigned k, uint64_t gap_ns)
{
    struct net_event ev = {.t_ns = ((uint64_t)number * 8 + k) * gap_ns, .conversation = number};
    bool tcp = number % 2, left_open = number % 5 == 4;
    ev.think_ns = ev.t_ns % 1000;
    if (k == 0)
        return ev;
    if (k == 7) {
        ev.kind = (uint8_t)(tcp && !left_open ? NET_CLOSE : NET_CUT);
        ev.side = ev.kind == NET_CLOSE ? NET_RESPONDER : NET_INITIATOR;
        ev.watermark = ev.kind == NET_CLOSE ? 100 + number + 1 : 0;
        ev.flags = (uint16_t)(left_open ? NET_FORGOTTEN : 0);
        return ev;
    }
    if (!tcp) {
        ev.kind = NET_DATA;
        ev.side = (k + 1) % 2;
        ev.watermark = (k - 1) / 2 + ev.side;
        ev.bytes = k == 3 ? 0 : 512 * k;
        return ev;
    }
    static const uint8_t kinds[] = {
            NET_CONNECT, NET_ACCEPT, NET_DATA, NET_DATA, NET_DATA, NET_DATA, NET_HALF_CLOSE};
    ev.kind = kinds[k];
    ev.side = k == 1 || k == 3 || k == 4;
    ev.bytes = k == 2 ? 100 : k == 3 ? UINT64_C(5) << 30 : k == 4 ? 7 : k == 5 ? number : 0;
    ev.watermark = k == 3 || k == 4 ? 100 : k == 5 || k == 6 ? 7 + (UINT64_C(5) << 30) : 0;
    ev.flags = (uint16_t)(k == 4 ? NET_UNSEEN : 0);
    return ev;
}

/* Conversations `from` to `to` - 1, one after the other. */
static inline void net_samples_add(struct tape_writer *w, uint32_t from, uint32_t to, uint64_t gap_ns)
{
    struct err e = {0};
    for (uint32_t n = from; n < to; n++) {
        for (unsigned k = 0; k < 8; k++) {
            struct net_event ev = net_samples_event(n, k, gap_ns);
            struct net_conversation c = net_samples_conversation(n);
            assert_done(tape_writer_net(w, &ev, k ? NULL : &c, &e), e);
        }
    }
}

#endif
