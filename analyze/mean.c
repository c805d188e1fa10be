/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/mean.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_metric(const struct mean *m, const struct comparison *c, const struct row *row)
{
    return strcmp(m->cand, c->cand.name) == 0 && strcmp(m->name, row->name) == 0 &&
           m->metric->more_is_better == row->metric->more_is_better &&
           metric_op(m->metric) == metric_op(row->metric);
}

/* The mean that the row belongs to, or a new one; NULL: -ENOMEM. `ratio` holds the sum of logarithms so far.
 */
static struct mean *find(
        struct mean **means, size_t *count, const struct comparison *c, const struct row *row)
{
    for (size_t i = 0; i < *count; i++)
        if (same_metric(&(*means)[i], c, row))
            return &(*means)[i];
    struct mean *list = reallocarray(*means, *count + 1, sizeof *list);
    if (!list)
        return NULL;
    *means = list;
    list[*count] = (struct mean){.base = c->base.name,
            .cand = c->cand.name,
            .name = row->name,
            .metric = row->metric,
            .verdict = ""};
    return &list[(*count)++];
}

static int add_rows(struct mean **means, size_t *count, const struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct row *row = &c->rows[i];
        if (*row->stream)
            continue;
        struct mean *m = find(means, count, c, row);
        if (!m)
            return -ENOMEM;
        m->workloads++;
        if (isfinite(row->ratio_hl) && row->verdict != VERDICT_INVALID) {
            m->matched++;
            if (row->verdict == VERDICT_TOO_FEW)
                m->verdict = verdict_name(row->verdict);
            m->ratio += log(row->ratio_hl);
        }
    }
    return 0;
}

int means_make(struct mean **means, size_t *count, const struct comparison *comparisons,
        size_t comparison_count, struct err *e)
{
    size_t kept = 0;
    *means = NULL;
    *count = 0;
    for (size_t i = 0; i < comparison_count; i++)
        if (add_rows(means, count, &comparisons[i]) < 0) {
            free(*means);
            *means = NULL;
            return err_sys(e, ENOMEM, "cannot hold means");
        }
    for (size_t i = 0; i < *count; i++) {
        struct mean m = (*means)[i];
        if (m.matched < 2)
            continue;
        m.ratio = exp(m.ratio / (double)m.matched);
        m.change_pct = 100 * (m.ratio - 1);
        m.overhead_pct = metric_overhead_pct(m.metric, m.ratio);
        (*means)[kept++] = m;
    }
    *count = kept;
    return 0;
}
