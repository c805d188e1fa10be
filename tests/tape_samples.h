/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the tests of tapes and runs: a folder of their own, records that cover every field, and a tape of
 * them.
 */
#ifndef IOTAPE_TESTS_TAPE_SAMPLES_H
#define IOTAPE_TESTS_TAPE_SAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/base/random.h"
#include "formats/tape.h"

struct samples {
    char folder[64];
    char path[96];     /* a tape */
    char partial[112]; /* the same, unfinished */
};

/* Fails the test with the text of the error. */
#define assert_done(r, e)                                                                                    \
    do {                                                                                                     \
        if ((r) < 0)                                                                                         \
            fail_msg("%s", (e).text);                                                                        \
    } while (0)

static inline int samples_setup(void **state)
{
    struct samples *s = calloc(1, sizeof *s);
    const char *ram = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (!s)
        return -1;
    snprintf(s->folder, sizeof s->folder, "%s/iotape-test.XXXXXX", ram);
    if (!mkdtemp(s->folder))
        return -1;
    snprintf(s->path, sizeof s->path, "%s/x.tape", s->folder);
    snprintf(s->partial, sizeof s->partial, "%s.partial", s->path);
    *state = s;
    return 0;
}

static inline int samples_teardown(void **state)
{
    struct samples *s = *state;
    remove(s->path);
    remove(s->partial);
    int r = rmdir(s->folder);
    free(s);
    return r;
}

/* Record i of a mixed workload on two streams by three issuers, `gap_ns` apart on average, with everything in
 * it that a record can hold: unknown latencies, errors, all operations and flags, places up to the last
 * sector. */
static inline struct block_record samples_record(uint64_t i, uint64_t gap_ns)
{
    uint64_t state = i, a = random_next(&state), b = random_next(&state);
    struct block_record r = {.t_ns = i * gap_ns + a % (gap_ns ? gap_ns : 1),
            .stream = (uint32_t)(a >> 32) % 2,
            .issuer = (uint32_t)(a >> 40) % 3,
            .op = (uint8_t)((a >> 48) % BLOCK_OPS),
            .flags = (uint16_t)((b >> 20) % (1 << BLOCK_FLAGS)),
            .offset_bytes = (b % 1000) * 4096,
            .len_bytes = ((b >> 10) % 8 + 1) * 4096,
            .latency_ns = 50000 + (b >> 32) % 100000};
    if (r.op == BLOCK_FLUSH)
        r.offset_bytes = r.len_bytes = 0;
    if (i % 97 == 3)
        r.latency_ns = TAPE_UNKNOWN;
    else if (i % 89 == 4)
        r.error = (uint16_t)(1 + b % 65535);
    if (i % 101 == 5)
        r.offset_bytes = UINT64_MAX - 511;
    if (i % 103 == 6)
        r.len_bytes = UINT64_MAX;
    if (i % 107 == 7)
        r.latency_ns = UINT64_MAX - 1;
    return r;
}

static inline void samples_assert_equal(const struct block_record *a, const struct block_record *b)
{
    assert_int_equal(a->t_ns, b->t_ns);
    assert_int_equal(a->offset_bytes, b->offset_bytes);
    assert_int_equal(a->len_bytes, b->len_bytes);
    assert_int_equal(a->latency_ns, b->latency_ns);
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->issuer, b->issuer);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->error, b->error);
    assert_int_equal(a->op, b->op);
}

/* A tape that has begun: two streams, three issuers. */
static inline struct tape_writer *samples_begin(const char *path)
{
    struct err e = {0};
    struct tape_writer *w = NULL;
    struct tape_info info = {.label = (char *)"a label", .started_unix_ns = 1700000000000000000};
    memcpy(info.salt, "0123456789abcdef", sizeof info.salt);
    assert_done(facts_set(&info.host, &e, "kernel", "6.1.0"), e);
    assert_done(facts_set(&info.options, &e, "source", "test"), e);
    assert_done(tape_writer_open(&w, path, &info, &e), e);
    for (uint32_t i = 0, id; i < 2; i++) {
        struct tape_stream s = {.name = (char *)(i ? "vdb" : "vda"),
                .capacity_bytes = 1ULL << (30 + i),
                .sector_bytes = 512U << (3 * i),
                .disk_start_bytes = 1048576 * i};
        strcpy(s.disk_hash, i ? "" : "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
        assert_done(facts_set(&s.device, &e, "model", "disk %u", i), e);
        assert_done(tape_writer_stream(w, &s, &id, &e), e);
        assert_int_equal(id, i);
        facts_release(&s.device);
    }
    for (uint32_t i = 0, id; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        assert_done(tape_writer_issuer(w, name, &id, &e), e);
        assert_int_equal(id, i);
    }
    facts_release(&info.host);
    facts_release(&info.options);
    return w;
}

static inline void samples_add(struct tape_writer *w, uint64_t from, uint64_t to, uint64_t gap_ns)
{
    struct err e = {0};
    for (uint64_t i = from, ordinal; i < to; i++) {
        struct block_record r = samples_record(i, gap_ns);
        assert_done(tape_writer_add(w, &r, &ordinal, &e), e);
        assert_int_equal(ordinal, i);
    }
}

static inline void samples_finish(struct tape_writer *w)
{
    struct err e = {0};
    assert_done(tape_writer_finish(w, "duration", 0, &e), e);
    tape_writer_close(w, false);
}

#endif
