/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Conversations in tapes: what goes in comes out, in chunks as TAPE.md says; what breaks the rules of net.h
 * is neither written nor read; damage and cuts.
 */
#include "tests/net_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define S UINT64_C(1000000000)

static struct tape_reader *open_tape(const char *path)
{
    struct err e = {0};
    struct tape_reader *r = NULL;
    assert_done(tape_reader_open(&r, path, &e), e);
    return r;
}

static void assert_event(const struct net_event *a, const struct net_event *b)
{
    assert_int_equal(a->t_ns, b->t_ns);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->watermark, b->watermark);
    assert_int_equal(a->think_ns, b->think_ns);
    assert_int_equal(a->conversation, b->conversation);
    assert_int_equal(a->side, b->side);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->flags, b->flags);
}

static void assert_conversation(const struct net_conversation *a, const struct net_conversation *b)
{
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->client, b->client);
    assert_int_equal(a->server, b->server);
    assert_int_equal(a->client_port, b->client_port);
    assert_int_equal(a->server_port, b->server_port);
    assert_int_equal(a->protocol, b->protocol);
    assert_int_equal(a->marks, b->marks);
}

/* Reads all events; returns how many chunks they were in. */
static unsigned assert_samples(struct tape_reader *r, uint64_t count, uint64_t gap_ns)
{
    struct err e = {0};
    const struct net_chunk *c;
    uint64_t n = 0;
    uint32_t begun = 0;
    unsigned chunks = 0;
    int more;
    while ((more = tape_reader_net_next(r, &c, &e)) == 1) {
        chunks++;
        assert_int_equal(c->first, n);
        assert_int_equal(c->conversation_first, begun);
        for (uint32_t i = 0; i < c->conversation_count; i++, begun++) {
            struct net_conversation want = net_samples_conversation(begun);
            assert_conversation(&c->conversations[i], &want);
        }
        for (uint32_t i = 0; i < c->count; i++, n++) {
            struct net_event got = net_chunk_get(c, i),
                             want = net_samples_event((uint32_t)(n / 8), n % 8, gap_ns);
            assert_event(&got, &want);
        }
    }
    assert_done(more, e);
    assert_int_equal(n, count);
    assert_int_equal(begun, (count + 7) / 8);
    return chunks;
}

static void every_field_comes_back(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w = net_samples_begin(s->path);
    samples_add(w, 0, 100, 1000);
    net_samples_add(w, 0, 10000, 1000);
    tape_writer_lost(w, NET_SAMPLES_STREAM, 7);
    samples_add(w, 100, 200, 1000);
    samples_finish(w);

    struct tape_reader *r = open_tape(s->path);
    assert_done(tape_reader_verify(r, &e), e);
    assert_int_equal(tape_reader_stream(r, NET_SAMPLES_STREAM)->kind, TAPE_STREAM_NET);
    assert_int_equal(tape_reader_stream(r, 1)->kind, TAPE_STREAM_DISK);
    assert_int_equal(tape_reader_host_count(r), NET_SAMPLES_HOSTS);
    assert_string_equal(tape_reader_host(r, 4), "host-5");
    assert_int_equal(assert_samples(r, 80000, 1000), 2);
    tape_reader_net_rewind(r);
    assert_int_equal(assert_samples(r, 80000, 1000), 2);
    /* 5,000 of TCP, of which each number that ends in 9 is left open, and 5,000 of UDP; initiators send 100 +
     * number by TCP and 512 (1 + 3 + 5), the third empty, by UDP; responders 5 GiB + 7, and 512 (2 + 4 + 6).
     */
    const struct tape_totals *t = tape_reader_totals(r);
    assert_int_equal(t->records, 200);
    assert_int_equal(t->net.conversations, 10000);
    assert_int_equal(t->net.events, 80000);
    assert_int_equal(t->net.open, 6000);
    assert_int_equal(t->net.sent_bytes[NET_INITIATOR], 5000 * 100 + 5000ULL * 5000 + 5000ULL * 512 * 6);
    assert_int_equal(t->net.sent_bytes[NET_RESPONDER], 5000 * ((5ULL << 30) + 7) + 5000ULL * 512 * 12);
    /* One answer by TCP, three by UDP. */
    assert_int_equal(t->net.exchanges, 5000 + 3 * 5000);
    const struct tape_stream_totals *tap = &t->streams[NET_SAMPLES_STREAM];
    assert_int_equal(tap->records, 80000);
    assert_int_equal(tap->lost, 7);
    assert_int_equal(tap->open, 6000);
    assert_int_equal(tap->written_bytes, t->net.sent_bytes[NET_INITIATOR]);
    assert_int_equal(tap->read_bytes, t->net.sent_bytes[NET_RESPONDER]);
    tape_reader_close(r);
}

/* 4 s between events: a chunk ends before an event that comes 10 s after its first, so holds three. */
static void chunks_end_by_time(void **state)
{
    struct samples *s = *state;
    struct tape_writer *w = net_samples_begin(s->path);
    net_samples_add(w, 0, 9, 4 * S);
    samples_finish(w);
    struct tape_reader *r = open_tape(s->path);
    assert_int_equal(assert_samples(r, 72, 4 * S), 24);
    tape_reader_close(r);
}

static struct tape_identity identity_of(const char *path)
{
    struct tape_reader *r = open_tape(path);
    struct tape_identity id = tape_reader_totals(r)->identity;
    tape_reader_close(r);
    return id;
}

/* One conversation of TCP, with a change in one field of one event. */
static struct tape_identity identity_with(const char *path, unsigned change)
{
    struct err e = {0};
    struct tape_writer *w = net_samples_begin(path);
    struct net_conversation c = net_samples_conversation(1);
    c.client_port = (uint16_t)(change == 1 ? 1 : 2);
    c.marks = change == 2;
    for (unsigned k = 0; k < 4; k++) {
        struct net_event ev = net_samples_event(1, k, 1000);
        ev.conversation = 0;
        ev.bytes += k == 2 && change == 3;
        ev.think_ns += k == 2 && change == 4;
        ev.watermark -= k == 3 && change == 5;
        assert_done(tape_writer_net(w, &ev, k ? NULL : &c, &e), e);
    }
    samples_finish(w);
    return identity_of(path);
}

static void identity_covers_conversations(void **state)
{
    struct samples *s = *state;
    struct tape_identity ids[6];
    for (unsigned i = 0; i < 6; i++) {
        ids[i] = identity_with(s->path, i);
        for (unsigned k = 0; k < i; k++)
            assert_false(tape_identity_equal(&ids[i], &ids[k]));
    }
    struct tape_identity again = identity_with(s->path, 0);
    assert_true(tape_identity_equal(&again, &ids[0]));
}

/* ---- the rules ---- */

struct wrong {
    const char *text; /* of the error */
    unsigned k;       /* the event that is changed */
    struct net_event by;
    unsigned mask; /* 1 kind, 2 side, 4 bytes, 8 watermark, 16 flags, 32 think_ns, 64 conversation */
};

static const struct wrong wrongs[] = {
        {"waits for more ended", 0, {.watermark = 1}, 8},
        {"no open conversation", 2, {.conversation = 1}, 64},
        {"waits for more than its peer", 3, {.watermark = 101}, 8},
        {"waits for more than its peer", 5, {.watermark = (UINT64_C(5) << 30) + 8}, 8},
        {"waits for more than its peer", 7, {.watermark = 103}, 8}, /* 100 + 1 bytes and a FIN: 102 */
        {"begins before the tape", 2, {.think_ns = 1 << 20}, 32},
        {"has no bytes", 2, {.bytes = 0}, 4},
        {"has no bytes, too many", 3, {.bytes = UINT64_C(1) << 57}, 4},
        {"is no data", 1, {.bytes = 5}, 4},
        {"unknown kind", 2, {.kind = NET_KINDS}, 1},
        {"unknown kind", 2, {.side = 2}, 2},
        {"unknown kind", 2, {.flags = 4}, 16},
        {"accepts what it cannot", 1, {.side = NET_INITIATOR}, 2},
        {"not the second end", 2, {.kind = NET_CLOSE, .bytes = 0}, 1 | 4},
        {"not the first end", 7, {.kind = NET_HALF_CLOSE}, 1},
        {"comes after its side's end", 7,
                {.kind = NET_DATA, .side = NET_INITIATOR, .bytes = 1, .watermark = 0}, 1 | 2 | 4 | 8},
        {"does not begin the next", 2, {.kind = NET_CONNECT, .bytes = 0}, 1 | 4},
        {"cuts for the responder", 3, {.kind = NET_CUT, .bytes = 0}, 1 | 4},
};

static void change(struct net_event *ev, const struct wrong *x)
{
    ev->kind = x->mask & 1 ? x->by.kind : ev->kind;
    ev->side = x->mask & 2 ? x->by.side : ev->side;
    ev->bytes = x->mask & 4 ? x->by.bytes : ev->bytes;
    ev->watermark = x->mask & 8 ? x->by.watermark : ev->watermark;
    ev->flags = x->mask & 16 ? x->by.flags : ev->flags;
    ev->think_ns = x->mask & 32 ? x->by.think_ns : ev->think_ns;
    ev->conversation = x->mask & 64 ? x->by.conversation : ev->conversation;
}

static void wrong_events_are_refused(void **state)
{
    struct samples *s = *state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct err e = {0};
        struct tape_writer *w = net_samples_begin(s->path);
        struct net_conversation c = net_samples_conversation(1);
        int r = 0;
        for (unsigned k = 0; k < 8 && !r; k++) {
            struct net_event ev = net_samples_event(1, k, 1000);
            ev.conversation = 0;
            if (k == wrongs[i].k)
                change(&ev, &wrongs[i]);
            r = tape_writer_net(w, &ev, k ? NULL : &c, &e);
            if (k < wrongs[i].k)
                assert_done(r, e);
        }
        assert_int_equal(r, -EINVAL);
        if (!strstr(e.text, wrongs[i].text))
            fail_msg("%zu: %s", i, e.text);
        tape_writer_close(w, true);
    }
}

static void wrong_conversations_are_refused(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w = net_samples_begin(s->path);
    struct net_conversation c = net_samples_conversation(1), bad;
    struct net_event ev = {0};
    bad = c, bad.client = NET_SAMPLES_HOSTS;
    assert_int_equal(tape_writer_net(w, &ev, &bad, &e), -EINVAL);
    bad = c, bad.stream = 0; /* a disk */
    assert_int_equal(tape_writer_net(w, &ev, &bad, &e), -EINVAL);
    bad = c, bad.stream = 3;
    assert_int_equal(tape_writer_net(w, &ev, &bad, &e), -EINVAL);
    bad = c, bad.protocol = NET_PROTOCOLS;
    assert_int_equal(tape_writer_net(w, &ev, &bad, &e), -EINVAL);
    bad = c, bad.marks = 1 << NET_MARKS;
    assert_int_equal(tape_writer_net(w, &ev, &bad, &e), -EINVAL);
    assert_int_equal(tape_writer_net(w, &ev, NULL, &e), -EINVAL);
    assert_done(tape_writer_net(w, &ev, &c, &e), e); /* the control */
    struct block_record r = {.stream = NET_SAMPLES_STREAM, .latency_ns = 1};
    assert_int_equal(tape_writer_add(w, &r, NULL, &e), -EINVAL); /* no block I/O on an interface */
    tape_writer_close(w, true);
}

/* A connect waits for what ended for its client: the initiator's FIN, or a reset; not for what others had. */
static void connects_wait_for_their_client(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w = net_samples_begin(s->path);
    struct net_conversation c = {.stream = NET_SAMPLES_STREAM, .client = 0, .server = 3};
    struct net_conversation other = c;
    other.client = 1;
    struct net_event ev = {.t_ns = 1};
    assert_done(tape_writer_net(w, &ev, &c, &e), e);
    ev = (struct net_event){.t_ns = 1, .kind = NET_HALF_CLOSE, .side = NET_RESPONDER};
    assert_done(tape_writer_net(w, &ev, NULL, &e), e);
    struct net_event again = {.t_ns = 2, .conversation = 1, .watermark = 1};
    assert_int_equal(tape_writer_net(w, &again, &c, &e), -EINVAL);
    ev = (struct net_event){.t_ns = 2, .kind = NET_CLOSE, .watermark = 1};
    assert_done(tape_writer_net(w, &ev, NULL, &e), e);
    assert_int_equal(tape_writer_net(w, &again, &other, &e), -EINVAL);
    assert_done(tape_writer_net(w, &again, &c, &e), e);
    ev = (struct net_event){.t_ns = 3, .conversation = 1, .kind = NET_RESET, .side = NET_RESPONDER};
    assert_done(tape_writer_net(w, &ev, NULL, &e), e);
    again = (struct net_event){.t_ns = 3, .conversation = 2, .watermark = 3};
    assert_int_equal(tape_writer_net(w, &again, &c, &e), -EINVAL);
    again.watermark = 2;
    assert_done(tape_writer_net(w, &again, &c, &e), e);
    samples_finish(w);
    struct tape_reader *r = open_tape(s->path);
    assert_done(tape_reader_verify(r, &e), e);
    assert_int_equal(tape_reader_totals(r)->net.open, 1);
    tape_reader_close(r);
}

/* ---- damage ---- */

static int check(const char *path, struct err *e)
{
    struct tape_reader *r;
    int bad = tape_reader_open(&r, path, e);
    if (bad)
        return bad;
    bad = tape_reader_verify(r, e);
    tape_reader_close(r);
    return bad;
}

static void a_flipped_bit_is_found(void **state)
{
    struct samples *s = *state;
    struct stat st;
    struct tape_writer *w = net_samples_begin(s->path);
    net_samples_add(w, 0, 9, 4 * S);
    samples_finish(w);
    int fd = open(s->path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 0; at < st.st_size; at += 37) {
        struct err e = {0};
        uint8_t byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= (uint8_t)(1 << at % 8);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        if (check(s->path, &e) == 0)
            fail_msg("byte %ld: not found", (long)at);
        byte ^= (uint8_t)(1 << at % 8);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    struct err e = {0};
    assert_done(check(s->path, &e), e);
    close(fd);
}

/* Cut anywhere behind its first member, it is read up to a whole chunk. */
static void a_cut_tape_is_read(void **state)
{
    struct samples *s = *state;
    struct stat st;
    uint64_t last = 0;
    struct tape_writer *w = net_samples_begin(s->path);
    net_samples_add(w, 0, 9, 4 * S);
    tape_writer_close(w, false);
    assert_int_equal(stat(s->partial, &st), 0);
    for (off_t len = st.st_size; len > 2048; len -= 211) {
        struct err e = {0};
        assert_int_equal(truncate(s->partial, len), 0);
        struct tape_reader *r = open_tape(s->partial);
        assert_done(tape_reader_verify(r, &e), e);
        const struct tape_totals *t = tape_reader_totals(r);
        assert_false(t->finished);
        assert_int_equal(t->net.events % 3, 0);
        assert_true(len == st.st_size ? t->net.events == 69 : t->net.events <= last);
        last = t->net.events;
        assert_samples(r, last, 4 * S);
        tape_reader_close(r);
    }
    assert_int_equal(last, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, samples_setup, samples_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(every_field_comes_back), TEST(chunks_end_by_time),
            TEST(identity_covers_conversations), TEST(wrong_events_are_refused),
            TEST(wrong_conversations_are_refused), TEST(connects_wait_for_their_client),
            TEST(a_flipped_bit_is_found), TEST(a_cut_tape_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
