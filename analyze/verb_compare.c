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

/* The sources of one system or two as a list of pointers. */
static size_t list_sources(const struct systems *s, size_t system, const struct source **list)
{
    for (size_t i = 0; i < s->list[system].count; i++)
        list[i] = &s->sources[s->list[system].first + i];
    return s->list[system].count;
}

/* ---- one candidate against the base ---- */

static void close_side(struct side *side)
{
    free((void *)side->results);
}

/* The counted repetitions of all of a system's files. */
static int make_side(struct side *side, const struct systems *s, size_t system, struct err *e)
{
    const struct source *list[SYSTEMS_FILES_MAX];
    size_t files = list_sources(s, system, list), total = 0;
    for (size_t i = 0; i < files; i++)
        total += list[i]->result_count;
    const struct result **results = calloc(total + 1, sizeof *results);
    *side = (struct side){.name = s->list[system].name, .results = results};
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

static int make_flags(
        struct flags *f, const struct systems *s, size_t base, size_t cand, enum timing timing, struct err *e)
{
    const struct source *list[2 * SYSTEMS_FILES_MAX];
    size_t n_base = list_sources(s, base, list), n_cand = list_sources(s, cand, list + n_base);
    int rc = list[0]->lost ? flags_add(f, e, "tape_lost=%llu", (unsigned long long)list[0]->lost) : 0;
    if (rc == 0)
        rc = fidelity_flags(f, "base", list, n_base, timing, e);
    if (rc == 0)
        rc = fidelity_flags(f, "cand", list + n_base, n_cand, timing, e);
    return rc < 0 ? rc : same_work_differences(list, n_base + n_cand, add_difference, f, e);
}

static int make_pairing(struct pairing *p, const struct compare_options *o, size_t base, size_t cand,
        enum timing timing, struct err *e)
{
    struct side b CLEANUP(close_side) = {0}, c CLEANUP(close_side) = {0};
    p->base = o->systems.list[base].name;
    p->cand = o->systems.list[cand].name;
    int rc = make_side(&b, &o->systems, base, e);
    if (rc == 0)
        rc = make_side(&c, &o->systems, cand, e);
    if (rc == 0)
        rc = comparison_make(&p->comparison, &b, &c, timing, &o->comparison, e);
    return rc < 0 ? rc : make_flags(&p->flags, &o->systems, base, cand, timing, e);
}

/* ---- all of them ---- */

static void close_measure(struct measure **m)
{
    measure_close(*m);
}

static int measure_all(struct systems *s, enum timing *timing, struct err *e)
{
    struct measure *m CLEANUP(close_measure) = NULL;
    const struct source *list[SYSTEMS_FILES_MAX];
    enum depend_group group;
    for (size_t i = 0; i < s->path_count; i++)
        list[i] = &s->sources[i];
    int rc = same_work(list, s->path_count, e);
    if (rc == 0)
        rc = same_work_timing(list, s->path_count, timing, &group, e);
    if (rc == 0)
        rc = measure_open(&m, e);
    for (size_t i = 0; i < s->path_count && rc == 0; i++)
        rc = source_measure(&s->sources[i], m, *timing, group, e);
    return rc;
}

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

/* What people call the workload; a tape without a label by the begin of its identity. */
static const char *workload_name(const struct source *s, char buf[TAPE_IDENTITY_TEXT_BYTES])
{
    if (*s->label)
        return s->label;
    tape_identity_name(&s->identity, buf);
    buf[12] = 0;
    return buf;
}

static int compare(struct compare_options *o, const struct report_ops *ops, struct err *e)
{
    struct systems *s = &o->systems;
    struct pairing pairings[SYSTEMS_MAX] = {0};
    char identity[TAPE_IDENTITY_TEXT_BYTES];
    enum timing timing;
    size_t base, count = 0;
    int rc = systems_open(s, e);
    if (rc == 0)
        rc = systems_find(s, o->base, &base, e);
    if (rc == 0)
        rc = measure_all(s, &timing, e);
    for (size_t i = 0; i < s->count && rc == 0; i++)
        if (i != base)
            rc = make_pairing(&pairings[count++], o, base, i, timing, e);
    if (rc == 0) {
        const struct report r = {workload_name(s->sources, identity), pairings, count};
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
