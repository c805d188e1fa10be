/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes tapes of conversations with known contents:
 *
 *     tool_net PATH [KEY=VALUE]...
 *
 * Conversation k connects at k * gap_us (or, with serial=1, think_us after the one before has ended, which it
 * waits for) and is accepted path_us later. Then `exchanges` times: the initiator sends `request` bytes,
 * client_us after it had the answer before, and the responder sends `answer` bytes server_us after it had
 * these. Each way takes path_us, of which no think time holds anything. Then the end: close (initiator
 * first), reset (by the initiator), reset_there (by the responder), cut, or none (of the tape, too: it is
 * left unfinished).
 *
 * Keys: conversations (1), exchanges (10), request (64), answer (64), server_us (100), client_us (100),
 * path_us (20), gap_us (1000), serial (0), end (close), protocol (tcp), clients (1: conversations take
 * turns), interfaces (1: these, too), began (0: the first N conversations began before), greeting (0: bytes
 * that the responder sends first), disk (0: so many writes of 4 KiB, 1 ms apart, to a disk of 64 MiB), label.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tape.h"

static int argc_;
static char **argv_;

static const char *text(const char *key, const char *otherwise)
{
    size_t n = strlen(key);
    for (int i = 2; i < argc_; i++)
        if (strncmp(argv_[i], key, n) == 0 && argv_[i][n] == '=')
            return argv_[i] + n + 1;
    return otherwise;
}
static uint64_t number(const char *key, uint64_t otherwise)
{
    const char *t = text(key, NULL);
    return t ? strtoull(t, NULL, 10) : otherwise;
}
static void need(int rc, const struct err *e)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "tool_net: %s\n", e->text);
    exit(1);
}

/* All events of all conversations, to be sorted by time. */
struct made {
    struct net_event ev;
    uint64_t order;
};
static struct made *list;
static size_t count, room;
static uint64_t ended_ns; /* of the conversation before */

static void add(struct net_event ev)
{
    if (count == room) {
        room = room ? room * 2 : 1024;
        list = realloc(list, room * sizeof *list);
        if (!list)
            exit(1);
    }
    list[count] = (struct made){ev, count};
    count++;
}

static int by_time(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    if (x->ev.t_ns != y->ev.t_ns)
        return x->ev.t_ns < y->ev.t_ns ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void put(uint32_t k, unsigned side, unsigned kind, uint64_t t_ns, uint64_t bytes, uint64_t watermark,
        uint64_t think_ns)
{
    add((struct net_event){t_ns, bytes, watermark, think_ns, k, (uint8_t)side, (uint8_t)kind, 0});
}

/* The end, at `at_ns`, when the initiator had sent and received so much. */
static void put_end(uint32_t k, uint64_t at_ns, uint64_t sent, uint64_t received)
{
    const char *end = text("end", "close");
    uint64_t path_ns = 1000 * number("path_us", 20);
    if (strcmp(end, "close") == 0) {
        put(k, NET_INITIATOR, NET_HALF_CLOSE, at_ns, 0, received, 0);
        put(k, NET_RESPONDER, NET_CLOSE, at_ns + path_ns, 0, sent + 1, 0);
    } else if (strcmp(end, "reset") == 0) {
        put(k, NET_INITIATOR, NET_RESET, at_ns, 0, received, 0);
    } else if (strcmp(end, "reset_there") == 0) {
        put(k, NET_RESPONDER, NET_RESET, at_ns, 0, sent, 0);
    } else if (strcmp(end, "cut") == 0) {
        put(k, NET_INITIATOR, NET_CUT, at_ns, 0, 0, 0);
    }
    ended_ns = at_ns;
}

static void make(uint32_t k)
{
    bool udp = strcmp(text("protocol", "tcp"), "udp") == 0, serial = number("serial", 0);
    uint64_t path_ns = 1000 * number("path_us", 20), server_ns = 1000 * number("server_us", 100),
             client_ns = 1000 * number("client_us", 100), request = number("request", 64),
             answer = number("answer", 64), greeting = number("greeting", 0), sent = 0, received = 0;
    uint64_t t = 1000 * number("gap_us", 1000) * k, think = t;
    if (serial && k) {
        think = client_ns;
        t = ended_ns + think;
    }
    put(k, NET_INITIATOR, NET_CONNECT, t, 0, serial ? k : 0, think);
    if (!udp)
        put(k, NET_RESPONDER, NET_ACCEPT, t += path_ns, 0, 0, 0);
    if (greeting) {
        put(k, NET_RESPONDER, NET_DATA, t += server_ns, greeting, 0, server_ns);
        received += udp ? 1 : greeting;
    }
    t += path_ns;
    for (uint64_t i = 0; i < number("exchanges", 10); i++) {
        put(k, NET_INITIATOR, NET_DATA, t += client_ns, request, received, client_ns);
        sent += udp ? 1 : request;
        t += path_ns;
        if (answer) {
            put(k, NET_RESPONDER, NET_DATA, t += server_ns, answer, sent, server_ns);
            received += udp ? 1 : answer;
            t += path_ns;
        }
    }
    put_end(k, t, sent, received);
}

static void write_all(struct tape_writer *w, const uint32_t *stream, const uint32_t *client, uint32_t server)
{
    struct err e = {0};
    uint64_t clients = number("clients", 1), began = number("began", 0), interfaces = number("interfaces", 1);
    bool udp = strcmp(text("protocol", "tcp"), "udp") == 0;
    qsort(list, count, sizeof *list, by_time);
    for (size_t i = 0; i < count; i++) {
        const struct net_event *ev = &list[i].ev;
        struct net_conversation c = {.stream = stream[ev->conversation % interfaces],
                .client = client[ev->conversation % clients],
                .server = server,
                .client_port = (uint16_t)(40000 + ev->conversation % 20000),
                .server_port = 5432,
                .protocol = udp ? NET_UDP : NET_TCP,
                .marks = ev->conversation < began ? NET_BEGAN_BEFORE : 0};
        need(tape_writer_net(w, ev, ev->kind == NET_CONNECT ? &c : NULL, &e), &e);
    }
}

/* Block I/O on the same clock. */
static void write_disk(struct tape_writer *w)
{
    struct err e = {0};
    struct tape_stream disk = {.kind = TAPE_STREAM_DISK, .name = strdup("disk"), .capacity_bytes = 64 << 20};
    uint32_t stream, issuer;
    uint64_t writes = number("disk", 0);
    if (writes) {
        need(tape_writer_stream(w, &disk, &stream, &e), &e);
        need(tape_writer_issuer(w, "guest", &issuer, &e), &e);
    }
    for (uint64_t i = 0; i < writes; i++) {
        struct block_record r = {.t_ns = i * 1000000,
                .stream = stream,
                .issuer = issuer,
                .op = BLOCK_WRITE,
                .offset_bytes = i % 16384 * 4096,
                .len_bytes = 4096,
                .latency_ns = 100000};
        need(tape_writer_add(w, &r, NULL, &e), &e);
    }
    tape_stream_release(&disk);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct tape_writer *w;
    uint32_t stream[16], server, client[16];
    argc_ = argc;
    argv_ = argv;
    if (argc < 2) {
        fprintf(stderr, "usage: tool_net PATH [KEY=VALUE]...\n");
        return 2;
    }
    struct tape_info info = {.label = strdup(text("label", "")), .started_unix_ns = 1262304000000000000};
    need(tape_writer_open(&w, argv[1], &info, &e), &e);
    for (uint64_t i = 0; i < number("interfaces", 1) && i < 16; i++) {
        char name[32];
        snprintf(name, sizeof name, "tap%u", (unsigned)i);
        struct tape_stream s = {.kind = TAPE_STREAM_NET, .name = strdup(name)};
        need(tape_writer_stream(w, &s, &stream[i], &e), &e);
        tape_stream_release(&s);
    }
    for (uint64_t i = 0; i < number("clients", 1) && i < 16; i++) {
        char name[32];
        snprintf(name, sizeof name, "client%u", (unsigned)i);
        need(tape_writer_host(w, name, &client[i], &e), &e);
    }
    need(tape_writer_host(w, "server", &server, &e), &e);
    for (uint32_t k = 0; k < number("conversations", 1); k++)
        make(k);
    write_all(w, stream, client, server);
    write_disk(w);
    if (strcmp(text("end", "close"), "none") != 0)
        need(tape_writer_finish(w, "duration", count ? list[count - 1].ev.t_ns : 0, &e), &e);
    tape_writer_close(w, false);
    tape_info_release(&info);
    free(list);
    return 0;
}
