/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/select.h"
#include "formats/base/cleanup.h"

/* Operations that have percentiles. */
#define MEASURED_OPS (BLOCK_FLUSH + 1)
/* And behind them, exchanges and connects of conversations (of all streams together only). */
#define MEASURED     (MEASURED_OPS + RUN_EXCHANGE_KINDS)
/* How many results are taken in one sweep over the records: of all streams, of single ones. */
#define LANES_MAX   5
#define ALL_STREAMS UINT32_MAX

struct lane {
    struct select *select[MEASURED];
    struct result *result;
    uint32_t stream;
};

struct measure {
    bool by_stream;
    struct lane lanes[LANES_MAX];
    size_t lane_count, open_lanes;
    bool first_pass;
};

static void close_tape(struct tape_reader **r)
{
    tape_reader_close(*r);
}
static void close_run(struct run_reader **r)
{
    run_reader_close(*r);
}
static void close_depend(struct depend **d)
{
    depend_close(*d);
}

int measure_open(struct measure **out, bool by_stream, struct err *e)
{
    struct measure *m = calloc(1, sizeof *m);
    if (!m)
        return err_sys(e, ENOMEM, "cannot measure");
    m->by_stream = by_stream;
    for (m->open_lanes = 0; m->open_lanes < (by_stream ? LANES_MAX : 1); m->open_lanes++)
        for (int op = 0; op < MEASURED; op++) {
            int rc = select_open(&m->lanes[m->open_lanes].select[op], quantile_fractions, QUANTILES, e);
            if (rc < 0) {
                measure_close(m);
                return rc;
            }
        }
    *out = m;
    return 0;
}

void measure_close(struct measure *m)
{
    for (size_t i = 0; m && i < LANES_MAX; i++)
        for (int op = 0; op < MEASURED; op++)
            select_close(m->lanes[i].select[op]);
    free(m);
}

/* ---- one sweep: all passes over the records for some results ---- */

static void add_lane(struct measure *m, uint32_t stream, struct result *result)
{
    struct lane *lane = &m->lanes[m->lane_count++];
    lane->stream = stream;
    lane->result = result;
    for (int op = 0; op < MEASURED; op++)
        select_reset(lane->select[op]);
}

static struct op_result *measured(struct lane *lane, unsigned what)
{
    return what < MEASURED_OPS ? &lane->result->ops[what] : &lane->result->exchanges[what - MEASURED_OPS];
}

static void add_up(struct op_result *o, uint64_t bytes, uint64_t time_ns)
{
    o->count++;
    o->bytes += bytes;
    o->sum_ns += (double)time_ns;
    if (time_ns > o->max_ns)
        o->max_ns = time_ns;
}

static void lane_add(struct lane *lane, bool first_pass, unsigned op, uint64_t len_bytes, uint64_t time_ns)
{
    if (first_pass)
        add_up(&lane->result->ops[op], len_bytes, time_ns);
    if (op < MEASURED_OPS)
        select_add(lane->select[op], time_ns);
}

/* An I/O that succeeded and took `time_ns`. */
static inline void measure_add(
        struct measure *m, uint32_t stream, unsigned op, uint64_t len_bytes, uint64_t time_ns)
{
    for (size_t i = 0; i < m->lane_count; i++)
        if (m->lanes[i].stream == stream || m->lanes[i].stream == ALL_STREAMS)
            lane_add(&m->lanes[i], m->first_pass, op, len_bytes, time_ns);
}

/* Ends a pass; true where all must be shown once more. */
static bool measure_next(struct measure *m)
{
    bool more = false;
    for (size_t i = 0; i < m->lane_count; i++)
        for (int op = 0; op < MEASURED; op++)
            more |= select_next(m->lanes[i].select[op]);
    m->first_pass = false;
    for (size_t i = 0; i < m->lane_count && !more; i++)
        for (unsigned op = 0; op < MEASURED; op++)
            for (size_t q = 0; q < QUANTILES; q++)
                measured(&m->lanes[i], op)->quantile_ns[q] = select_value(m->lanes[i].select[op], q);
    return more;
}

/* Chooses the next results to take of repetition `index`; false where all are taken. *next begins at 0. */
static bool begin_sweep(struct measure *m, struct source *s, size_t index, size_t *next)
{
    m->lane_count = 0;
    m->first_pass = true;
    for (; *next <= s->stream_count && m->lane_count < m->open_lanes; ++*next)
        if (!*next)
            add_lane(m, ALL_STREAMS, &s->results[index]);
        else
            add_lane(m, (uint32_t)(*next - 1), &s->streams[*next - 1].results[index]);
    return m->lane_count > 0;
}

/* Room for the results of `count` repetitions, of the source and of its streams. */
static int make_room(struct measure *m, struct source *s, size_t count, size_t streams, struct err *e)
{
    if (m->by_stream && streams > MEASURE_STREAMS_MAX)
        return err_set(e, E2BIG, "'%s' has %zu streams: %d are the most by stream", s->path, streams,
                MEASURE_STREAMS_MAX);
    s->results = calloc(count + 1, sizeof *s->results);
    if (s->results && m->by_stream && streams > 1) {
        s->streams = calloc(streams, sizeof *s->streams);
        for (; s->streams && s->stream_count < streams; s->stream_count++)
            if (!(s->streams[s->stream_count].results = calloc(count + 1, sizeof *s->results)))
                break;
    } else {
        streams = 0;
    }
    if (!s->results || s->stream_count < streams)
        return err_sys(e, ENOMEM, "cannot measure '%s'", s->path);
    return 0;
}

/* Streams are called by their names, the later ones of several with the same by name and number from 0. */
static int name_stream(struct source *s, size_t i, const char *name, struct err *e)
{
    bool taken = !name || !*name;
    for (size_t j = 0; j < i && !taken; j++)
        taken = strcmp(s->streams[j].name, name) == 0;
    if (asprintf(&s->streams[i].name, taken ? "%s#%zu" : "%s", name ? name : "", i) < 0) {
        s->streams[i].name = NULL;
        return err_sys(e, ENOMEM, "cannot hold a name");
    }
    return 0;
}

/* Streams lasted as long as the repetition. */
static void copy_summaries(struct source *s)
{
    for (size_t i = 0; i < s->stream_count; i++)
        for (size_t j = 0; j < s->result_count; j++)
            s->streams[i].results[j].summary = s->results[j].summary;
}

/* ---- tapes ---- */

static int add_record(
        struct run_repetition *sum, struct depend *d, const struct block_record *b, struct err *e)
{
    struct depend_wait wait;
    int rc = depend_next(d, b, &wait, e);
    sum->records++;
    sum->errors += b->error != 0;
    uint64_t end_ns = b->t_ns + (b->latency_ns != TAPE_UNKNOWN ? b->latency_ns : 0);
    if (end_ns > sum->elapsed_ns)
        sum->elapsed_ns = end_ns;
    return rc;
}

/* `d` NULL: dependences are known already. */
static int tape_pass(struct tape_reader *r, struct measure *m, struct depend *d, struct err *e)
{
    const struct block_chunk *c;
    int rc = tape_reader_seek(r, 0, e);
    while (rc >= 0 && (rc = tape_reader_next(r, &c, e)) > 0) {
        for (uint32_t i = 0; i < c->count; i++) {
            struct block_record b = block_chunk_get(c, i);
            if (d && (rc = add_record(&m->lanes[0].result->summary, d, &b, e)) < 0)
                return rc;
            if (b.latency_ns != TAPE_UNKNOWN && !b.error && b.op < BLOCK_OPS)
                measure_add(m, b.stream, b.op, b.len_bytes, b.latency_ns);
        }
    }
    return rc;
}

static int measure_tape(struct source *s, struct measure *m, enum depend_group group, struct err *e)
{
    struct tape_reader *r CLEANUP(close_tape) = NULL;
    struct depend *d CLEANUP(close_depend) = NULL;
    int rc = tape_reader_open(&r, s->path, e);
    if (rc == 0)
        rc = depend_open(&d, group, 0, e);
    if (rc == 0)
        rc = make_room(m, s, 1, tape_reader_stream_count(r), e);
    if (rc < 0)
        return rc;
    s->result_count = 1;
    for (size_t i = 0; i < s->stream_count; i++)
        if ((rc = name_stream(s, i, tape_reader_stream(r, (uint32_t)i)->name, e)) < 0)
            return rc;
    struct run_repetition *sum = &s->results->summary;
    for (size_t next = 0; begin_sweep(m, s, 0, &next);)
        do
            if ((rc = tape_pass(r, m, sum->complete ? NULL : d, e)) < 0)
                return rc;
            else
                sum->complete = 1; /* the first pass has seen all */
        while (measure_next(m));
    sum->repetition = 1;
    sum->zero_latency_ns = depend_zero_latency_ns(d);
    sum->depth_max = sum->depth_recorded = depend_depth_max(d);
    copy_summaries(s);
    return 0;
}

/* ---- runs ---- */

static void run_chunk_add(struct measure *m, const struct run_chunk *c, enum timing timing)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->latency_ns[i] == TAPE_UNKNOWN || c->error[i] || c->op[i] >= BLOCK_OPS)
            continue;
        uint64_t ns = c->latency_ns[i];
        if (timing == TIMING_RECORDED)
            ns += c->issued_ns[i] - c->scheduled_ns[i];
        measure_add(m, c->stream[i], c->op[i], c->len_bytes[i], ns);
    }
}

static void exchanges_add(struct measure *m, const struct run_exchanges *c, enum timing timing)
{
    for (size_t k = 0; k < m->lane_count; k++) {
        struct lane *lane = &m->lanes[k];
        for (uint32_t i = 0; lane->stream == ALL_STREAMS && i < c->count; i++) {
            uint64_t ns = c->latency_ns[i];
            if (c->error[i])
                continue;
            if (timing == TIMING_RECORDED)
                ns += c->issued_ns[i] - c->scheduled_ns[i];
            if (m->first_pass)
                add_up(&lane->result->exchanges[c->kind[i]], c->received_bytes[i], ns);
            select_add(lane->select[MEASURED_OPS + c->kind[i]], ns);
        }
    }
}

static int run_pass(
        struct run_reader *r, struct measure *m, uint32_t repetition, enum timing timing, struct err *e)
{
    const struct run_chunk *c;
    const struct run_exchanges *x;
    int rc = run_reader_seek(r, repetition, e);
    while (rc >= 0 && (rc = run_reader_next(r, &c, e)) > 0 && c->repetition == repetition)
        run_chunk_add(m, c, timing);
    while (rc >= 0 && (rc = run_reader_next_exchanges(r, &x, e)) > 0 && x->repetition == repetition)
        exchanges_add(m, x, timing);
    return rc;
}

static int measure_repetition(struct run_reader *r, struct source *s, struct measure *m, size_t index,
        enum timing timing, struct err *e)
{
    uint32_t repetition = (uint32_t)s->results[index].summary.repetition;
    for (size_t next = 0; begin_sweep(m, s, index, &next);)
        do {
            int rc = run_pass(r, m, repetition, timing, e);
            if (rc < 0)
                return rc;
        } while (measure_next(m));
    return 0;
}

static int measure_run(struct source *s, struct measure *m, enum timing timing, struct err *e)
{
    struct run_reader *r CLEANUP(close_run) = NULL;
    int rc = run_reader_open(&r, s->path, e);
    if (rc < 0)
        return rc;
    size_t count = run_reader_repetition_count(r);
    rc = make_room(m, s, count, run_reader_stream_count(r), e);
    for (size_t i = 0; i < s->stream_count && rc == 0; i++)
        rc = name_stream(s, i, run_reader_stream(r, (uint32_t)i)->name, e);
    for (; rc == 0 && s->result_count < count; s->result_count++) {
        struct result *result = &s->results[s->result_count];
        result->summary = *run_reader_repetition(r, s->result_count);
        if (!result->summary.warmup)
            rc = measure_repetition(r, s, m, s->result_count, timing, e);
    }
    copy_summaries(s);
    return rc;
}

int measure_source(
        struct measure *m, struct source *s, enum timing timing, enum depend_group group, struct err *e)
{
    return s->kind == TAPE_KIND_RUN ? measure_run(s, m, timing, e) : measure_tape(s, m, group, e);
}
