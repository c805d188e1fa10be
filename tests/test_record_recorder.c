/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From a scripted source to a tape and back: order, I/Os that are open for long, that are seen twice, whose
 * end is missed, that are still open at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/base/units.h"
#include "record/recorder.h"

#define LIST 64

struct source {
    struct captured open[LIST], done[LIST];
    size_t open_count, done_count;
    bool busy;            /* an event cannot be read yet */
    unsigned busy_drains; /* the same for so many drains */
    uint64_t lost;
    bool stopped;
    unsigned looks; /* since it was stopped */
    unsigned ghost; /* in this of those looks open[0] is listed, in no other; 0: always */
};

static int deliver(const struct captured *list, size_t count, const struct source_sink *sink, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        int status = sink->take(sink->self, &list[i], e);
        if (status < 0)
            return status;
    }
    return 1;
}

static int fake_drain(struct source *s, const struct source_sink *sink, struct err *e)
{
    if (s->busy)
        return 0;
    if (s->busy_drains > 0) {
        s->busy_drains--;
        return 0;
    }
    int status = deliver(s->done, s->done_count, sink, e);
    s->done_count = 0;
    return status;
}

static int fake_in_flight(struct source *s, const struct source_sink *sink, struct err *e)
{
    s->looks += s->stopped;
    bool hidden = s->ghost && s->looks != s->ghost;
    int status = deliver(s->open, hidden ? 0 : s->open_count, sink, e);
    return status < 0 ? status : 0;
}

static void fake_stop(struct source *s)
{
    s->stopped = true;
}

static uint64_t fake_lost(const struct source *s, size_t stream)
{
    return stream == 0 ? s->lost : 0;
}

static struct source_counts fake_counts(const struct source *s)
{
    (void)s;
    return (struct source_counts){.unmatched = 3};
}

static const struct source_ops fake = {.drain = fake_drain,
        .in_flight = fake_in_flight,
        .stop = fake_stop,
        .lost = fake_lost,
        .counts = fake_counts};

/* One recording of two streams that began 10 s ago. */
struct fixture {
    char dir[64], path[96];
    struct source source;
    struct source_target targets[2];
    struct source_config config;
    struct tape_writer *w;
    struct recorder *r;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/iotape-test.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/x.tape", f->dir);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t start_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec - 10 * NS_PER_S;
    struct tape_info info = {.label = (char *)"test"};
    struct tape_stream stream = {.name = (char *)"a"};
    uint32_t id;
    f->config = (struct source_config){.targets = f->targets, .target_count = 2};
    assert_int_equal(tape_writer_open(&f->w, f->path, &info, NULL), 0);
    assert_int_equal(tape_writer_stream(f->w, &stream, &id, NULL), 0);
    assert_int_equal(tape_writer_stream(f->w, &stream, &id, NULL), 0);
    assert_int_equal(recorder_open(&f->r, &fake, &f->source, &f->config, start_ns, NULL, f->w, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    recorder_close(f->r);
    tape_writer_close(f->w, true);
    unlink(f->path);
    rmdir(f->dir);
    free(f);
    return 0;
}

static struct captured io(uint64_t id, uint64_t t_ns, uint64_t latency_ns)
{
    return (struct captured){.id = id,
            .r = {.t_ns = t_ns,
                    .offset_bytes = id * 4096,
                    .len_bytes = 4096,
                    .latency_ns = latency_ns,
                    .issuer = 77}};
}

static void complete(struct fixture *f, uint64_t id, uint64_t t_ns, uint64_t latency_ns)
{
    f->source.done[f->source.done_count++] = io(id, t_ns, latency_ns);
}

static void open_since(struct fixture *f, uint64_t id, uint64_t t_ns)
{
    f->source.open[f->source.open_count++] = io(id, t_ns, TAPE_UNKNOWN);
}

static void step(struct fixture *f)
{
    struct err e = {0};
    uint64_t pause_ns;
    if (recorder_step(f->r, &pause_ns, &e) < 0)
        fail_msg("%s", e.text);
}

/* A look is due a second after the last one. */
static void step_later(struct fixture *f)
{
    usleep(1010000);
    step(f);
}

/* What the tape holds in the end, record by record. */
static struct tape_reader *finish(struct fixture *f, const struct block_chunk **c)
{
    struct err e = {0};
    uint64_t elapsed_ns;
    struct tape_reader *reader = NULL;
    if (recorder_finish(f->r, &elapsed_ns, &e) < 0 || tape_writer_finish(f->w, "test", elapsed_ns, &e) < 0 ||
            tape_reader_open(&reader, f->path, &e) < 0 || tape_reader_next(reader, c, &e) < 0)
        fail_msg("%s", e.text);
    return reader;
}

static void check(const struct block_chunk *c, uint32_t i, uint64_t id, uint64_t t_ns, uint64_t latency_ns)
{
    assert_true(i < c->count);
    assert_int_equal(c->offset_bytes[i], id * 4096);
    assert_int_equal(c->t_ns[i], t_ns);
    assert_int_equal(c->latency_ns[i], latency_ns);
}

#define S NS_PER_S

static void writes_in_order_of_arrival(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 3, 3 * S, 1);
    complete(f, 1, 1 * S, 3 * S);
    step(f);
    complete(f, 2, 9980 * NS_PER_MS, 7); /* younger than the margin */
    step(f);
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 3);
    check(c, 0, 1, 1 * S, 3 * S);
    check(c, 1, 3, 3 * S, 1);
    check(c, 2, 2, 9980 * NS_PER_MS, 7);
    assert_int_equal(tape_reader_totals(t)->lost, 0);
    assert_string_equal(tape_reader_issuer(t, 0), "process-1");
    assert_string_equal(facts_get(&tape_reader_totals(t)->counts, "unmatched_completions"), "3");
    tape_reader_close(t);
}

/* Two looks find it open: it is written without a latency, what came after it as well, and it gets one later.
 */
static void a_stalled_one_is_completed_late(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    open_since(f, 5, 2 * S);
    complete(f, 6, 3 * S, 10);
    step(f);
    assert_int_equal(tape_writer_records(f->w), 0); /* held back after one look */
    step_later(f);
    assert_int_equal(tape_writer_records(f->w), 2);
    f->source.open_count = 0;
    complete(f, 5, 2 * S, 9 * S);
    step(f);
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 2);
    check(c, 0, 5, 2 * S, 9 * S);
    check(c, 1, 6, 3 * S, 10);
    assert_int_equal(tape_reader_totals(t)->lost, 0);
    assert_int_equal(tape_reader_totals(t)->streams[0].open, 0);
    tape_reader_close(t);
}

/* An event may be drained just before a look still finds its I/O in the table: it is one record, not two. */
static void a_look_may_find_what_has_ended(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 5, 2 * S, 7 * S);
    open_since(f, 5, 2 * S);
    step(f); /* drains it, then looks */
    f->source.open_count = 0;
    step_later(f);
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 1);
    check(c, 0, 5, 2 * S, 7 * S);
    tape_reader_close(t);
}

/* Its place in the table was used again without an end: the source says so by an unknown latency. */
static void one_whose_end_was_missed_stays_unknown(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    open_since(f, 5, 2 * S);
    step(f);
    f->source.open_count = 0;
    complete(f, 5, 2 * S, TAPE_UNKNOWN);
    step(f);
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 1);
    check(c, 0, 5, 2 * S, TAPE_UNKNOWN);
    assert_int_equal(tape_reader_totals(t)->streams[0].open, 1);
    tape_reader_close(t);
}

static void open_at_the_end_is_kept(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 1, 1 * S, 1);
    open_since(f, 7, 9990 * NS_PER_MS);
    open_since(f, 8, 9 * S);
    step(f);
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 3);
    check(c, 0, 1, 1 * S, 1);
    check(c, 1, 8, 9 * S, TAPE_UNKNOWN);
    check(c, 2, 7, 9990 * NS_PER_MS, TAPE_UNKNOWN);
    assert_int_equal(tape_reader_totals(t)->streams[0].open, 2);
    tape_reader_close(t);
}

/* Its event was drained, and the last look but one still finds it in the map: it must not come twice. */
static void one_that_is_leaving_at_the_end_comes_once(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 7, 9990 * NS_PER_MS, 5);
    open_since(f, 7, 9990 * NS_PER_MS);
    f->source.ghost = 2;
    step(f);
    struct tape_reader *t = finish(f, &c);
    assert_true(f->source.looks >= 2); /* it was listed */
    assert_int_equal(c->count, 1);
    check(c, 0, 7, 9990 * NS_PER_MS, 5);
    tape_reader_close(t);
}

/* Never out of order and never in silence: what the source missed, and what came too late to be written. */
static void lost_ones_are_counted(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    f->source.lost = 4;
    complete(f, 1, 5 * S, 1);
    step(f);
    assert_int_equal(tape_writer_records(f->w), 1);
    complete(f, 2, 4 * S, 1); /* no look had found it open: a fault of the source */
    step(f);
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 1);
    assert_int_equal(tape_reader_totals(t)->lost, 5);
    assert_int_equal(tape_reader_totals(t)->streams[0].lost, 5);
    tape_reader_close(t);
}

/* As long as an event cannot be read, nothing is released that might come after it. */
static void waits_for_an_event_being_written(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 2, 5 * S, 1);
    step(f);
    assert_int_equal(tape_writer_records(f->w), 1);
    f->source.busy = true;
    complete(f, 3, 10500 * NS_PER_MS, 1);
    step_later(f);
    assert_int_equal(tape_writer_records(f->w), 1);
    f->source.busy = false;
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 2);
    assert_int_equal(tape_reader_totals(t)->lost, 0);
    tape_reader_close(t);
}

/* One that no look had found, though the tape is past it already. */
static void an_old_one_found_open_is_counted(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 1, 5 * S, 1);
    step(f);
    assert_int_equal(tape_writer_records(f->w), 1);
    open_since(f, 2, 4 * S);
    step_later(f); /* notes it */
    step_later(f); /* would have it written */
    f->source.open_count = 0;
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 1);
    assert_int_equal(tape_reader_totals(t)->lost, 1);
    tape_reader_close(t);
}

static void the_end_waits_for_an_event_being_written(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 1, 5 * S, 1);
    f->source.busy_drains = 3; /* one look, and twice after it */
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 1);
    assert_int_equal(tape_reader_totals(t)->lost, 0);
    tape_reader_close(t);
}

static void an_event_that_is_never_written_is_lost(void **state)
{
    struct fixture *f = *state;
    const struct block_chunk *c;
    complete(f, 1, 5 * S, 1);
    step(f);
    complete(f, 2, 6 * S, 1);
    f->source.busy = true;
    struct tape_reader *t = finish(f, &c);
    assert_int_equal(c->count, 1);
    assert_int_equal(tape_reader_totals(t)->lost, 1);
    tape_reader_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(writes_in_order_of_arrival, set_up, tear_down),
            cmocka_unit_test_setup_teardown(a_stalled_one_is_completed_late, set_up, tear_down),
            cmocka_unit_test_setup_teardown(a_look_may_find_what_has_ended, set_up, tear_down),
            cmocka_unit_test_setup_teardown(one_whose_end_was_missed_stays_unknown, set_up, tear_down),
            cmocka_unit_test_setup_teardown(open_at_the_end_is_kept, set_up, tear_down),
            cmocka_unit_test_setup_teardown(lost_ones_are_counted, set_up, tear_down),
            cmocka_unit_test_setup_teardown(waits_for_an_event_being_written, set_up, tear_down),
            cmocka_unit_test_setup_teardown(an_old_one_found_open_is_counted, set_up, tear_down),
            cmocka_unit_test_setup_teardown(one_that_is_leaving_at_the_end_comes_once, set_up, tear_down),
            cmocka_unit_test_setup_teardown(the_end_waits_for_an_event_being_written, set_up, tear_down),
            cmocka_unit_test_setup_teardown(an_event_that_is_never_written_is_lost, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("record_recorder", tests, NULL, NULL);
}
