/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/contrast.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fidelity.h"

static size_t count_results(const struct party *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += p->sources[i]->result_count;
    return count;
}

/* The counted repetitions of a system's files; what a stream did in them where `stream` is not SIZE_MAX. */
static struct side list_results(const struct party *p, size_t stream, const struct result **list)
{
    struct side side = {.name = p->name};
    for (size_t i = 0; i < p->count; i++) {
        const struct source *s = p->sources[i];
        for (size_t j = 0; j < s->result_count; j++) {
            const struct result *r = &s->results[j];
            if (!left_out(r, s->kind))
                list[side.count++] = stream == SIZE_MAX ? r : &s->streams[stream].results[j];
            else
                side.left_out += !r->summary.warmup;
        }
    }
    return side;
}

static double value_of(const struct metric *m, const struct result *r)
{
    double value;
    switch (metric_value(m, r, &value)) {
    case METRIC_OK:
        return value;
    case METRIC_TOO_FEW:
        return INFINITY;
    default:
        return NAN;
    }
}

/* Appends the metric, unless no repetition has it. */
static void add_contrast(struct contrasts *c, const struct metric *m, enum timing timing, const char *stream)
{
    size_t width = c->base.count + c->cand.count;
    double *values = c->values + c->count * width;
    bool primary = !*stream && (m->primary & (1U << timing)), any = width == 0;
    for (size_t i = 0; i < width; i++) {
        values[i] = value_of(m, c->results[i]);
        any |= !isnan(values[i]);
    }
    if (any || primary)
        c->list[c->count++] = (struct contrast){m, metric_name(m, timing), stream, primary, values};
}

static void add_contrasts(
        struct contrasts *c, const struct metrics *metrics, enum timing timing, const char *stream)
{
    for (size_t i = 0; i < metrics->count; i++) {
        const struct metric *m = &metrics->list[i];
        if ((m->timings & (1U << timing)) && (!*stream || metric_of_stream(m)))
            add_contrast(c, m, timing, stream);
    }
}

static const struct source *any_source(const struct party *base, const struct party *cand)
{
    return base->count ? base->sources[0] : cand->count ? cand->sources[0] : NULL;
}

int contrasts_make(struct contrasts *c, const struct metrics *metrics, const struct party *base,
        const struct party *cand, enum timing timing, struct err *e)
{
    const struct source *first = any_source(base, cand);
    /* Streams are those of the tape, so that all sources have the same. */
    size_t width = count_results(base) + count_results(cand), streams = first ? first->stream_count : 0;
    size_t most = metrics->count * (streams + 1);
    *c = (struct contrasts){.list = calloc(most + 1, sizeof *c->list),
            .values = calloc(most * width + 1, sizeof *c->values),
            .results = calloc(width + 1, sizeof *c->results)};
    if (!c->list || !c->values || !c->results) {
        contrasts_release(c);
        return err_sys(e, ENOMEM, "cannot compare %zu metrics of %zu repetitions", most, width);
    }
    for (size_t i = 0; i <= streams; i++) {
        size_t stream = i ? i - 1 : SIZE_MAX;
        c->base = list_results(base, stream, c->results);
        c->cand = list_results(cand, stream, c->results + c->base.count);
        add_contrasts(c, metrics, timing, i ? first->streams[stream].name : "");
    }
    return 0;
}

void contrasts_release(struct contrasts *c)
{
    free(c->list);
    free(c->values);
    free((void *)c->results);
    *c = (struct contrasts){0};
}
