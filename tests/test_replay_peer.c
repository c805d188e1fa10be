/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The small parts of a replay of conversations: frames, messages and whose turn it is, tokens, deadlines,
 * what connects wait for, addresses, and the ledger's rules and caps.
 */
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/net.h"
#include "formats/pack.h"
#include "replay/pace.h"
#include "replay/peer/address.h"
#include "replay/peer/channel.h"
#include "replay/peer/clients.h"
#include "replay/peer/events.h"
#include "replay/peer/message.h"
#include "replay/peer/timers.h"
#include "replay/peer/tokens.h"

/* ---- frames ---- */

struct pipes {
    int there[2], back[2];
    struct channel c; /* reads `there`, writes `back` */
};

static void pipes_open(struct pipes *p)
{
    assert_int_equal(pipe(p->there), 0);
    assert_int_equal(pipe(p->back), 0);
    channel_init(&p->c, p->there[0], p->back[1]);
}

static void pipes_close(struct pipes *p)
{
    channel_release(&p->c);
    close(p->there[0]);
    close(p->back[0]);
    close(p->back[1]);
}

static void frames_come_whole(void **state)
{
    (void)state;
    struct pipes p;
    struct err e = {0};
    const uint8_t *body;
    size_t len;
    pipes_open(&p);
    assert_int_equal(write(p.there[1], "\0\0\0\3ab", 6), 6);
    assert_int_equal(channel_receive(&p.c, 0, &body, &len, &e), 0);
    assert_int_equal(write(p.there[1], "c\0\0\0\1d", 6), 6);
    assert_int_equal(channel_receive(&p.c, 0, &body, &len, &e), 1);
    assert_int_equal(len, 3);
    assert_memory_equal(body, "abc", 3);
    assert_int_equal(channel_receive(&p.c, 0, &body, &len, &e), 1);
    assert_memory_equal(body, "d", 1);
    close(p.there[1]);
    assert_int_equal(channel_receive(&p.c, 0, &body, &len, &e), -EPIPE);
    pipes_close(&p);
}

static void frames_have_bounds(void **state)
{
    (void)state;
    static const char *const bad[] = {"\0\0\0\0", "\0\2\0\1", "\377\377\377\377"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pipes p;
        struct err e = {0};
        const uint8_t *body;
        size_t len;
        pipes_open(&p);
        assert_int_equal(write(p.there[1], bad[i], 4), 4);
        assert_int_equal(channel_receive(&p.c, 0, &body, &len, &e), -EPROTO);
        close(p.there[1]);
        pipes_close(&p);
    }
    struct pipes p;
    struct err e = {0};
    const uint8_t *body;
    size_t len;
    pipes_open(&p);
    assert_int_equal(write(p.there[1], "\0\0\0\3a", 5), 5);
    close(p.there[1]);
    assert_int_equal(channel_receive(&p.c, 0, &body, &len, &e), -EPROTO); /* it ends within a frame */
    pipes_close(&p);
}

/* ---- messages ---- */

static void messages_are_what_they_were(void **state)
{
    (void)state;
    struct err e = {0};
    struct bytes out = {0};
    struct unpacked *u = NULL;
    struct message m = {.type = MESSAGE_ABSENT, .n = {7, ECONNREFUSED}}, got;
    assert_int_equal(message_pack(&m, &out, &e), 0);
    assert_int_equal(message_unpack(&got, &u, out.data, out.len, &e), 0);
    assert_int_equal(got.type, MESSAGE_ABSENT);
    assert_int_equal(got.n[ABSENT_CONVERSATION], 7);
    assert_int_equal(got.n[ABSENT_CODE], ECONNREFUSED);
    for (size_t cut = 0; cut < out.len; cut++)
        assert_int_equal(message_unpack(&got, &u, out.data, cut, &e), -EPROTO);
    unpacked_release(&u);
    bytes_release(&out);
}

/* The order of message.h, and each of its steps out of turn. */
static void messages_have_an_order(void **state)
{
    (void)state;
    static const struct {
        enum message_end from;
        enum message_type type;
    } turn[] = {{MESSAGE_CLIENT, MESSAGE_HELLO}, {MESSAGE_SERVER, MESSAGE_HELLO},
            {MESSAGE_CLIENT, MESSAGE_BEGIN}, {MESSAGE_SERVER, MESSAGE_READY},
            {MESSAGE_CLIENT, MESSAGE_EVENTS}, {MESSAGE_SERVER, MESSAGE_TAKEN}, {MESSAGE_CLIENT, MESSAGE_GO},
            {MESSAGE_CLIENT, MESSAGE_ABSENT}, {MESSAGE_CLIENT, MESSAGE_END},
            {MESSAGE_SERVER, MESSAGE_RESULTS}, {MESSAGE_CLIENT, MESSAGE_BYE}};
    struct message_order o = {0};
    struct err e = {0};
    for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
        struct message_order copy = o;
        enum message_end other = turn[i].from == MESSAGE_CLIENT ? MESSAGE_SERVER : MESSAGE_CLIENT;
        if (turn[i].type != MESSAGE_HELLO)
            assert_int_equal(message_in_order(&copy, other, turn[i].type, &e), -EPROTO);
        assert_int_equal(message_in_order(&o, turn[i].from, turn[i].type, &e), 0);
    }
    assert_int_equal(message_in_order(&o, MESSAGE_CLIENT, MESSAGE_BEGIN, &e), -EPROTO); /* after goodbye */
    struct message_order fresh = {0};
    assert_int_equal(message_in_order(&fresh, MESSAGE_CLIENT, MESSAGE_GO, &e), -EPROTO);
}

/* ---- tokens ---- */

static void tokens_are_of_use_once(void **state)
{
    (void)state;
    struct tokens *t;
    struct err e = {0};
    uint8_t a[EVENTS_TOKEN_BYTES], b[EVENTS_TOKEN_BYTES], cookie[EVENTS_TOKEN_BYTES];
    uint32_t conversation = 99;
    assert_int_equal(tokens_open(&t, &e), 0);
    assert_int_equal(token_make(a, &e), 0);
    assert_int_equal(token_make(b, &e), 0);
    assert_int_equal(tokens_expect(t, a, 3, NET_TCP, &e), 0);
    assert_int_equal(tokens_expect(t, a, 4, NET_TCP, &e), -EPROTO);
    assert_false(tokens_redeem(t, b, NET_TCP, NULL, &conversation));
    assert_false(tokens_redeem(t, a, NET_UDP, a, &conversation));
    assert_true(tokens_redeem(t, a, NET_TCP, NULL, &conversation));
    assert_int_equal(conversation, 3);
    assert_false(tokens_redeem(t, a, NET_TCP, NULL, &conversation));
    assert_int_equal(tokens_expect(t, b, 5, NET_UDP, &e), 0);
    assert_true(tokens_cookie(t, b, cookie));
    assert_false(tokens_redeem(t, b, NET_UDP, NULL, &conversation));
    assert_false(tokens_redeem(t, b, NET_UDP, b, &conversation));
    assert_true(tokens_redeem(t, b, NET_UDP, cookie, &conversation));
    assert_int_equal(conversation, 5);
    for (uint32_t i = 0; i < 5000; i++) { /* more than there are buckets */
        assert_int_equal(token_make(a, &e), 0);
        assert_int_equal(tokens_expect(t, a, i, NET_TCP, &e), 0);
    }
    assert_true(tokens_redeem(t, a, NET_TCP, NULL, &conversation));
    assert_int_equal(conversation, 4999);
    tokens_close(t);
}

/* ---- deadlines ---- */

static void deadlines_come_in_order(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static struct timer timer[COUNT];
    struct timers t = {0};
    struct err e = {0};
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(timers_set(&t, &timer[i], i * 7919 % COUNT, &e),
                0);                                           /* each of 0 to 499 once: 7919 is prime */
    assert_int_equal(timers_set(&t, &timer[0], 1000, &e), 0); /* moved from 0 */
    timers_clear(&t, &timer[1]);                              /* 7919 % 500 = 419 */
    timers_clear(&t, &timer[1]);
    for (uint64_t want = 1; want < COUNT; want++) {
        struct timer *first = timers_first(&t);
        if (want == 419)
            continue;
        assert_non_null(first);
        assert_int_equal(first->due_ns, want);
        timers_clear(&t, first);
    }
    assert_ptr_equal(timers_first(&t), &timer[0]);
    timers_release(&t);
}

/* ---- what connects wait for ---- */

struct released {
    uint32_t conversation[8];
    unsigned count;
};

static void note_release(void *context, uint32_t conversation, uint64_t at_ns)
{
    struct released *r = context;
    assert_true(r->count < 8 && at_ns);
    r->conversation[r->count++] = conversation;
}

static void connects_wait_for_ends(void **state)
{
    (void)state;
    struct released r = {0};
    struct clients *c;
    struct err e = {0};
    uint64_t at_ns = 0;
    assert_int_equal(clients_open(&c, note_release, &r, &e), 0);
    assert_int_equal(clients_wait(c, 1, 2, 10, &at_ns, &e), 0);
    assert_int_equal(clients_wait(c, 1, 1, 11, &at_ns, &e), 0);
    assert_int_equal(clients_wait(c, 2, 1, 12, &at_ns, &e), 0);
    clients_ended(c, 1, 100);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.conversation[0], 11);
    clients_ended(c, 1, 200);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.conversation[1], 10);
    assert_int_equal(clients_wait(c, 1, 2, 13, &at_ns, &e), 1);
    assert_int_equal(at_ns, 200);
    clients_close(c);
}

/* ---- addresses ---- */

static void addresses_are_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int family, port;
    } good[] = {{"10.0.0.2", AF_INET, 0}, {"10.0.0.2:5201", AF_INET, 5201}, {"10.0.0.2,5201", AF_INET, 5201},
            {"fd00::2", AF_INET6, 0}, {"[fd00::2]", AF_INET6, 0}, {"[fd00::2]:5201", AF_INET6, 5201},
            {"fd00::2,5201", AF_INET6, 5201}};
    static const char *const bad[] = {
            "", "host", "10.0.0.2:", "10.0.0.2,", "[fd00::2]5201", "10.0.0.2:http", "10.0.0.2:1:2"};
    struct address a;
    struct err e = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(address_parse(&a, good[i].text, &e), 0);
        assert_int_equal(a.at.ss_family, good[i].family);
        const struct sockaddr_in *four = (const struct sockaddr_in *)&a.at;
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&a.at;
        assert_int_equal(ntohs(good[i].family == AF_INET ? four->sin_port : six->sin6_port), good[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(address_parse(&a, bad[i], &e), -EINVAL);
}

/* ---- the ledger ---- */

static struct peer_event event(
        unsigned kind, unsigned side, uint32_t conversation, uint64_t bytes, uint64_t watermark)
{
    return (struct peer_event){.ev = {.kind = (uint8_t)kind,
                                       .side = (uint8_t)side,
                                       .conversation = conversation,
                                       .bytes = bytes,
                                       .watermark = watermark}};
}

static int add(struct ledger *l, unsigned kind, unsigned side, uint32_t conversation, uint64_t bytes,
        uint64_t watermark)
{
    struct peer_event ev = event(kind, side, conversation, bytes, watermark);
    struct err e = {0};
    return ledger_add(l, &ev, &e);
}

static void ledger_knows_rules_and_caps(void **state)
{
    (void)state;
    struct ledger_limits limits = {.open_max = 2, .bytes_max = 100};
    struct ledger *l;
    struct err e = {0};
    assert_int_equal(ledger_open(&l, &limits, &e), 0);
    assert_int_equal(add(l, NET_CONNECT, NET_INITIATOR, 1, 0, 0), -EPROTO); /* the first is 0 */
    assert_int_equal(add(l, NET_CONNECT, NET_INITIATOR, 0, 5, 0), -EPROTO); /* bytes in a connect */
    assert_int_equal(add(l, NET_CONNECT, NET_INITIATOR, 0, 0, 0), 0);
    assert_int_equal(add(l, NET_DATA, NET_INITIATOR, 0, 60, 0), 0);
    assert_int_equal(add(l, NET_DATA, NET_RESPONDER, 0, 10, 61), -EPROTO); /* more than were sent */
    assert_int_equal(add(l, NET_DATA, NET_RESPONDER, 0, 10, 60), 0);
    assert_int_equal(add(l, NET_DATA, NET_RESPONDER, 0, 31, 60), -EDQUOT); /* 60 + 10 + 31 > 100 */
    assert_int_equal(add(l, NET_CLOSE, NET_INITIATOR, 0, 0, 10), -EPROTO); /* the first end is a half-close */
    assert_int_equal(add(l, NET_HALF_CLOSE, NET_INITIATOR, 0, 0, 10), 0);
    assert_int_equal(add(l, NET_DATA, NET_INITIATOR, 0, 1, 10), -EPROTO); /* after its end */
    assert_int_equal(add(l, NET_CONNECT, NET_INITIATOR, 1, 0, 0), 0);
    assert_int_equal(add(l, NET_CONNECT, NET_INITIATOR, 2, 0, 0), -EDQUOT); /* three at once */
    assert_int_equal(add(l, NET_CLOSE, NET_RESPONDER, 0, 0, 61), 0);
    assert_int_equal(add(l, NET_CONNECT, NET_INITIATOR, 2, 0, 0), 0);
    assert_int_equal(add(l, NET_DATA, NET_INITIATOR, 0, 1, 0), -EPROTO); /* it is over */
    assert_int_equal(ledger_bytes(l), 70);
    assert_int_equal(ledger_conversations(l), 3);
    ledger_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(frames_come_whole),
            cmocka_unit_test(frames_have_bounds),
            cmocka_unit_test(messages_are_what_they_were),
            cmocka_unit_test(messages_have_an_order),
            cmocka_unit_test(tokens_are_of_use_once),
            cmocka_unit_test(deadlines_come_in_order),
            cmocka_unit_test(connects_wait_for_ends),
            cmocka_unit_test(addresses_are_numbers),
            cmocka_unit_test(ledger_knows_rules_and_caps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
