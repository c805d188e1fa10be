/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * `closed` on simulated devices: what a tape of a known workload takes when I/Os take other times than they
 * did.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/base/random.h"
#include "formats/depend.h"
#include "replay/waits.h"

#define RECORDS 16000 /* fit one block */
#define DEPTH   64    /* at most, here */

struct recording {
    uint64_t t_ns[RECORDS], latency_ns[RECORDS];
    uint64_t elapsed_ns;
    unsigned depth;
};

/* I/Os in flight, by the time of their end. */
struct open_ios {
    uint64_t end_ns[DEPTH];
    unsigned count;
};

static void open_add(struct open_ios *o, uint64_t end_ns)
{
    assert_true(o->count < DEPTH);
    unsigned i = o->count++;
    for (; i && o->end_ns[i - 1] > end_ns; i--)
        o->end_ns[i] = o->end_ns[i - 1];
    o->end_ns[i] = end_ns;
}

static uint64_t open_take(struct open_ios *o)
{
    assert_true(o->count > 0);
    uint64_t first = o->end_ns[0];
    for (unsigned i = 1; i < o->count; i++)
        o->end_ns[i - 1] = o->end_ns[i];
    o->count--;
    return first;
}

/* Uniform between 30 and 170 % of the mean. */
static uint64_t vary(uint64_t mean_ns, uint64_t *state)
{
    return mean_ns * (300 + random_next(state) % 1401) / 1000;
}

/* One program that needs cpu_ns for each I/O and waits only where `window` are in flight. */
static void record_window(struct recording *r, unsigned window, uint64_t cpu_ns, uint64_t mean_ns)
{
    struct open_ios open = {0};
    uint64_t now_ns = 0, state = 1;
    r->elapsed_ns = 0;
    r->depth = 0;
    for (unsigned i = 0; i < RECORDS; i++) {
        now_ns += vary(cpu_ns, &state);
        while (open.count && open.end_ns[0] <= now_ns)
            open_take(&open);
        if (open.count == window)
            now_ns = open_take(&open) + cpu_ns / 4;
        r->t_ns[i] = now_ns;
        r->latency_ns[i] = vary(mean_ns, &state);
        open_add(&open, now_ns + r->latency_ns[i]);
        if (open.count > r->depth)
            r->depth = open.count;
        if (now_ns + r->latency_ns[i] > r->elapsed_ns)
            r->elapsed_ns = now_ns + r->latency_ns[i];
    }
}

/* Batches of `width`; each begins when the one before has ended, and some time later. */
static void record_batches(struct recording *r, unsigned width, uint64_t think_ns, uint64_t mean_ns)
{
    uint64_t now_ns = 0, ended_ns = 0, state = 2;
    for (unsigned i = 0; i < RECORDS; i++) {
        now_ns = i % width ? now_ns + 1000 : ended_ns + think_ns;
        r->t_ns[i] = now_ns;
        r->latency_ns[i] = vary(mean_ns, &state);
        if (now_ns + r->latency_ns[i] > ended_ns)
            ended_ns = now_ns + r->latency_ns[i];
    }
    r->elapsed_ns = ended_ns;
    r->depth = width;
}

static struct work_pool *make_pool(const struct recording *r)
{
    struct err e = {0};
    struct work_pool *pool;
    struct depend *d;
    assert_int_equal(work_pool_open(&pool, &e), 0);
    assert_int_equal(depend_open(&d, DEPEND_STREAM, 0, &e), 0);
    struct work *w = pool->block[0];
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct block_record record = {.t_ns = r->t_ns[i], .len_bytes = 4096, .latency_ns = r->latency_ns[i]};
        struct depend_wait wait;
        assert_int_equal(depend_next(d, &record, &wait, &e), 0);
        w->watermark[i] = wait.watermark;
        w->think_ns[i] = wait.think_ns;
        w->group[i] = wait.group;
        w->counts[i] = wait.counts;
    }
    w->count = RECORDS;
    depend_close(d);
    return pool;
}

/* What the replay takes where I/Os take mean_ns; *depth is the largest that it reached. */
static uint64_t replay(const struct recording *r, uint64_t mean_ns, unsigned *depth)
{
    struct err e = {0};
    struct work_pool *pool = make_pool(r);
    struct waits *ws;
    struct work *w;
    struct open_ios open = {0};
    uint64_t ready_ns, elapsed_ns = 0, state = 3;
    uint32_t at;
    assert_int_equal(waits_open(&ws, pool, &e), 0);
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_int_equal(waits_add(ws, pool->block[0], i, &e), 0);
    *depth = 0;
    while (waits_pending(ws)) {
        bool known = waits_first(ws, &w, &at, &ready_ns);
        if (!known || (open.count && open.end_ns[0] <= ready_ns)) {
            assert_int_equal(waits_completed(ws, 0, open_take(&open), &e), 0);
            continue;
        }
        waits_take(ws);
        uint64_t end_ns = ready_ns + vary(mean_ns, &state);
        open_add(&open, end_ns);
        *depth = open.count > *depth ? open.count : *depth;
        elapsed_ns = end_ns > elapsed_ns ? end_ns : elapsed_ns;
    }
    waits_close(ws);
    work_pool_close(pool);
    return elapsed_ns;
}

/* The same by the watermarks alone. */
static uint64_t replay_by_watermark(const struct recording *r, uint64_t mean_ns)
{
    struct work_pool *pool = make_pool(r);
    const struct work *w = pool->block[0];
    struct open_ios open = {0};
    uint64_t now_ns = 0, reached_ns = 0, completed = 0, elapsed_ns = 0, state = 3;
    for (uint32_t i = 0; i < RECORDS; i++) {
        for (; completed < w->watermark[i]; completed++)
            reached_ns = open_take(&open);
        if (reached_ns + w->think_ns[i] > now_ns)
            now_ns = reached_ns + w->think_ns[i];
        uint64_t end_ns = now_ns + vary(mean_ns, &state);
        open_add(&open, end_ns);
        elapsed_ns = end_ns > elapsed_ns ? end_ns : elapsed_ns;
    }
    work_pool_close(pool);
    return elapsed_ns;
}

static void assert_ratio(uint64_t a, uint64_t b, double low, double high)
{
    double ratio = (double)a / (double)b;
    if (ratio < low || ratio > high)
        fail_msg("%.3f is not between %.3f and %.3f", ratio, low, high);
}

static struct recording *new_recording(void)
{
    struct recording *r = calloc(1, sizeof *r);
    assert_non_null(r);
    return r;
}

/* A program that is busy itself: I/Os that take as long, in another order, take as long together, but for
 * some percent (arrivals meet the recorded depth on average; the mean over time is a little larger). */
static void varying_latencies_cost_nothing(void **state)
{
    (void)state;
    struct recording *r = new_recording();
    unsigned depth;
    for (unsigned window = 8; window <= 32; window *= 4) {
        record_window(r, window, 9000, window == 8 ? 30000 : 60000);
        assert_ratio(replay(r, window == 8 ? 30000 : 60000, &depth), r->elapsed_ns, 0.92, 1.03);
        assert_true(depth <= r->depth);
        /* The control: without the balance it is longer. */
        assert_true(replay_by_watermark(r, window == 8 ? 30000 : 60000) > r->elapsed_ns * 21 / 20);
    }
    free(r);
}

/* A program that waits for the device: half the latency, half the time, and never more in flight. */
static void a_full_window_follows_the_device(void **state)
{
    (void)state;
    struct recording *r = new_recording();
    unsigned depth;
    record_window(r, 32, 500, 500000);
    assert_ratio(replay(r, 500000, &depth), r->elapsed_ns, 0.98, 1.02);
    assert_int_equal(depth, 32);
    assert_ratio(replay(r, 250000, &depth), r->elapsed_ns, 0.49, 0.52);
    assert_ratio(replay(r, 1000000, &depth), r->elapsed_ns, 1.96, 2.04);
    assert_int_equal(depth, 32);
    free(r);
}

/* At depth one nothing is ahead: each I/O takes its latency and think time: sums by hand. */
static void depth_one_is_exact(void **state)
{
    (void)state;
    struct recording *r = new_recording();
    unsigned depth;
    record_window(r, 1, 10000, 50000);
    uint64_t think_ns = r->elapsed_ns, again_ns = 0, again = 3;
    for (unsigned i = 0; i < RECORDS; i++) {
        think_ns -= r->latency_ns[i];
        again_ns += vary(200000, &again);
    }
    assert_true(replay(r, 200000, &depth) == think_ns + again_ns);
    assert_int_equal(depth, 1);
    free(r);
}

/* Batches that waited for all of the one before do so again: the same as by watermarks, to a hundredth. */
static void batches_stay_apart(void **state)
{
    (void)state;
    struct recording *r = new_recording();
    unsigned depth;
    record_batches(r, 16, 20000, 100000);
    for (uint64_t mean_ns = 50000; mean_ns <= 200000; mean_ns *= 2) {
        assert_ratio(replay(r, mean_ns, &depth), replay_by_watermark(r, mean_ns), 0.99, 1.01);
        assert_true(depth <= 16);
    }
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(varying_latencies_cost_nothing),
            cmocka_unit_test(a_full_window_follows_the_device),
            cmocka_unit_test(depth_one_is_exact),
            cmocka_unit_test(batches_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
