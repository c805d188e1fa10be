/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rule of dependence against cases worked out by hand, and against a witness that follows the words
 * of depend.h with nothing but loops over all earlier records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/depend.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct expected {
    uint32_t group;
    bool counts;
    uint64_t watermark, think_ns;
};

static struct block_record io(uint32_t stream, uint64_t t_ns, uint64_t latency_ns)
{
    return (struct block_record){.t_ns = t_ns, .latency_ns = latency_ns, .stream = stream, .issuer = stream};
}

static struct depend *open_at(enum depend_group kind, uint64_t start_ns)
{
    struct err e = {0};
    struct depend *d = NULL;

    assert_int_equal(depend_open(&d, kind, start_ns, &e), 0);
    return d;
}

static void take(struct depend *d, struct block_record r, struct expected want)
{
    struct err e = {0};
    struct depend_wait got;

    assert_int_equal(depend_next(d, &r, &got, &e), 0);
    assert_int_equal(got.group, want.group);
    assert_int_equal(got.counts, want.counts);
    assert_int_equal(got.watermark, want.watermark);
    assert_int_equal(got.think_ns, want.think_ns);
}

/* Latency 100 us, think time 100 us: I/O i arrives at 200 us * i, after i completions, 100 us after the
 * last (the first at the start itself). At zero latency 63 think times remain: 6.3 ms. */
static void depth_1(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, 0);

    (void)state;
    for (uint64_t i = 0; i < 64; i++)
        take(d, io(0, 200 * US * i, 100 * US), (struct expected){0, true, i, i ? 100 * US : 0});
    assert_int_equal(depend_depth_max(d), 1);
    assert_int_equal(depend_zero_latency_ns(d), 6300 * US);
    assert_int_equal(depend_group_count(d), 1);
    depend_close(d);
}

/* 64 queued 1 us apart, all complete 1 ms after their arrival; the 65th arrives at 2 ms, when the last
 * completion (63 us + 1 ms) is 937 us past. At zero latency the 64th is issued at 63 us and the 65th 937
 * us after it: 1 ms. */
static void depth_64(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, 0);

    (void)state;
    for (uint64_t i = 0; i < 64; i++)
        take(d, io(0, US * i, MS), (struct expected){0, true, 0, US * i});
    assert_int_equal(depend_depth_max(d), 64);
    take(d, io(0, 2 * MS, MS), (struct expected){0, true, 64, 937 * US});
    assert_int_equal(depend_depth_max(d), 64);
    assert_int_equal(depend_zero_latency_ns(d), MS);
    depend_close(d);
}

/* Two streams interleaved: each counts its own completions; the depth is that of both. Stream 7 appears
 * first and is group 0. The start is 1 ms.
 *   t     stream latency  waits for                           zero-latency issue since the start
 *   1.0   7      2.0      nothing, think 0                    0
 *   1.5   3      1.0      nothing, think 0.5                  0.5
 *   2.6   3      1.0      1 of stream 3 (2.5), think 0.1      0.5 + 0.1 = 0.6
 *   3.0   7      1.0      1 of stream 7 (3.0 itself), think 0 0
 *   3.9   3      1.0      2 of stream 3 (3.6), think 0.3      0.6 + 0.3 = 0.9
 * At 2.6 ms 7's first and 3's second are open: depth 2. */
static void two_streams(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, MS);

    (void)state;
    take(d, io(7, 1000 * US, 2000 * US), (struct expected){0, true, 0, 0});
    take(d, io(3, 1500 * US, 1000 * US), (struct expected){1, true, 0, 500 * US});
    take(d, io(3, 2600 * US, 1000 * US), (struct expected){1, true, 1, 100 * US});
    take(d, io(7, 3000 * US, 1000 * US), (struct expected){0, true, 1, 0});
    take(d, io(3, 3900 * US, 1000 * US), (struct expected){1, true, 2, 300 * US});
    assert_int_equal(depend_group_count(d), 2);
    assert_int_equal(depend_depth_max(d), 2);
    assert_int_equal(depend_zero_latency_ns(d), 900 * US);
    depend_close(d);
}

/* The same stream, two issuers: apart by issuer, together by stream. */
static void grouped_by_issuer(void **state)
{
    struct depend *streams = open_at(DEPEND_STREAM, 0), *issuers = open_at(DEPEND_ISSUER, 0);
    struct block_record a = {.latency_ns = 10, .issuer = 500},
                        b = {.t_ns = 20, .latency_ns = 10, .issuer = 2};

    (void)state;
    take(streams, a, (struct expected){0, true, 0, 0});
    take(streams, b, (struct expected){0, true, 1, 10});
    take(issuers, a, (struct expected){0, true, 0, 0});
    take(issuers, b, (struct expected){1, true, 0, 20});
    assert_int_equal(depend_group_count(streams), 1);
    assert_int_equal(depend_group_count(issuers), 2);
    depend_close(streams);
    depend_close(issuers);
}

/* Records without a latency wait but never complete: the third still sees only the first, and in the
 * zero-latency replay completion 1 is that of the first record, at 0: 0 + (300 - 100). The second was
 * issued at 0 + (150 - 100). */
static void unknown_latencies(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, 0);

    (void)state;
    take(d, io(0, 0, 100), (struct expected){0, true, 0, 0});
    take(d, io(0, 150, TAPE_UNKNOWN), (struct expected){0, false, 1, 50});
    assert_int_equal(depend_zero_latency_ns(d), 50);
    take(d, io(0, 300, 10), (struct expected){0, true, 1, 200});
    assert_int_equal(depend_zero_latency_ns(d), 200);
    assert_int_equal(depend_depth_max(d), 1);
    depend_close(d);
}

/* A completion at the time of an arrival counts as before it, also one of no latency at all. A latency
 * that overflows the clock completes at its very end. */
static void ties(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, 0);

    (void)state;
    take(d, io(0, 10, 0), (struct expected){0, true, 0, 10});
    take(d, io(0, 10, 5), (struct expected){0, true, 1, 0});
    take(d, io(0, 15, UINT64_MAX - 1), (struct expected){0, true, 2, 0});
    take(d, io(0, UINT64_MAX - 1, 0), (struct expected){0, true, 2, UINT64_MAX - 1 - 15});
    take(d, io(0, UINT64_MAX, 0), (struct expected){0, true, 4, 0});
    depend_close(d);
}

/* One I/O stalls for 5 s while others run at depth 1 beneath it: the watermark goes on without it, and
 * is one behind the number of records from then on. */
static void stall(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, 0);

    (void)state;
    take(d, io(0, 0, 5000 * MS), (struct expected){0, true, 0, 0});
    for (uint64_t i = 0; i < 40000; i++)
        take(d, io(0, 100 * US * (i + 1), 60 * US), (struct expected){0, true, i, i ? 40 * US : 100 * US});
    assert_int_equal(depend_depth_max(d), 2);
    take(d, io(0, 5001 * MS, 1), (struct expected){0, true, 40001, MS});
    depend_close(d);
}

static void out_of_range(void **state)
{
    struct depend *d = open_at(DEPEND_STREAM, 0);
    struct depend_wait wait;
    struct err e = {0};
    struct block_record r = io(UINT32_MAX, 0, 0);

    (void)state;
    assert_int_equal(depend_next(d, &r, &wait, &e), -EINVAL);
    assert_int_equal(depend_group_count(d), 0);
    depend_close(d);
}

/* ---- random tapes against the witness ---- */

#define RECORDS 600

static uint64_t end_of(const struct block_record *r)
{
    uint64_t end = r->t_ns + r->latency_ns;

    return end < r->t_ns ? UINT64_MAX : end;
}

/* depend.h's words: how many earlier records of the stream are complete, and when the last one was. */
static struct expected witness_wait(const struct block_record *r, size_t i, uint64_t start_ns)
{
    struct expected w = {.counts = r[i].latency_ns != TAPE_UNKNOWN};
    uint64_t latest = start_ns;

    for (size_t j = 0; j < i; j++) {
        if (r[j].stream != r[i].stream || r[j].latency_ns == TAPE_UNKNOWN || end_of(&r[j]) > r[i].t_ns)
            continue;
        w.watermark++;
        latest = end_of(&r[j]) > latest ? end_of(&r[j]) : latest;
    }
    w.think_ns = r[i].t_ns - latest;
    return w;
}

/* Issue at zero latency: after the stream's record before, and after its watermark-th counted record. */
static uint64_t witness_issue(
        const struct block_record *r, size_t i, struct expected w, const uint64_t *issue)
{
    uint64_t before = 0, reached = 0, counted = 0;

    for (size_t j = 0; j < i; j++) {
        if (r[j].stream != r[i].stream)
            continue;
        before = issue[j];
        if (r[j].latency_ns != TAPE_UNKNOWN && ++counted == w.watermark)
            reached = issue[j];
    }
    return reached + w.think_ns > before ? reached + w.think_ns : before;
}

static uint64_t witness_depth(const struct block_record *r, size_t i)
{
    uint64_t open = r[i].latency_ns != TAPE_UNKNOWN;

    for (size_t j = 0; j < i; j++)
        open += r[j].latency_ns != TAPE_UNKNOWN && end_of(&r[j]) > r[i].t_ns;
    return r[i].latency_ns == TAPE_UNKNOWN ? 0 : open;
}

static void fill_random(struct block_record *r, unsigned streams, uint64_t latency_max)
{
    uint64_t t = 1000;

    for (size_t i = 0; i < RECORDS; i++) {
        t += (uint64_t)(rand() % 3 ? rand() % 50 : 0);
        r[i] = io((uint32_t)rand() % streams, t, (uint64_t)rand() % latency_max);
        if (rand() % 20 == 0)
            r[i].latency_ns = TAPE_UNKNOWN;
        else if (rand() % 20 == 0)
            r[i].latency_ns = 20000; /* a stall beside the others */
    }
}

static void check_random(unsigned streams, uint64_t latency_max)
{
    struct block_record r[RECORDS];
    uint64_t issue[RECORDS], last = 0, depth = 0;
    struct depend *d = open_at(DEPEND_STREAM, 1000);
    uint32_t group[8], groups = 0;

    memset(group, 0xff, sizeof group);
    fill_random(r, streams, latency_max);
    for (size_t i = 0; i < RECORDS; i++) {
        struct expected w = witness_wait(r, i, 1000);
        if (group[r[i].stream] == UINT32_MAX)
            group[r[i].stream] = groups++;
        w.group = group[r[i].stream];
        issue[i] = witness_issue(r, i, w, issue);
        last = issue[i] > last ? issue[i] : last;
        depth = witness_depth(r, i) > depth ? witness_depth(r, i) : depth;
        take(d, r[i], w);
        assert_int_equal(depend_zero_latency_ns(d), last);
        assert_int_equal(depend_depth_max(d), depth);
    }
    assert_int_equal(depend_group_count(d), groups);
    depend_close(d);
}

/* From an idle disk to hundreds in flight, so that both parts of the queue and the growth of all
 * arrays are met. */
static void random_tapes(void **state)
{
    static const uint64_t latency_max[] = {1, 20, 300, 3000, 30000};

    (void)state;
    srand(20100801);
    for (unsigned i = 0; i < 5; i++)
        for (unsigned streams = 1; streams <= 8; streams *= 2)
            check_random(streams, latency_max[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(depth_1),
            cmocka_unit_test(depth_64),
            cmocka_unit_test(two_streams),
            cmocka_unit_test(grouped_by_issuer),
            cmocka_unit_test(unknown_latencies),
            cmocka_unit_test(ties),
            cmocka_unit_test(stall),
            cmocka_unit_test(out_of_range),
            cmocka_unit_test(random_tapes),
    };
    return cmocka_run_group_tests_name("depend", tests, NULL, NULL);
}
