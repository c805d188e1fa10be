/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/compare.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/contrast.h"
#include "analyze/differences.h"
#include "analyze/fidelity.h"
#include "formats/base/cleanup.h"

const char *const compare_by_names[] = {"workload", "stream", NULL};

void compare_init(struct compare *c)
{
    *c = (struct compare){.margin_pct = 5, .options = COMPARISON_DEFAULTS};
}

void compare_release(struct compare *c)
{
    report_release(&c->report);
    workloads_release(&c->workloads);
    systems_release(&c->systems);
}

int compare_take_system(void *values, const char *text, struct err *e)
{
    return systems_name(&((struct compare *)values)->systems, text, e);
}

int compare_word(void *values, const char *text, struct err *e)
{
    return systems_file(&((struct compare *)values)->systems, text, e);
}

const char *compare_usage(const struct compare *c)
{
    if (c->systems.count < 2)
        return "nothing to compare with: two systems are needed";
    if (!(c->options.confidence > 0 && c->options.confidence < 1))
        return "--confidence: not between 0 and 1";
    if (!(c->margin_pct >= 0 && c->margin_pct <= 1000))
        return "--margin: not between 0 and 1000 percent";
    if (!(c->detect_pct >= 0 && c->detect_pct <= 1000))
        return "--detect: not between 0 and 1000 percent";
    return NULL;
}

/* ---- one candidate against the base, in one workload ---- */

static void close_contrasts(struct contrasts *k)
{
    contrasts_release(k);
}

static int add_flags(struct comparison *k, const struct compare *c, const struct workload *w,
        const struct party *base, const struct party *cand, struct err *e)
{
    unsigned long long lost = w->sources[0]->lost;
    struct flags *f = &k->flags;
    int rc = lost ? flags_add(f, e, "tape_lost=%llu", lost) : 0;
    if (rc == 0 && w->sources[0]->tape_throttled)
        rc = flags_add(f, e, "tape_throttled");
    if (rc == 0 && !base->count != !cand->count)
        rc = flags_add(f, e, base->count ? "only_in_base" : "only_in_cand");
    if (rc == 0)
        rc = fidelity_flags(f, "base", base->sources, base->count, w->timing, c->cache_bytes, e);
    if (rc == 0)
        rc = fidelity_flags(f, "cand", cand->sources, cand->count, w->timing, c->cache_bytes, e);
    for (size_t i = 0; i < k->difference_count && rc == 0; i++)
        rc = flags_add(f, e, "differs:%s", k->differences[i].key);
    return rc;
}

static int compare_parties(struct compare *c, const struct workload *w, const struct party *base,
        const struct party *cand, struct err *e)
{
    struct comparison *k = &c->report.comparisons[c->report.count];
    struct contrasts contrasts CLEANUP(close_contrasts) = {0};
    int rc = contrasts_make(&contrasts, &w->metrics, base, cand, w->timing, e);
    if (rc == 0)
        rc = comparison_make(k, w->name, &contrasts.base, &contrasts.cand, contrasts.list, contrasts.count,
                &c->options, e);
    if (rc < 0)
        return rc;
    c->report.count++;
    rc = differences_find(k, base, cand, e);
    return rc < 0 ? rc : add_flags(k, c, w, base, cand, e);
}

/* ---- all of them ---- */

/* `list` has room for the sources of both. */
static int compare_system(
        struct compare *c, const struct workload *w, size_t cand, const struct source **list, struct err *e)
{
    struct party b = {.name = c->systems.list[c->base].name, .sources = list};
    struct party k = {.name = c->systems.list[cand].name};
    b.count = workload_sources(w, c->base, list);
    k.sources = list + b.count;
    k.count = workload_sources(w, cand, list + b.count);
    return b.count || k.count ? compare_parties(c, w, &b, &k, e) : 0;
}

static int compare_all(struct compare *c, struct err *e)
{
    const struct workloads *w = &c->workloads;
    size_t most = c->systems.count * w->count;
    CLEANUP_FREE const struct source **list = calloc(c->systems.sources.count + 1, sizeof(struct source *));
    c->report.comparisons = calloc(most + 1, sizeof *c->report.comparisons);
    if (!list || !c->report.comparisons)
        return err_sys(e, ENOMEM, "cannot compare %zu systems", c->systems.count);
    for (size_t i = 0; i < c->systems.count; i++)
        for (size_t j = 0; i != c->base && j < w->count; j++) {
            int rc = compare_system(c, &w->list[j], i, list, e);
            if (rc < 0)
                return rc;
        }
    return means_make(&c->report.means, &c->report.mean_count, c->report.comparisons, c->report.count, e);
}

int compare_run(struct compare *c, struct err *e)
{
    c->options.margin = c->margin_pct / 100;
    c->options.detect = c->detect_pct / 100;
    c->report.options = c->options;
    c->report.by_stream = c->by == COMPARE_BY_STREAM;
    int rc = systems_open(&c->systems, e);
    if (rc == 0)
        rc = systems_find(&c->systems, c->base_name, &c->base, e);
    if (rc == 0)
        rc = workloads_open(&c->workloads, &c->systems, c->report.by_stream, e);
    return rc < 0 ? rc : compare_all(c, e);
}
