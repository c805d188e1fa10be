/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/foreign.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/select.h"
#include "formats/base/cleanup.h"
#include "formats/results.h"

void foreign_release(struct foreign *f)
{
    for (size_t i = 0; f && i < f->count; i++) {
        free(f->list[i].figure.workload);
        free(f->list[i].figure.name);
        free(f->list[i].values);
    }
    if (f)
        free(f->list);
    free(f);
}

/* ---- from outputs to sources ---- */

static int no_memory(const char *path, struct err *e)
{
    return err_sys(e, ENOMEM, "cannot hold the results of '%s'", path);
}

/* The source of a workload among those from `first` on, or a new one. NULL: -ENOMEM. */
static struct source *find_source(
        struct source_list *l, size_t first, const char *path, const char *label, struct err *e)
{
    for (size_t i = l->count; i-- > first;)
        if (strcmp(l->list[i].label, label) == 0)
            return &l->list[i];
    struct source *s = source_list_add(l, e);
    if (!s)
        return NULL;
    *s = (struct source){.kind = TAPE_KIND_NONE, .finished = true};
    s->path = strdup(path);
    s->label = strdup(label);
    s->foreign = calloc(1, sizeof *s->foreign);
    if (s->path && s->label && s->foreign)
        return s;
    no_memory(path, e);
    return NULL;
}

/* Adds a fact that was found in an output; where outputs differ, all values are kept. */
static int add_fact(struct facts *to, const char *key, const char *value, struct err *e)
{
    const char *old = facts_get(to, key);
    if (!old || strcmp(old, value) == 0)
        return facts_set(to, e, key, "%s", value);
    return strstr(old, value) ? 0 : facts_set(to, e, key, "%s, %s", old, value);
}

/* Facts of the whole output, and those of "WORKLOAD: ". */
static int add_facts(struct source *s, const struct output *o, const char *workload, struct err *e)
{
    size_t len = strlen(workload);
    int rc = 0;
    for (size_t i = 0; i < o->facts.count && rc == 0; i++) {
        const char *key = o->facts.list[i].key, *own = strstr(key, ": ");
        if (own && (strncmp(key, workload, len) != 0 || own != key + len))
            continue;
        rc = add_fact(&s->target, own ? own + 2 : key, o->facts.list[i].value, e);
    }
    return rc;
}

/* One more repetition, without any value yet. */
static int begin_repetition(struct source *s, bool failed, struct err *e)
{
    size_t n = s->result_count + 1;
    struct result *results = reallocarray(s->results, n, sizeof *results);
    if (!results)
        return no_memory(s->path, e);
    s->results = results;
    results[n - 1] = (struct result){.summary = {.repetition = n, .complete = 1, .errors = failed}};
    for (size_t i = 0; i < s->foreign->count; i++) {
        double *values = reallocarray(s->foreign->list[i].values, n, sizeof *values);
        if (!values)
            return no_memory(s->path, e);
        s->foreign->list[i].values = values;
        values[n - 1] = NAN;
    }
    s->result_count = n;
    return 0;
}

static bool same_metric(const struct figure *a, const struct figure *b)
{
    return strcmp(a->name, b->name) == 0 && figure_unit_quantity(a->unit) == figure_unit_quantity(b->unit);
}

static struct foreign_metric *find_metric(struct source *s, const struct figure *f, struct err *e)
{
    struct foreign *all = s->foreign;
    for (size_t i = 0; i < all->count; i++)
        if (same_metric(&all->list[i].figure, f))
            return &all->list[i];
    struct foreign_metric *list = reallocarray(all->list, all->count + 1, sizeof *list);
    double *values = calloc(s->result_count, sizeof *values);
    if (list)
        all->list = list;
    if (!list || !values) {
        free(values);
        no_memory(s->path, e);
        return NULL;
    }
    for (size_t i = 0; i < s->result_count; i++)
        values[i] = NAN;
    list[all->count] = (struct foreign_metric){.figure = *f, .values = values};
    list[all->count].figure.workload = NULL;
    list[all->count].figure.name = strdup(f->name);
    if (!list[all->count++].figure.name) {
        no_memory(s->path, e);
        return NULL;
    }
    return &list[all->count - 1];
}

/* A percentile with too few I/Os behind it is none (select.h). */
static double figure_value(const struct figure *f, enum figure_unit unit)
{
    if (f->quantile > 0 && f->samples && f->samples < select_least(f->quantile))
        return INFINITY;
    return f->missing ? NAN : figure_convert(f->value, f->unit, unit);
}

static int add_figure(struct source *s, const struct figure *f, struct err *e)
{
    struct foreign_metric *m = find_metric(s, f, e);
    if (!m)
        return -ENOMEM;
    double *value = &m->values[s->result_count - 1];
    if (!isnan(*value))
        return err_set(e, EBADMSG, "'%s', line %llu: %s of '%s' is stated twice in one output", s->path,
                (unsigned long long)f->line, f->name, f->workload);
    *value = figure_value(f, m->figure.unit);
    return 0;
}

/* Figures of one workload stand together in most outputs, and so the source is looked up when it changes. A
 * source that got a repetition of this output gets no second one: had[] counts those before it. */
static int add_output(
        struct source_list *l, size_t first, const char *path, const struct output *o, struct err *e)
{
    const char *workload = NULL;
    struct source *s = NULL;
    CLEANUP_FREE size_t *had = calloc(l->count - first + o->count + 1, sizeof *had);
    if (!had)
        return no_memory(path, e);
    for (size_t i = first; i < l->count; i++)
        had[i - first] = l->list[i].result_count;
    for (size_t i = 0; i < o->count; i++) {
        const struct figure *f = &o->figures[i];
        int rc = 0;
        if (!workload || strcmp(workload, f->workload) != 0) {
            CLEANUP_FREE char *label = NULL;
            workload = f->workload;
            if (asprintf(&label, "%s%s%s", o->tool, *workload ? " " : "", workload) < 0)
                return no_memory(path, e);
            s = find_source(l, first, path, label, e);
            if (!s)
                return -ENOMEM;
            if (s->result_count == had[s - l->list - (ptrdiff_t)first] &&
                    (rc = begin_repetition(s, o->failed, e)) == 0)
                rc = add_facts(s, o, workload, e);
        }
        if (rc == 0 && f->compared)
            rc = add_figure(s, f, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int foreign_open(struct source_list *l, const char *path, struct err *e)
{
    struct results r CLEANUP(results_release) = {0};
    size_t first = l->count;
    int rc = results_read(path, &r, e);
    for (size_t i = 0; rc == 0 && i < r.count; i++)
        rc = add_output(l, first, path, &r.outputs[i], e);
    if (rc == 0 && l->count == first)
        rc = err_set(e, EINVAL, "'%s' holds no figures: %s%s%s", path, r.outputs[0].tool,
                r.outputs[0].failed ? " says " : " states none",
                r.outputs[0].failed ? r.outputs[0].failed : "");
    return rc;
}

/* ---- sources of one workload beside each other ---- */

static bool is_rate(const struct figure *f)
{
    enum figure_quantity q = figure_unit_quantity(f->unit);
    return q == FIGURE_BYTE_RATE || q == FIGURE_RATE;
}

/* Adds what a source has and those before have not; `figures` are those of the list. */
static void merge(struct metric *list, const struct figure **figures, size_t *count, const struct foreign *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct figure *figure = &f->list[i].figure;
        bool found = false;
        for (size_t j = 0; j < *count && !found; j++)
            found = same_metric(figures[j], figure);
        if (found)
            continue;
        figures[*count] = figure;
        list[*count] = (struct metric){.name = figure->name,
                .unit = figure_unit_name(figure->unit),
                .quantity = QUANTITY_STATED,
                .op = figure->op,
                .index = *count,
                .more_is_better = is_rate(figure),
                .timings = METRIC_TIMINGS_ALL,
                .tail = figure->tail};
        ++*count;
    }
}

static int state(struct source *s, const struct figure *const *figures, size_t count, struct err *e)
{
    free(s->stated);
    s->stated = calloc(s->result_count * count + 1, sizeof *s->stated);
    if (!s->stated)
        return no_memory(s->path, e);
    for (size_t r = 0; r < s->result_count; r++) {
        double *values = s->stated + r * count;
        s->results[r].stated = values;
        for (size_t m = 0; m < count; m++) {
            values[m] = NAN;
            for (size_t i = 0; i < s->foreign->count; i++)
                if (same_metric(&s->foreign->list[i].figure, figures[m]))
                    values[m] = figure_convert(
                            s->foreign->list[i].values[r], s->foreign->list[i].figure.unit, figures[m]->unit);
        }
    }
    return 0;
}

int foreign_align(struct source *const *sources, size_t count, struct metrics *metrics, struct err *e)
{
    size_t room = 1, found = 0;
    for (size_t i = 0; i < count; i++)
        room += sources[i]->foreign->count;
    struct metric *list = calloc(room, sizeof *list);
    CLEANUP_FREE const struct figure **figures = calloc(room, sizeof(struct figure *));
    *metrics = (struct metrics){0};
    if (!list || !figures) {
        free(list);
        return err_sys(e, ENOMEM, "cannot compare %zu metrics", room);
    }
    for (size_t i = 0; i < count; i++)
        merge(list, figures, &found, sources[i]->foreign);
    *metrics = (struct metrics){list, found};
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = state(sources[i], figures, found, e);
    if (rc < 0)
        foreign_metrics_release(metrics);
    return rc;
}

void foreign_metrics_release(struct metrics *m)
{
    free((struct metric *)m->list);
    *m = (struct metrics){0};
}
