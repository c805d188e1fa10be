/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Feed and engine against a target whose latency the test sets and which notes what it sees. Nothing here
 * asserts that something is fast: only orders, counts, and what cannot be sooner.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/tape.h"
#include "replay/engine.h"
#include "replay/pace.h"

#define RECORDS_MAX 4096
#define MS          UINT64_C(1000000)
#define US          UINT64_C(1000)
#define LATE_MAX    (200 * US) /* that is made good */

/* ---- the target ---- */

struct fake {
    struct target base;
    bool tells_nothing;  /* of when an I/O completed: it counts as completed when it is reaped */
    uint64_t busy_ns;    /* what handing I/Os over takes */
    uint64_t latency_ns; /* of every I/O */
    uint64_t slow_ns;    /* of those beyond slow_from_bytes, where that is not 0 */
    uint64_t slow_from_bytes;
    uint64_t fail_offset; /* the I/O there fails with fail_result */
    int fail_result;
    /* what it saw */
    unsigned in_flight, in_flight_max, count;
    uint64_t offset[RECORDS_MAX];
    uint64_t submitted_ns[RECORDS_MAX];
};

struct target_queue {
    unsigned count;
    struct target_io *io[RECORDS_MAX];
};

static struct fake *fake_of(struct target *t)
{
    return (struct fake *)t;
}

static int fake_queue_open(struct target_queue **q, unsigned depth, struct err *e)
{
    (void)depth;
    (void)e;
    *q = calloc(1, sizeof **q);
    return *q ? 0 : -ENOMEM;
}

static void fake_queue_close(struct target_queue *q)
{
    assert_int_equal(q->count, 0);
    free(q);
}

static int fake_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e)
{
    (void)e;
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < count; i++) {
        struct fake *f = fake_of(io[i]->target);
        bool slow = f->slow_from_bytes && io[i]->offset_bytes >= f->slow_from_bytes;
        io[i]->space[0] = now_ns + (slow ? f->slow_ns : f->latency_ns);
        f->offset[f->count] = io[i]->offset_bytes;
        f->submitted_ns[f->count++] = now_ns;
        if (++f->in_flight > f->in_flight_max)
            f->in_flight_max = f->in_flight;
        q->io[q->count++] = io[i];
        while (pace_now_ns() < now_ns + f->busy_ns)
            ;
    }
    return (int)count;
}

static int fake_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    (void)e;
    uint64_t until_ns = pace_now_ns() + timeout_ns;
    unsigned n = 0;
    do {
        uint64_t now_ns = pace_now_ns();
        for (unsigned i = 0; i < q->count && n < max;) {
            struct target_io *io = q->io[i];
            if (io->space[0] > now_ns) {
                i++;
                continue;
            }
            struct fake *f = fake_of(io->target);
            f->in_flight--;
            io->done_ns = f->tells_nothing ? 0 : io->space[0];
            io->result = io->op <= BLOCK_WRITE ? (int64_t)io->len_bytes : 0;
            if (f->fail_result && io->offset_bytes == f->fail_offset)
                io->result = f->fail_result;
            done[n++] = io;
            q->io[i] = q->io[--q->count];
        }
    } while (n == 0 && pace_now_ns() < until_ns);
    return (int)n;
}

static const struct target_ops fake_ops = {.name = "fake",
        .queue_open = fake_queue_open,
        .queue_close = fake_queue_close,
        .submit = fake_submit,
        .reap = fake_reap};

static void fake_init(struct fake *f, uint64_t latency_ns)
{
    *f = (struct fake){
            .base = {.ops = &fake_ops, .url = (char *)"fake:", .size_bytes = 1 << 30, .sector_bytes = 512},
            .latency_ns = latency_ns};
}

/* ---- one replay ---- */

struct replayed {
    struct engine_result result;
    struct feed_counts counts;
    struct work *work; /* the results, all in one block */
    struct work_pool *pool;
    int status;
    struct err err;
};

static volatile sig_atomic_t no_stop;

struct how {
    enum replay_timing timing;
    unsigned depth;
    double speed;
    enum fit_policy fit;
    enum depend_group group;
    uint64_t max_errors;
    uint64_t from_ns, until_ns;
    bool read_only;
    const volatile sig_atomic_t *stop;
};

static struct tape_reader *make_tape(const struct block_record *r, unsigned count, unsigned streams)
{
    char path[] = "/tmp/iotape-engine.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    struct err e = {0};
    struct tape_writer *w;
    struct tape_reader *reader;
    struct tape_info info = {.label = (char *)""};
    struct tape_stream s = {.name = (char *)"disk"};
    uint32_t id;
    assert_int_equal(tape_writer_open(&w, path, &info, &e), 0);
    for (unsigned i = 0; i < streams; i++)
        assert_int_equal(tape_writer_stream(w, &s, &id, &e), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(tape_writer_issuer(w, "process", &id, &e), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(tape_writer_add(w, &r[i], NULL, &e), 0);
    assert_int_equal(tape_writer_finish(w, "duration", count ? r[count - 1].t_ns : 0, &e), 0);
    tape_writer_close(w, false);
    assert_int_equal(tape_reader_open(&reader, path, &e), 0);
    unlink(path);
    return reader;
}

static void run_replay(struct replayed *out, const struct block_record *r, unsigned count,
        struct target **target, unsigned streams, const struct how *how)
{
    memset(out, 0, sizeof *out);
    struct tape_reader *tape = make_tape(r, count, streams);
    struct feed_source source = {.tape = tape,
            .target = target,
            .from_ns = how->from_ns,
            .until_ns = how->until_ns ? how->until_ns : UINT64_MAX,
            .timing = how->timing,
            .group = how->group,
            .speed = how->speed ? how->speed : 1,
            .fit = how->fit,
            .read_only = how->read_only};
    assert_int_equal(work_pool_open(&out->pool, &out->err), 0);
    work_pool_reset(out->pool);
    struct engine_options o = {.timing = how->timing,
            .depth = how->depth ? how->depth : 1024,
            .target = target,
            .targets = streams,
            .max_errors = how->max_errors,
            .write = {.seed = 1, .repetition = 1},
            .pool = out->pool,
            .stop = how->stop ? how->stop : &no_stop};
    struct feed *feed;
    assert_int_equal(feed_open(&feed, &source, out->pool, &out->err), 0);
    out->status = engine_run(&o, feed, &out->result, &out->err);
    feed_close(feed, &out->counts);
    out->work = work_queue_pop(&out->pool->done);
    tape_reader_close(tape);
}

static void end_replay(struct replayed *r)
{
    work_pool_close(r->pool);
}

static unsigned count_state(const struct replayed *r, enum work_state state)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < r->work->count; i++)
        n += r->work->state[i] == state;
    return n;
}

/* One at a time: latency 100 us, think time 100 us, as depth-1.blktrace.0 of the test cases. */
static void make_serial(struct block_record *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        r[i] = (struct block_record){
                .t_ns = i * 200 * US, .offset_bytes = i * 4096, .len_bytes = 4096, .latency_ns = 100 * US};
}

/* All queued 1 us apart, all complete later. */
static void make_deep(struct block_record *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        r[i] = (struct block_record){
                .t_ns = i * US, .offset_bytes = i * 4096, .len_bytes = 4096, .latency_ns = 9 * MS};
}

/* What of being late with an I/O comes off what waits for it. */
static uint64_t made_good_ns(const struct work *w, unsigned i)
{
    uint64_t late_ns = w->issued_ns[i] - w->scheduled_ns[i];
    return late_ns < LATE_MAX ? late_ns : LATE_MAX;
}

/* One at a time: each is due its think time after the one before. */
static void assert_serial(const struct work *w, unsigned count, uint64_t think_ns)
{
    for (unsigned i = 1; i < count; i++) {
        assert_true(w->scheduled_ns[i] ==
                    w->issued_ns[i - 1] + w->latency_ns[i - 1] - made_good_ns(w, i - 1) + think_ns);
        assert_true(w->issued_ns[i] >= w->scheduled_ns[i]);
    }
}

/* ---- asap ---- */

static void asap_keeps_order_and_depth(void **state)
{
    (void)state;
    struct block_record r[100];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 100);
    fake_init(&f, 200 * US);
    run_replay(&out, r, 100, &t, 1, &(struct how){.timing = TIMING_ASAP, .depth = 7});
    assert_int_equal(out.status, 0);
    assert_true(out.result.complete);
    assert_int_equal(f.in_flight_max, 7);
    assert_true(out.result.depth_max == 7);
    assert_int_equal(f.count, 100);
    for (unsigned i = 0; i < 100; i++)
        assert_true(f.offset[i] == i * 4096);
    assert_int_equal(count_state(&out, WORK_DONE), 100);
    /* 100 I/Os of 200 us, seven at a time: no sooner than 15 rounds. */
    assert_true(out.result.elapsed_ns >= 15 * 200 * US);
    for (unsigned i = 0; i < 100; i++) {
        assert_true(out.work->latency_ns[i] >= 200 * US);
        assert_true(out.work->issued_ns[i] == out.work->scheduled_ns[i]);
    }
    end_replay(&out);
}

/* ---- closed ---- */

static void closed_is_never_deeper(void **state)
{
    (void)state;
    struct block_record r[64];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 64);
    fake_init(&f, 500 * US); /* slower than recorded: a mode that follows recorded times would have three in
                                flight */
    run_replay(&out, r, 64, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    assert_int_equal(out.status, 0);
    assert_int_equal(f.in_flight_max, 1);
    assert_true(out.result.depth_max == 1);
    for (unsigned i = 1; i < 64; i++)
        assert_true(f.submitted_ns[i] - f.submitted_ns[i - 1] >= 600 * US - made_good_ns(out.work, i - 1));
    assert_serial(out.work, 64, 100 * US);
    end_replay(&out);
}

/* The control: following recorded times fails the test above. */
static void recorded_is_deeper(void **state)
{
    (void)state;
    struct block_record r[64];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 64);
    fake_init(&f, 500 * US);
    run_replay(&out, r, 64, &t, 1, &(struct how){.timing = TIMING_RECORDED});
    assert_true(f.in_flight_max > 1);
    end_replay(&out);
}

static void closed_finishes_sooner_on_a_faster_target(void **state)
{
    (void)state;
    struct block_record r[64];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 64);
    fake_init(&f, 0);
    run_replay(&out, r, 64, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    assert_true(out.result.elapsed_ns >= 63 * 100 * US); /* think times alone */
    assert_serial(out.work, 64, 100 * US);
    end_replay(&out);
}

/* Handing over takes longer than the think time, so that the replay is late each time: 200 us of it are made
 * good, no more. */
static void closed_makes_good_what_it_was_late(void **state)
{
    (void)state;
    struct block_record r[16];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 16);
    fake_init(&f, 0);
    f.busy_ns = 500 * US;
    run_replay(&out, r, 16, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    for (unsigned i = 1; i < 16; i++)
        assert_true(out.work->issued_ns[i] - out.work->scheduled_ns[i] > LATE_MAX);
    assert_serial(out.work, 16, 100 * US);
    end_replay(&out);
}

/* Two at once at the recording, and one after them; a limit of one makes the second wait for the first. That
 * is no fault of the replay's. The third came 199 us after the second had completed. */
static void closed_makes_no_limit_good(void **state)
{
    (void)state;
    struct block_record r[3];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    for (unsigned i = 0; i < 3; i++)
        r[i] = (struct block_record){.t_ns = i < 2 ? i * US : 300 * US,
                .offset_bytes = i * 4096,
                .len_bytes = 4096,
                .latency_ns = 100 * US};
    fake_init(&f, 500 * US);
    run_replay(&out, r, 3, &t, 1, &(struct how){.timing = TIMING_CLOSED, .depth = 1});
    assert_true(out.work->issued_ns[1] - out.work->scheduled_ns[1] > 450 * US);
    assert_true(out.work->scheduled_ns[2] == out.work->issued_ns[1] + out.work->latency_ns[1] + 199 * US);
    end_replay(&out);
}

/* A recorded think time holds a wake-up, and so does the wait for a completion: one of them is taken off. */
static void closed_counts_one_wake_up(void **state)
{
    (void)state;
    struct block_record r[64];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 64);
    fake_init(&f, 500 * US);
    f.tells_nothing = true;
    run_replay(&out, r, 64, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    for (unsigned i = 1; i < 64; i++) {
        uint64_t before_ns = out.work->issued_ns[i - 1] + out.work->latency_ns[i - 1];
        assert_true(out.work->scheduled_ns[i] < before_ns + 100 * US);
        assert_true(out.work->scheduled_ns[i] > out.work->issued_ns[i - 1] + 100 * US);
    }
    end_replay(&out);
}

static void closed_reaches_the_recorded_depth(void **state)
{
    (void)state;
    struct block_record r[64];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_deep(r, 64);
    fake_init(&f, 200 * MS);
    run_replay(&out, r, 64, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    assert_int_equal(f.in_flight_max, 64);
    assert_true(out.result.depth_max == 64);
    assert_true(out.result.depth_capped == 0);
    end_replay(&out);
}

/* --speed halves think times. */
static void closed_speed(void **state)
{
    (void)state;
    struct block_record r[4];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 4);
    fake_init(&f, 0);
    run_replay(&out, r, 4, &t, 1, &(struct how){.timing = TIMING_CLOSED, .speed = 2});
    assert_serial(out.work, 4, 50 * US);
    end_replay(&out);
}

/* Two streams that take turns; one of them hangs: the other one goes on. */
static void groups_are_independent(void **state)
{
    (void)state;
    struct block_record r[40];
    struct fake slow, fast;
    struct target *t[2] = {&slow.base, &fast.base};
    struct replayed out;
    make_serial(r, 40);
    for (unsigned i = 0; i < 40; i++) {
        r[i].stream = i % 2;
        r[i].latency_ns = 50 * US;
    }
    fake_init(&slow, 20 * MS);
    fake_init(&fast, 0);
    run_replay(&out, r, 40, t, 2, &(struct how){.timing = TIMING_CLOSED});
    assert_int_equal(slow.in_flight_max, 1);
    assert_int_equal(slow.count, 20);
    assert_int_equal(fast.count, 20);
    /* The slow one needs 20 ms for each; the fast one is through before its third. */
    assert_true(fast.submitted_ns[19] < slow.submitted_ns[2]);
    end_replay(&out);
}

/* The same by issuer, on one stream. */
static void groups_of_issuers(void **state)
{
    (void)state;
    struct block_record r[40];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 40);
    for (unsigned i = 0; i < 40; i++) {
        r[i].issuer = i % 2;
        r[i].latency_ns = 50 * US;
        r[i].offset_bytes = i % 2 ? i * 4096 : (1 << 20) + i * 4096;
    }
    fake_init(&f, 0);
    f.slow_from_bytes = 1 << 20;
    f.slow_ns = 10 * MS;
    run_replay(&out, r, 40, &t, 1, &(struct how){.timing = TIMING_CLOSED, .group = DEPEND_ISSUER});
    assert_int_equal(f.in_flight_max, 2);
    end_replay(&out);
    fake_init(&f, 0);
    f.slow_from_bytes = 1 << 20;
    f.slow_ns = MS;
    run_replay(&out, r, 40, &t, 1, &(struct how){.timing = TIMING_CLOSED, .group = DEPEND_STREAM});
    assert_int_equal(f.in_flight_max, 1);
    end_replay(&out);
}

/* ---- recorded ---- */

static void recorded_follows_the_clock(void **state)
{
    (void)state;
    struct block_record r[50];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 50);
    fake_init(&f, 0);
    run_replay(&out, r, 50, &t, 1, &(struct how){.timing = TIMING_RECORDED, .speed = 4});
    for (unsigned i = 0; i < 50; i++) {
        assert_true(out.work->scheduled_ns[i] == i * 50 * US);
        assert_true(out.work->issued_ns[i] >= out.work->scheduled_ns[i]);
    }
    end_replay(&out);
}

static void a_part_begins_at_its_start(void **state)
{
    (void)state;
    struct block_record r[50];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 50);
    fake_init(&f, 0);
    run_replay(&out, r, 50, &t, 1,
            &(struct how){.timing = TIMING_RECORDED, .from_ns = 2 * MS - 100 * US, .until_ns = 4 * MS});
    assert_int_equal(out.work->count, 10); /* those at 2.0 to 3.8 ms */
    assert_true(out.work->record[0] == 10);
    assert_true(out.work->scheduled_ns[0] == 100 * US);
    end_replay(&out);
}

/* ---- what goes wrong ---- */

static void first_error_ends_it(void **state)
{
    (void)state;
    struct block_record r[50];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 50);
    fake_init(&f, 0);
    f.fail_offset = 3 * 4096;
    f.fail_result = -EIO;
    run_replay(&out, r, 50, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    assert_int_equal(out.status, 0);
    assert_false(out.result.complete);
    assert_true(out.result.too_many_errors);
    assert_true(out.result.error_record == 4 && out.result.error_code == EIO);
    assert_int_equal(f.count, 4);
    assert_int_equal(count_state(&out, WORK_DONE), 4); /* what was measured is kept */
    assert_int_equal(out.work->error[3], EIO);
    end_replay(&out);

    fake_init(&f, 0);
    f.fail_offset = 3 * 4096;
    f.fail_result = 512; /* short */
    run_replay(&out, r, 50, &t, 1, &(struct how){.timing = TIMING_CLOSED, .max_errors = 1});
    assert_true(out.result.complete);
    assert_true(out.result.errors == 1 && out.result.short_io == 1);
    assert_int_equal(f.count, 50);
    end_replay(&out);
}

/* What a target cannot do is counted, has no result, and holds nothing up. */
static void unsupported_is_counted(void **state)
{
    (void)state;
    struct block_record r[50];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 50);
    fake_init(&f, 0);
    f.fail_offset = 3 * 4096;
    f.fail_result = -EOPNOTSUPP;
    run_replay(&out, r, 50, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    assert_true(out.result.complete);
    assert_true(out.result.unsupported == 1 && out.result.errors == 0);
    assert_int_equal(count_state(&out, WORK_DONE), 49);
    assert_int_equal(out.work->state[3], WORK_GONE);
    end_replay(&out);
}

/* Skipped records complete when their time has come, so that others do not wait for ever. */
static void skipped_records_count_as_completed(void **state)
{
    (void)state;
    static const enum replay_timing timings[] = {TIMING_CLOSED, TIMING_RECORDED, TIMING_ASAP};
    for (unsigned k = 0; k < 3; k++) {
        struct block_record r[50];
        struct fake f;
        struct target *t = &f.base;
        struct replayed out;
        make_serial(r, 50);
        for (unsigned i = 0; i < 50; i += 5)
            r[i].offset_bytes = UINT64_C(3) << 40;
        r[1].op = BLOCK_WRITE;
        fake_init(&f, 0);
        run_replay(
                &out, r, 50, &t, 1, &(struct how){.timing = timings[k], .fit = FIT_SKIP, .read_only = true});
        assert_int_equal(out.status, 0);
        assert_true(out.result.complete);
        assert_int_equal(f.count, 39);
        assert_true(out.counts.skipped == 10 && out.counts.readonly_skipped == 1);
        assert_int_equal(count_state(&out, WORK_DONE), 39);
        end_replay(&out);
    }
}

/* Latencies that were never seen: such records hold nobody up, and nobody waits for them. */
static void unknown_latencies(void **state)
{
    (void)state;
    struct block_record r[50];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    make_serial(r, 50);
    for (unsigned i = 0; i < 50; i += 3)
        r[i].latency_ns = TAPE_UNKNOWN;
    fake_init(&f, 0);
    run_replay(&out, r, 50, &t, 1, &(struct how){.timing = TIMING_CLOSED});
    assert_true(out.result.complete);
    assert_int_equal(f.count, 50);
    end_replay(&out);
}

static void a_signal_cuts_it_short(void **state)
{
    (void)state;
    struct block_record r[50];
    struct fake f;
    struct target *t = &f.base;
    struct replayed out;
    volatile sig_atomic_t stop = 1;
    make_serial(r, 50);
    fake_init(&f, 0);
    run_replay(&out, r, 50, &t, 1, &(struct how){.timing = TIMING_CLOSED, .stop = &stop});
    assert_int_equal(out.status, 0);
    assert_false(out.result.complete);
    assert_int_equal(f.count, 0);
    end_replay(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(asap_keeps_order_and_depth),
            cmocka_unit_test(closed_is_never_deeper), cmocka_unit_test(recorded_is_deeper),
            cmocka_unit_test(closed_finishes_sooner_on_a_faster_target),
            cmocka_unit_test(closed_reaches_the_recorded_depth), cmocka_unit_test(closed_speed),
            cmocka_unit_test(closed_makes_good_what_it_was_late),
            cmocka_unit_test(closed_makes_no_limit_good), cmocka_unit_test(closed_counts_one_wake_up),
            cmocka_unit_test(groups_are_independent), cmocka_unit_test(groups_of_issuers),
            cmocka_unit_test(recorded_follows_the_clock), cmocka_unit_test(a_part_begins_at_its_start),
            cmocka_unit_test(first_error_ends_it), cmocka_unit_test(unsupported_is_counted),
            cmocka_unit_test(skipped_records_count_as_completed), cmocka_unit_test(unknown_latencies),
            cmocka_unit_test(a_signal_cuts_it_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
