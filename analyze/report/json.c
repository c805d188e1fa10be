/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * All of a report as one JSON object, unrounded; null is what is not known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"
#include "formats/base/cleanup.h"
#include "formats/base/json.h"

static int put_flags(struct json *j, const struct flags *f)
{
    struct json *list = json_new_array();
    CLEANUP_FREE char *copy = strdup(f->text ? f->text : "");
    char *rest = NULL;
    int bad = !copy || !list;
    for (char *t = copy ? strtok_r(copy, "|", &rest) : NULL; t; t = strtok_r(NULL, "|", &rest))
        bad |= json_add(list, json_new_text(t));
    return bad | json_put(j, "flags", list);
}

static int put_ratio(struct json *j, const struct row *row)
{
    int bad = json_put_double(j, "median_base", row->median_base);
    bad |= json_put_double(j, "median_cand", row->median_cand);
    bad |= json_put_double(j, "ratio_hl", row->ratio_hl);
    bad |= json_put_double(j, "change_pct", row->change_pct);
    bad |= json_put_double(j, "overhead_pct", row->overhead_pct);
    bad |= json_put_double(j, "overhead_lo", row->overhead_lo);
    bad |= json_put_double(j, "overhead_hi", row->overhead_hi);
    bad |= json_put_double(j, "conf", row->conf);
    bad |= json_put_double(j, "p", row->p);
    return bad | json_put_double(j, "p_adjusted", row->p_adjusted);
}

static int put_metric(struct json *j, const char *name, const struct metric *m)
{
    int bad = json_put_text(j, "metric", name);
    bad |= json_put_text(j, "unit", m->unit);
    return bad | json_put_text(j, "better", m->more_is_better ? "higher" : "lower");
}

static int add_row(struct json *rows, const struct row *row)
{
    struct json *j = json_new_object();
    int bad = json_put_text(j, "stream", *row->stream ? row->stream : NULL);
    bad |= put_metric(j, row->name, row->metric);
    bad |= json_put_bool(j, "primary", row->primary);
    bad |= json_put_u64(j, "n_base", row->n_base);
    bad |= json_put_u64(j, "n_cand", row->n_cand);
    bad |= put_ratio(j, row);
    bad |= json_put_text(j, "verdict", verdict_name(row->verdict));
    bad |= json_put_double(j, "margin_pct", row->margin_pct);
    bad |= json_put_double(j, "n_needed", row->n_needed);
    bad |= put_flags(j, &row->flags);
    return bad | json_add(rows, j);
}

static int add_difference(struct json *list, const struct difference *d)
{
    struct json *j = json_new_object();
    int bad = json_put_text(j, "what", d->key);
    bad |= json_put_text(j, "base", d->base);
    bad |= json_put_text(j, "candidate", d->cand);
    return bad | json_add(list, j);
}

static int add_comparison(struct json *list, const struct comparison *c)
{
    struct json *j = json_new_object(), *rows = json_new_array(), *differences = json_new_array();
    int bad = json_put_text(j, "workload", c->workload);
    bad |= json_put_text(j, "base", c->base.name);
    bad |= json_put_text(j, "candidate", c->cand.name);
    bad |= put_flags(j, &c->flags);
    for (size_t i = 0; i < c->difference_count; i++)
        bad |= add_difference(differences, &c->differences[i]);
    bad |= json_put(j, "differences", differences);
    for (size_t i = 0; i < c->count; i++)
        bad |= add_row(rows, &c->rows[i]);
    bad |= json_put(j, "rows", rows);
    return bad | json_add(list, j);
}

static int add_mean(struct json *list, const struct mean *m)
{
    struct json *j = json_new_object();
    int bad = json_put_text(j, "base", m->base);
    bad |= json_put_text(j, "candidate", m->cand);
    bad |= put_metric(j, m->name, m->metric);
    bad |= json_put_u64(j, "matched", m->matched);
    bad |= json_put_u64(j, "workloads", m->workloads);
    bad |= json_put_double(j, "ratio", m->ratio);
    bad |= json_put_double(j, "change_pct", m->change_pct);
    bad |= json_put_double(j, "overhead_pct", m->overhead_pct);
    bad |= json_put_text(j, "verdict", *m->verdict ? m->verdict : NULL);
    return bad | json_add(list, j);
}

static int write_json(const struct report *r, struct out *o, struct err *e)
{
    struct json *j = json_new_object(), *comparisons = json_new_array(), *means = json_new_array();
    int bad = json_put_double(j, "confidence", r->options.confidence);
    bad |= json_put_double(j, "margin_pct", 100 * r->options.margin);
    bad |= json_put_double(
            j, "detect_pct", r->options.detect > 0 ? 100 * r->options.detect : 100 * r->options.margin);
    bad |= json_put_u64(j, "seed", r->options.seed);
    for (size_t i = 0; i < r->count; i++)
        bad |= add_comparison(comparisons, &r->comparisons[i]);
    bad |= json_put(j, "comparisons", comparisons);
    for (size_t i = 0; i < r->mean_count; i++)
        bad |= add_mean(means, &r->means[i]);
    bad |= json_put(j, "means", means);
    int rc = bad ? err_sys(e, ENOMEM, "cannot write JSON") : json_write(j, o, e);
    json_free(j);
    return rc;
}

const struct report_ops report_json = {
        .name = "json", .help = "all of it, for programs", .write = write_json};
