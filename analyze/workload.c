/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/foreign.h"
#include "analyze/measure.h"
#include "analyze/metrics_net.h"
#include "analyze/same_work.h"
#include "formats/base/cleanup.h"

/* ---- grouping ---- */

/* By name; tapes are the same, too, where only their labels differ. */
static struct workload *find_workload(struct workloads *w, const struct source *source, const char *name)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct source *first = w->list[i].sources[0];
        bool same = source->kind != TAPE_KIND_NONE && first->kind != TAPE_KIND_NONE &&
                    tape_identity_equal(&source->identity, &first->identity);
        if (same || strcmp(w->list[i].name, name) == 0)
            return &w->list[i];
    }
    return NULL;
}

static struct workload *add_workload(struct workloads *w, const char *name)
{
    struct workload *list = reallocarray(w->list, w->count + 1, sizeof *list);
    if (!list)
        return NULL;
    w->list = list;
    list[w->count] = (struct workload){.name = strdup(name)};
    return list[w->count].name ? &list[w->count++] : NULL;
}

static int add_source(struct workload *w, struct source *source, size_t system)
{
    struct source **sources = reallocarray(w->sources, w->count + 1, sizeof *sources);
    if (sources)
        w->sources = sources;
    size_t *systems = reallocarray(w->system, w->count + 1, sizeof *systems);
    if (systems)
        w->system = systems;
    if (!sources || !systems)
        return -ENOMEM;
    w->sources[w->count] = source;
    w->system[w->count++] = system;
    return 0;
}

static int group(struct workloads *w, const struct systems *s, struct err *e)
{
    char text[TAPE_IDENTITY_TEXT_BYTES];
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < s->list[i].source_count; j++) {
            struct source *source = &s->sources.list[s->list[i].first_source + j];
            const char *name = source_workload(source, text);
            struct workload *to = find_workload(w, source, name);
            if (!to)
                to = add_workload(w, name);
            if (!to || add_source(to, source, i) < 0)
                return err_sys(e, ENOMEM, "cannot group %zu files", s->path_count);
        }
    return 0;
}

/* ---- measuring ---- */

static void close_measure(struct measure **m)
{
    measure_close(*m);
}

/* True where no side has block I/O, and a run has conversations. */
static bool of_conversations(const struct workload *w)
{
    bool conversations = false;
    for (size_t i = 0; i < w->count; i++) {
        const struct source *s = w->sources[i];
        for (size_t k = 0; k < s->result_count; k++) {
            if (s->results[k].summary.records)
                return false;
            conversations = conversations || s->results[k].summary.net_conversations;
        }
    }
    return conversations;
}

static int measure_workload(struct workload *w, struct measure *m, struct err *e)
{
    const struct source *const *sources = (const struct source *const *)w->sources;
    enum depend_group depend;
    int rc = same_work(sources, w->count, e);
    if (rc == 0)
        rc = same_work_timing(sources, w->count, &w->timing, &depend, e);
    if (rc == 0 && w->sources[0]->kind == TAPE_KIND_NONE)
        return foreign_align(w->sources, w->count, &w->metrics, e);
    for (size_t i = 0; i < w->count && rc == 0; i++)
        rc = measure_source(m, w->sources[i], w->timing, depend, e);
    if (rc == 0)
        w->metrics = of_conversations(w) ? metrics_net : metrics_own;
    return rc;
}

/* Where nothing is shared by two systems, the sources themselves say why. */
static int refuse_apart(const struct workloads *w, const struct systems *s, struct err *e)
{
    const struct source *first[SYSTEMS_MAX];
    if (s->count < 2) /* a report of one system */
        return 0;
    for (size_t i = 0; i < w->count; i++)
        for (size_t j = 1; j < w->list[i].count; j++)
            if (w->list[i].system[j] != w->list[i].system[0])
                return 0;
    for (size_t i = 0; i < s->count; i++)
        first[i] = &s->sources.list[s->list[i].first_source];
    int rc = same_work(first, s->count, e);
    return rc < 0 ? rc
                  : err_set(e, EINVAL, "'%s' has '%s' and '%s' has '%s': no workload is in both",
                            first[0]->path, first[0]->label, first[1]->path, first[1]->label);
}

int workloads_open(struct workloads *w, const struct systems *s, bool by_stream, struct err *e)
{
    struct measure *m CLEANUP(close_measure) = NULL;
    *w = (struct workloads){0};
    int rc = group(w, s, e);
    if (rc == 0)
        rc = refuse_apart(w, s, e);
    if (rc == 0)
        rc = measure_open(&m, by_stream, e);
    for (size_t i = 0; i < w->count && rc == 0; i++)
        rc = measure_workload(&w->list[i], m, e);
    return rc;
}

void workloads_release(struct workloads *w)
{
    for (size_t i = 0; i < w->count; i++) {
        free(w->list[i].name);
        free(w->list[i].sources);
        free(w->list[i].system);
        if (w->list[i].metrics.list != metrics_own.list && w->list[i].metrics.list != metrics_net.list)
            foreign_metrics_release(&w->list[i].metrics);
    }
    free(w->list);
    *w = (struct workloads){0};
}

size_t workload_sources(const struct workload *w, size_t system, const struct source **list)
{
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->system[i] == system)
            list[count++] = w->sources[i];
    return count;
}
