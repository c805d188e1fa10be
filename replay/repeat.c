/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/repeat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/random.h"
#include "formats/base/units.h"
#include "replay/beside.h"
#include "replay/engine.h"
#include "replay/fill.h"
#include "replay/hoststat.h"
#include "replay/readback.h"
#include "replay/results.h"
#include "replay/ticker.h"

/* Recorded timing may fall behind without end on a slow target. */
#define DEPTH_BOUND 8192

void repeat_order(uint64_t seed, size_t round, size_t sides, size_t *order)
{
    uint64_t state = seed + (round / 2) * UINT64_C(0x632be59bd9b4e019);
    for (size_t i = 0; i < sides; i++)
        order[i] = i;
    for (size_t i = sides; i > 1; i--) { /* Fisher and Yates */
        size_t j = random_next(&state) % i;
        size_t held = order[i - 1];
        order[i - 1] = order[j];
        order[j] = held;
    }
    for (size_t i = 0; round % 2 && i < sides / 2; i++) {
        size_t held = order[i];
        order[i] = order[sides - 1 - i];
        order[sides - 1 - i] = held;
    }
}

/* What one repetition consists of, from its start to its summary. */
struct repetition {
    struct session *session;
    struct session_side *side;
    bool warmup;
    uint64_t issued; /* so far */
    struct feed_counts counts;
    struct engine_result engine;
    struct results_sum sum;
    struct hoststat before, after;
    struct target_events events_before, events;
    struct verify_counts checked; /* of this repetition */
};

static unsigned depth_bound(const struct session *s, const struct session_side *side)
{
    if (s->settings.timing == TIMING_ASAP)
        return (unsigned)s->settings.depth;
    if (s->settings.timing == TIMING_RECORDED)
        return DEPTH_BOUND;
    /* Groups may reach their largest depths at other times than at the recording: leave room. */
    uint64_t wanted = side->plan.depth_recorded * 4 + 64;
    return wanted < DEPTH_BOUND ? (unsigned)wanted : DEPTH_BOUND;
}

static bool uses(const struct session *s, const struct session_side *side, const struct target *t)
{
    bool used = false;
    for (size_t k = 0; k < tape_reader_stream_count(s->tape); k++)
        used = used || side->target[k] == t;
    return used;
}

static void make_ready(const struct session *s, const struct session_side *side)
{
    for (size_t i = 0; i < s->targets; i++) {
        struct target *t = s->target[i].target;
        if (t->ops->ready && uses(s, side, t))
            t->ops->ready(t);
    }
}

/* What happened so far to the connections of all targets of a side. */
static struct target_events sum_events(const struct session *s, const struct session_side *side)
{
    struct target_events sum = {0};
    for (size_t i = 0; i < s->targets; i++) {
        struct target *t = s->target[i].target;
        struct target_events ev = {0};
        if (!t->ops->events || !uses(s, side, t))
            continue;
        t->ops->events(t, &ev);
        sum.path_changes += ev.path_changes;
        sum.reissued += ev.reissued;
    }
    return sum;
}

/* Decoder, engine and encoder, from the first record to the last. */
static int measure(struct repetition *rep, volatile sig_atomic_t *stop, struct err *e)
{
    struct session *s = rep->session;
    struct session_side *side = rep->side;
    struct feed_source source = session_source(s, side);
    struct engine_options o = {.timing = source.timing,
            .depth = depth_bound(s, side),
            .target = side->target,
            .targets = tape_reader_stream_count(s->tape),
            .max_errors = s->settings.max_errors,
            .write = {.seed = s->settings.seed,
                    .repetition = side->repetitions,
                    .recipe = s->settings.recipe},
            .verify = side->verify,
            .pool = s->pool,
            .stop = stop,
            .started = s->beside ? beside_go : NULL,
            .context = s->beside,
            .progress = &rep->issued};
    struct results *results;
    struct feed *feed;
    work_pool_reset(s->pool);
    int r = results_open(&results, side->run, side->repetitions, s->pool, stop, e);
    if (r < 0)
        return r;
    make_ready(s, side);
    rep->events_before = sum_events(s, side);
    hoststat_read(&rep->before);
    r = feed_open(&feed, &source, s->pool, e);
    if (r == 0) {
        r = engine_run(&o, feed, &rep->engine, e);
        feed_close(feed, &rep->counts);
    } else {
        work_queue_close(&s->pool->done);
    }
    hoststat_read(&rep->after);
    rep->events = sum_events(s, side);
    int stored = results_close(results, &rep->sum, r < 0 ? NULL : e);
    return r < 0 ? r : stored;
}

static int measure_shown(struct repetition *rep, volatile sig_atomic_t *stop, struct err *e)
{
    const struct settings *set = &rep->session->settings;
    struct ticker *ticker;
    char title[256];
    snprintf(title, sizeof title, "%.200s: repetition %u of %llu", rep->side->name, rep->side->repetitions,
            (unsigned long long)(set->runs + set->warmup));
    int r = ticker_open(&ticker, title, &rep->issued, rep->side->plan.records, e);
    if (r < 0)
        return r;
    r = measure(rep, stop, e);
    ticker_close(ticker);
    return r;
}

static void fill_summary(const struct repetition *rep, struct run_repetition *out)
{
    const struct session *s = rep->session;
    const struct engine_result *en = &rep->engine;
    const struct results_sum *sum = &rep->sum;
    bool closed = s->settings.timing == TIMING_CLOSED;
    *out = (struct run_repetition){.repetition = rep->side->repetitions,
            .warmup = rep->warmup,
            .complete = en->complete,
            .order = s->order,
            .records = sum->records,
            .errors = en->errors,
            .short_io = en->short_io,
            .read_bytes = sum->read_bytes,
            .written_bytes = sum->written_bytes,
            .elapsed_ns = en->elapsed_ns,
            .zero_latency_ns =
                    closed ? (uint64_t)((double)rep->side->plan.zero_latency_ns / s->settings.speed) : 0,
            .cpu_busy_ns = rep->after.busy_ns - rep->before.busy_ns,
            .cpu_spun_ns = en->spun_ns,
            .steal_ns = rep->after.steal_ns - rep->before.steal_ns,
            .pressure_cpu_us = rep->after.pressure_cpu_us - rep->before.pressure_cpu_us,
            .pressure_io_us = rep->after.pressure_io_us - rep->before.pressure_io_us,
            .pressure_memory_us = rep->after.pressure_memory_us - rep->before.pressure_memory_us,
            .lateness_p50_ns = lateness_percentile_ns(&sum->lateness, 0.5),
            .lateness_p99_ns = lateness_percentile_ns(&sum->lateness, 0.99),
            .lateness_max_ns = sum->lateness.max_ns,
            .behind = sum->behind,
            .depth_max = en->depth_max,
            .depth_recorded = rep->side->plan.depth_recorded,
            .depth_capped = en->depth_capped,
            .starved = en->starved,
            .fit_wrapped = rep->counts.wrapped,
            .fit_skipped = rep->counts.skipped,
            .fit_widened = rep->counts.widened,
            .readonly_skipped = rep->counts.readonly_skipped,
            .unsupported = en->unsupported,
            .two_step = en->two_step,
            .path_changes = rep->events.path_changes - rep->events_before.path_changes,
            .reissued = rep->events.reissued - rep->events_before.reissued,
            .serialised = en->serialised,
            .verified = rep->checked.blocks,
            .wrong_data = rep->checked.wrong};
}

static void print_summary(const struct repetition *rep, const struct run_repetition *r)
{
    char elapsed[UNITS_TEXT_BYTES], latency[UNITS_TEXT_BYTES], late[UNITS_TEXT_BYTES];
    double seconds = r->elapsed_ns ? (double)r->elapsed_ns / 1e9 : 1e-9;
    const struct results_sum *sum = &rep->sum;
    uint64_t mean_ns = sum->latency_count ? sum->latency_sum_ns / sum->latency_count : 0;
    fprintf(stderr, "%s: %s %u%s: %s, %.0f IOPS, %.1f MB/s, mean latency %s, lateness p50 %s",
            rep->side->name, r->warmup ? "warmup" : "repetition", (unsigned)r->repetition,
            r->complete ? "" : " (cut short)", units_duration(r->elapsed_ns, elapsed),
            (double)r->records / seconds, (double)(r->read_bytes + r->written_bytes) / 1e6 / seconds,
            units_duration(mean_ns, latency), units_duration(r->lateness_p50_ns, late));
    if (r->errors)
        fprintf(stderr, ", %llu errors", (unsigned long long)r->errors);
    if (r->unsupported)
        fprintf(stderr, ", %llu not supported by the target", (unsigned long long)r->unsupported);
    if (r->fit_skipped + r->readonly_skipped)
        fprintf(stderr, ", %llu left out", (unsigned long long)(r->fit_skipped + r->readonly_skipped));
    if (r->fit_wrapped + r->fit_widened)
        fprintf(stderr, ", %llu changed to fit", (unsigned long long)(r->fit_wrapped + r->fit_widened));
    if (r->path_changes)
        fprintf(stderr, ", %llu path change%s, %llu I/Os sent again", (unsigned long long)r->path_changes,
                r->path_changes == 1 ? "" : "s", (unsigned long long)r->reissued);
    if (r->serialised)
        fprintf(stderr, ", %llu waited for I/O that they overlap", (unsigned long long)r->serialised);
    if (rep->side->verify)
        fprintf(stderr, ", %llu of %llu checks of blocks failed", (unsigned long long)r->wrong_data,
                (unsigned long long)r->verified);
    fputc('\n', stderr);
}

static int outcome(const struct repetition *rep, struct err *e)
{
    const struct engine_result *en = &rep->engine;
    if (en->too_many_errors)
        return err_set(e, EIO, "%llu I/O%s failed on '%s', the first one record %llu: %s (see --max-errors)",
                (unsigned long long)en->errors, en->errors == 1 ? "" : "s", rep->side->name,
                (unsigned long long)en->error_record, strerror(en->error_code));
    if (!en->complete)
        return err_set(e, EINTR, "cut short by a signal");
    return 0;
}

/* With --verify: a whole repetition is made durable and read back. */
static int check_data(struct repetition *rep, const volatile sig_atomic_t *stop, struct err *e)
{
    struct session *s = rep->session;
    if (!rep->engine.complete)
        return 0;
    int r = readback_flush(s, rep->side, stop, e);
    return r < 0 ? r : readback(s, rep->side, stop, e);
}

static int measure_checked(struct repetition *rep, volatile sig_atomic_t *stop, struct err *e)
{
    struct session *s = rep->session;
    if (!rep->side->verify)
        return measure_shown(rep, stop, e);
    struct verify_counts before = readback_counts(s, rep->side);
    int r = measure_shown(rep, stop, e);
    if (r == 0)
        r = check_data(rep, stop, e);
    struct verify_counts after = readback_counts(s, rep->side);
    rep->checked = (struct verify_counts){after.blocks - before.blocks, after.wrong - before.wrong};
    rep->engine.complete = rep->engine.complete && r == 0;
    return r;
}

/* The conversations may go on for longer than the disks; where one of the two fails, both end. */
static int finish_beside(struct repetition *rep, struct run_repetition *summary, int r, struct err *e)
{
    struct err own = {0};
    bool cut = r < 0 || !rep->engine.complete;
    int failed = beside_finish(rep->session->beside, cut, summary, &own);
    if (failed == -EINTR || (r < 0 && r != -EINTR))
        return r < 0 || cut ? r : failed;
    if (failed < 0 && e)
        *e = own;
    return failed < 0 ? failed : r;
}

static int repeat_once(
        struct session *s, struct session_side *side, bool warmup, volatile sig_atomic_t *stop, struct err *e)
{
    CLEANUP_FREE struct repetition *rep = calloc(1, sizeof *rep);
    if (!rep)
        return err_sys(e, ENOMEM, "cannot begin a repetition");
    int r = fill_again(s, stop, e);
    if (r == 0 && s->beside)
        r = beside_prepare(s->beside, side->run, side->repetitions + 1, e);
    if (r < 0)
        return r;
    side->repetitions++;
    s->order++;
    rep->session = s;
    rep->side = side;
    rep->warmup = warmup;
    r = measure_checked(rep, stop, e);
    if (r == 0)
        r = fill_mark(s, side, e);
    /* What was measured before a target went away is kept: it is marked as not complete. */
    struct run_repetition summary;
    fill_summary(rep, &summary);
    if (s->beside)
        r = finish_beside(rep, &summary, r, e);
    int stored = run_writer_repetition(side->run, &summary, r < 0 ? NULL : e);
    print_summary(rep, &summary);
    if (s->beside)
        beside_print(s->beside, &summary);
    int right = side->verify ? readback_outcome(s, side, r < 0 || stored < 0 ? NULL : e) : 0;
    if (r < 0)
        return err_prefix(e, "repetition %u on '%s'", side->repetitions, side->name);
    if (stored < 0 || right < 0)
        return stored < 0 ? stored : right;
    return outcome(rep, e);
}

int repeat_all(struct session *s, volatile sig_atomic_t *stop, struct err *e)
{
    CLEANUP_FREE size_t *order = calloc(s->sides, sizeof *order);
    if (!order)
        return err_sys(e, ENOMEM, "cannot order repetitions");
    uint64_t rounds = s->settings.warmup + s->settings.runs;
    for (uint64_t round = 0; round < rounds; round++) {
        /* Counted rounds begin a pair of their own. */
        bool warmup = round < s->settings.warmup;
        uint64_t pair_round = warmup ? round : round - s->settings.warmup;
        repeat_order(s->settings.seed + (warmup ? 1 : 0), pair_round, s->sides, order);
        for (size_t i = 0; i < s->sides; i++) {
            int r = repeat_once(s, &s->side[order[i]], warmup, stop, e);
            if (r < 0)
                return r;
        }
    }
    return 0;
}
