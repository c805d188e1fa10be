/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare_help.h"
#include "analyze/comparison.h"
#include "analyze/report.h"
#include "analyze/same_work.h"
#include "analyze/systems.h"
#include "analyze/verb.h"
#include "analyze/workload.h"
#include "formats/base/cleanup.h"

struct compare_options {
    struct systems systems;
    const char *base, *format, *output;
    double margin_pct;
    struct comparison_options comparison;
};

static int take_system(void *values, const char *text, struct err *e)
{
    return systems_name(&((struct compare_options *)values)->systems, text, e);
}

static int take_word(void *values, const char *text, struct err *e)
{
    return systems_file(&((struct compare_options *)values)->systems, text, e);
}

#define OPTION(field) offsetof(struct compare_options, field)
static const struct opt opts[] = {
        {"system", 's', OPT_CALL, 0, "NAME", "the files up to the next --system belong together, as NAME",
                NULL, take_system},
        {"base", 'b', OPT_STR, OPTION(base), "NAME",
                "the system that the others are compared with (default: the first)", NULL, NULL},
        {"format", 'f', OPT_STR, OPTION(format), "FORMAT", "the form to write: csv (the default)", NULL,
                NULL},
        {"output", 'o', OPT_STR, OPTION(output), "FILE",
                "write to FILE, which appears when it is whole, instead of standard output", NULL, NULL},
        {"confidence", 0, OPT_DOUBLE, OPTION(comparison.confidence), "FRACTION",
                "of intervals and verdicts (default: 0.95)", NULL, NULL},
        {"margin", 0, OPT_DOUBLE, OPTION(margin_pct), "PERCENT",
                "what counts as the same (default: 5); twice that from p99 on", NULL, NULL},
        {"seed", 0, OPT_U64, OPTION(comparison.seed), "N",
                "of the random splits that adjust p where there are too many to take all (default: 1)", NULL,
                NULL},
        {.name = NULL}};

static const struct opt_spec spec = {.name = "iotape-analyze compare",
        .usage = "[OPTION]... RUN|TAPE RUN...\n[OPTION]... --system NAME FILE... --system NAME FILE...",
        .summary = "say what one system costs against another, with intervals and verdicts",
        .opts = opts,
        .word = take_word,
        .sections = compare_help};

/* ---- one candidate against the base ---- */

static void close_side(struct side *side)
{
    free((void *)side->results);
}

/* The counted repetitions of a system's sources. */
static int make_side(
        struct side *side, const char *name, const struct source *const *list, size_t files, struct err *e)
{
    size_t total = 0;
    for (size_t i = 0; i < files; i++)
        total += list[i]->result_count;
    const struct result **results = calloc(total + 1, sizeof *results);
    *side = (struct side){.name = name, .results = results};
    if (!results)
        return err_sys(e, ENOMEM, "cannot hold %zu repetitions", total);
    for (size_t i = 0; i < files; i++)
        for (size_t j = 0; j < list[i]->result_count; j++) {
            const struct result *r = &list[i]->results[j];
            const char *why = left_out(r, list[i]->kind);
            if (!why)
                results[side->count++] = r;
            else
                side->left_out += !r->summary.warmup;
        }
    return 0;
}

static int add_difference(void *flags, const char *key, struct err *e)
{
    return flags_add(flags, e, "differs:%s", key);
}

static int make_flags(struct flags *f, const struct source *const *list, size_t n_base, size_t n_cand,
        enum timing timing, struct err *e)
{
    int rc = list[0]->lost ? flags_add(f, e, "tape_lost=%llu", (unsigned long long)list[0]->lost) : 0;
    if (rc == 0)
        rc = fidelity_flags(f, "base", list, n_base, timing, e);
    if (rc == 0)
        rc = fidelity_flags(f, "cand", list + n_base, n_cand, timing, e);
    return rc < 0 ? rc : same_work_differences(list, n_base + n_cand, add_difference, f, e);
}

/* `list` has room for the workload's sources. */
static int make_pairing(struct pairing *p, const struct compare_options *o, const struct workload *w,
        size_t base, size_t cand, const struct source **list, struct err *e)
{
    struct side b CLEANUP(close_side) = {0}, c CLEANUP(close_side) = {0};
    size_t n_base = workload_sources(w, base, list), n_cand = workload_sources(w, cand, list + n_base);
    *p = (struct pairing){
            .workload = w->name, .base = o->systems.list[base].name, .cand = o->systems.list[cand].name};
    if (!n_base && !n_cand)
        return 0;
    int rc = make_side(&b, p->base, list, n_base, e);
    if (rc == 0)
        rc = make_side(&c, p->cand, list + n_base, n_cand, e);
    if (rc == 0)
        rc = comparison_make(&p->comparison, &b, &c, &w->metrics, w->timing, &o->comparison, e);
    return rc < 0 ? rc : make_flags(&p->flags, list, n_base, n_cand, w->timing, e);
}

/* ---- all of them ---- */

static int write_report(const struct report *r, const struct report_ops *ops, const char *path, struct err *e)
{
    struct out o;
    int rc = out_open(&o, path, e);
    if (rc < 0)
        return rc;
    rc = ops->write(r, &o, e);
    int closed = out_close(&o, rc == 0, rc == 0 ? e : NULL);
    return rc < 0 ? rc : closed;
}

/* All candidates, each in all workloads; p[] has room for as many. */
static int make_pairings(struct pairing *p, size_t *count, const struct compare_options *o,
        const struct workloads *w, size_t base, struct err *e)
{
    const struct systems *s = &o->systems;
    CLEANUP_FREE const struct source **list = calloc(s->sources.count + 1, sizeof(struct source *));
    if (!list)
        return err_sys(e, ENOMEM, "cannot compare %zu files", s->path_count);
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; i != base && j < w->count; j++) {
            int rc = make_pairing(&p[(*count)++], o, &w->list[j], base, i, list, e);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static void close_workloads(struct workloads *w)
{
    workloads_release(w);
}

static int compare(struct compare_options *o, const struct report_ops *ops, struct err *e)
{
    struct systems *s = &o->systems;
    struct workloads w CLEANUP(close_workloads) = {0};
    size_t base, count = 0;
    int rc = systems_open(s, e);
    if (rc == 0)
        rc = systems_find(s, o->base, &base, e);
    if (rc == 0)
        rc = workloads_open(&w, s, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct pairing *pairings = calloc(s->count * w.count, sizeof *pairings);
    if (!pairings)
        return err_sys(e, ENOMEM, "cannot compare %zu systems", s->count);
    rc = make_pairings(pairings, &count, o, &w, base, e);
    if (rc == 0) {
        const struct report r = {pairings, count};
        rc = write_report(&r, ops, o->output, e);
    }
    for (size_t i = 0; i < count; i++) {
        comparison_release(&pairings[i].comparison);
        flags_release(&pairings[i].flags);
    }
    return rc;
}

static int run(int argc, char **argv)
{
    CLEANUP_FREE struct compare_options *o = calloc(1, sizeof *o);
    struct err e = {0};
    if (!o)
        return verb_exit(&spec, err_sys(&e, ENOMEM, "cannot start"), &e);
    *o = (struct compare_options){
            .format = "csv", .margin_pct = 5, .comparison = {.confidence = 0.95, .seed = 1}};
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, o, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    const struct report_ops *ops = report_find(o->format);
    if (!ops)
        return verb_usage(&spec, "--format: the only format is csv");
    if (o->systems.count < 2)
        return verb_usage(&spec, "nothing to compare with: two systems are needed");
    if (!(o->comparison.confidence > 0 && o->comparison.confidence < 1))
        return verb_usage(&spec, "--confidence: not between 0 and 1");
    if (!(o->margin_pct >= 0 && o->margin_pct <= 1000))
        return verb_usage(&spec, "--margin: not between 0 and 1000 percent");
    o->comparison.margin = o->margin_pct / 100;
    int rc = compare(o, ops, &e);
    systems_release(&o->systems);
    return verb_exit(&spec, rc, &e);
}

const struct verb verb_compare = {.name = "compare", .spec = &spec, .run = run};
