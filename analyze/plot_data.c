/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fidelity.h"
#include "analyze/plot_axis.h"
#include "analyze/plot_bins.h"
#include "formats/base/cleanup.h"

static void close_bins(struct bins **b)
{
    bins_close(*b);
}
static void close_tape(struct tape_reader **r)
{
    tape_reader_close(*r);
}
static void close_run(struct run_reader **r)
{
    run_reader_close(*r);
}

/* ---- which repetitions there are ---- */

/* Calls `found` for each repetition of a file that counts; of a tape once, with number 1. */
static int each_repetition(const struct source *s,
        int (*found)(void *context, const struct source *s, const struct run_repetition *r, struct err *e),
        void *context, struct err *e)
{
    if (s->kind != TAPE_KIND_RUN) {
        struct tape_reader *tape CLEANUP(close_tape) = NULL;
        int rc = tape_reader_open(&tape, s->path, e);
        if (rc < 0)
            return rc;
        struct run_repetition whole = {
                .repetition = 1, .complete = 1, .elapsed_ns = tape_reader_totals(tape)->elapsed_ns};
        return found(context, s, &whole, e);
    }
    struct run_reader *run CLEANUP(close_run) = NULL;
    int rc = run_reader_open(&run, s->path, e);
    for (size_t i = 0; rc == 0 && i < run_reader_repetition_count(run); i++) {
        struct result result = {.summary = *run_reader_repetition(run, i)};
        if (!left_out(&result, TAPE_KIND_RUN))
            rc = found(context, s, &result.summary, e);
    }
    return rc;
}

/* ---- the first pass: how long, and where ---- */

struct extent {
    bool seen;
    uint64_t low_bytes, high_bytes, records;
};

struct scan {
    struct plot_data *data;
    struct extent *extents;            /* TAPE_STREAMS_MAX */
    const struct source *first_source; /* with any sample; where none has, the last one */
    uint32_t first_repetition;         /* 0: none yet */
    bool any;                          /* sample was seen */
    uint64_t last_end_ns;
};

static void scan_sample(void *context, const struct sample *s)
{
    struct scan *scan = context;
    uint64_t end_ns = s->issued_ns + s->latency_ns;
    scan->any = true;
    if (end_ns > scan->last_end_ns)
        scan->last_end_ns = end_ns;
    if (s->op >= BLOCK_OPS || s->stream >= TAPE_STREAMS_MAX || s->op == BLOCK_FLUSH)
        return;
    struct extent *x = &scan->extents[s->stream];
    uint64_t end = s->offset_bytes + s->len_bytes;
    if (!x->seen || s->offset_bytes < x->low_bytes)
        x->low_bytes = s->offset_bytes;
    if (!x->seen || end > x->high_bytes)
        x->high_bytes = end;
    x->seen = true;
    x->records++;
}

static uint64_t elapsed_of(const struct plot_data *d, const struct run_repetition *r)
{
    return d->exchanges ? r->net_elapsed_ns : r->elapsed_ns;
}

static int scan_repetition(
        void *context, const struct source *s, const struct run_repetition *r, struct err *e)
{
    struct scan *scan = context;
    struct plot_data *d = scan->data;
    if (!scan->any) {
        scan->first_source = s;
        scan->first_repetition = (uint32_t)r->repetition;
        int rc = samples_each(s, scan->first_repetition, d->timing, false, scan_sample, scan, e);
        if (rc == 0 && !scan->any) {
            rc = samples_each(s, scan->first_repetition, d->timing, true, scan_sample, scan, e);
            d->exchanges = scan->any;
        }
        if (rc < 0)
            return rc;
    }
    if (elapsed_of(d, r) > d->end_ns)
        d->end_ns = elapsed_of(d, r);
    return 0;
}

static int name_stream(struct plot_stream *stream, const struct source *s, struct err *e)
{
    if (s->kind == TAPE_KIND_RUN) {
        struct run_reader *run CLEANUP(close_run) = NULL;
        int rc = run_reader_open(&run, s->path, e);
        if (rc == 0 && stream->id < run_reader_stream_count(run))
            snprintf(stream->name, sizeof stream->name, "%s", run_reader_stream(run, stream->id)->name);
        return rc;
    }
    struct tape_reader *tape CLEANUP(close_tape) = NULL;
    int rc = tape_reader_open(&tape, s->path, e);
    if (rc == 0 && stream->id < tape_reader_stream_count(tape))
        snprintf(stream->name, sizeof stream->name, "%s", tape_reader_stream(tape, stream->id)->name);
    return rc;
}

/* The busiest streams, in their order on the tape. */
static int choose_streams(struct scan *scan, struct err *e)
{
    struct plot_data *d = scan->data;
    for (uint32_t id = 0; id < TAPE_STREAMS_MAX; id++)
        d->stream_total += scan->extents[id].seen;
    for (uint32_t id = 0; id < TAPE_STREAMS_MAX; id++) {
        const struct extent *x = &scan->extents[id];
        size_t busier = 0;
        for (uint32_t other = 0; other < TAPE_STREAMS_MAX; other++)
            busier += scan->extents[other].records > x->records ||
                      (scan->extents[other].records == x->records && other < id);
        if (!x->seen || busier >= PLOT_STREAMS)
            continue;
        struct plot_stream *s = &d->streams[d->stream_count++];
        s->id = id;
        s->low_bytes = x->low_bytes;
        s->high_bytes = x->high_bytes > x->low_bytes ? x->high_bytes : x->low_bytes + 1;
        s->records = x->records;
        s->heat = calloc(PLOT_PLACES, sizeof *s->heat);
        if (!s->heat)
            return err_sys(e, ENOMEM, "cannot plot");
        int rc = name_stream(s, scan->first_source, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A round width, and at most `bins` of them. */
static uint64_t bin_width(uint64_t end_ns, uint64_t bins)
{
    double width = nice_above((double)(end_ns ? end_ns : 1) / (double)bins);
    return width < 1 ? 1 : (uint64_t)(width + 0.5);
}

static int scan_all(struct scan *scan, const struct plot_sources *s, struct err *e)
{
    struct plot_data *d = scan->data;
    scan->extents = calloc(TAPE_STREAMS_MAX, sizeof *scan->extents);
    if (!scan->extents)
        return err_sys(e, ENOMEM, "cannot plot");
    for (size_t i = 0; i < s->count; i++) {
        const struct source *source = s->list[i];
        if (source->kind == TAPE_KIND_NONE)
            return err_set(e, EINVAL,
                    "'%s' is a result of another tool, which holds no single I/Os; only 'overhead' can be "
                    "drawn",
                    source->path);
        int rc = each_repetition(source, scan_repetition, scan, e);
        if (rc < 0)
            return rc;
    }
    if (!scan->first_repetition)
        return err_set(e, EINVAL, "there is nothing to plot: no repetition counts");
    if (scan->last_end_ns > d->end_ns) /* a tape's last completions */
        d->end_ns = scan->last_end_ns;
    d->time_ns = bin_width(d->end_ns, PLOT_TIMES);
    d->heat_time_ns = bin_width(d->end_ns, PLOT_HEAT_TIMES);
    return choose_streams(scan, e);
}

/* ---- the second pass ---- */

struct fill {
    struct plot_data *data;
    struct plot_side *side;
    struct bins *bins;
    const struct scan *scan;
};

static void fill_sample(void *context, const struct sample *s)
{
    bins_add(context, s);
}

static int fill_repetition(
        void *context, const struct source *s, const struct run_repetition *r, struct err *e)
{
    struct fill *fill = context;
    struct plot_side *side = fill->side;
    bool places = s == fill->scan->first_source && r->repetition == fill->scan->first_repetition;
    struct plot_repetition **more = realloc(side->repetitions, (side->count + 1) * sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot plot");
    side->repetitions = more;
    more[side->count] = calloc(1, sizeof **more);
    if (!more[side->count])
        return err_sys(e, ENOMEM, "cannot plot");
    side->count++;
    side->is_tape &= s->kind != TAPE_KIND_RUN;
    bins_begin(fill->bins, fill->data, side, elapsed_of(fill->data, r), places);
    int rc = samples_each(s, (uint32_t)r->repetition, fill->data->timing, fill->data->exchanges, fill_sample,
            fill->bins, e);
    bins_end(fill->bins, more[side->count - 1]);
    return rc;
}

static int fill_side(struct fill *fill, const struct plot_sources *s, size_t system, struct err *e)
{
    struct plot_side *side = NULL;
    for (size_t i = 0; i < s->count; i++) {
        if (s->system[i] != system)
            continue;
        if (!side) {
            side = fill->side = &fill->data->sides[fill->data->count++];
            *side = (struct plot_side){.name = s->systems->list[system].name, .is_tape = true};
            side->heat = calloc(PLOT_HEAT_LATENCIES, sizeof *side->heat);
            if (!side->heat)
                return err_sys(e, ENOMEM, "cannot plot");
        }
        int rc = each_repetition(s->list[i], fill_repetition, fill, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int plot_data_collect(struct plot_data *d, const struct plot_sources *s, struct err *e)
{
    struct bins *bins CLEANUP(close_bins) = NULL;
    struct scan scan = {.data = d};
    struct fill fill = {.data = d, .scan = &scan};
    *d = (struct plot_data){.timing = s->timing};
    int rc = bins_open(&bins, e);
    fill.bins = bins;
    d->sides = calloc(s->systems->count + 1, sizeof *d->sides);
    if (rc == 0 && !d->sides)
        rc = err_sys(e, ENOMEM, "cannot plot");
    if (rc == 0)
        rc = scan_all(&scan, s, e);
    free(scan.extents);
    for (size_t i = 0; i < s->systems->count && rc == 0; i++)
        rc = fill_side(&fill, s, i, e);
    if (rc < 0)
        plot_data_release(d);
    return rc;
}

void plot_data_release(struct plot_data *d)
{
    for (size_t i = 0; i < d->count; i++) {
        for (size_t j = 0; j < d->sides[i].count; j++)
            free(d->sides[i].repetitions[j]);
        free(d->sides[i].repetitions);
        free(d->sides[i].heat);
    }
    for (size_t i = 0; i < d->stream_count; i++)
        free(d->streams[i].heat);
    free(d->sides);
    *d = (struct plot_data){0};
}
