/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/compare_help.h"
#include "analyze/report_tables.h"
#include "analyze/verb.h"
#include "formats/base/cleanup.h"

struct compare_options {
    struct compare compare; /* first: COMPARE_OPTS */
    const char *format, *output, *raw, *context;
};

#define OPTION(field) offsetof(struct compare_options, field)
static const struct opt opts[] = {COMPARE_OPTS,
        {"format", 'f', OPT_STR, OPTION(format), "FORMAT",
                "csv (the default), markdown, mediawiki, html or json", NULL, NULL},
        {"output", 'o', OPT_STR, OPTION(output), "FILE",
                "write to FILE, which appears when it is whole, instead of standard output", NULL, NULL},
        {"raw", 0, OPT_STR, OPTION(raw), "FILE",
                "also write every repetition of every metric to FILE, as CSV", NULL, NULL},
        {"context", 0, OPT_STR, OPTION(context), "FILE",
                "also write what differs between the sides to FILE, as CSV", NULL, NULL},
        {.name = NULL}};

static const struct opt_spec spec = {.name = "iotape-analyze compare",
        .usage = "[OPTION]... RUN|TAPE RUN...\n[OPTION]... --system NAME FILE... --system NAME FILE...",
        .summary = "say what one system costs against another, with intervals and verdicts",
        .opts = opts,
        .word = compare_word,
        .sections = compare_help};

/* The outputs of one command: all are written, or none is kept. */
enum output { OUTPUT_REPORT, OUTPUT_RAW, OUTPUT_CONTEXT, OUTPUTS };

static int write_output(const struct compare_options *o, enum output which, const struct report_ops *ops,
        struct out *out, struct err *e)
{
    switch (which) {
    case OUTPUT_RAW:
        return report_write_raw(&o->compare, out, e);
    case OUTPUT_CONTEXT:
        return report_write_context(&o->compare.report, out, e);
    default:
        return ops->write(&o->compare.report, out, e);
    }
}

static int write_outputs(const struct compare_options *o, const struct report_ops *ops, struct err *e)
{
    const char *const paths[OUTPUTS] = {o->output, o->raw, o->context};
    struct out outs[OUTPUTS];
    bool open[OUTPUTS] = {false};
    int rc = 0;
    for (enum output i = 0; i < OUTPUTS && rc == 0; i++)
        if (i == OUTPUT_REPORT || paths[i]) {
            rc = out_open(&outs[i], paths[i], e);
            open[i] = rc == 0;
        }
    for (enum output i = 0; i < OUTPUTS && rc == 0; i++)
        if (open[i])
            rc = write_output(o, i, ops, &outs[i], e);
    /* The main one last: where it is there, the others are. */
    for (enum output i = OUTPUTS; i-- > 0;)
        if (open[i]) {
            int closed = out_close(&outs[i], rc == 0, rc == 0 ? e : NULL);
            rc = rc < 0 ? rc : closed;
        }
    return rc;
}

/* One file for two outputs would keep only one. */
static bool is_twice(const struct compare_options *o)
{
    const char *const paths[] = {o->output, o->raw, o->context};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < i; j++)
            if (paths[i] && paths[j] && strcmp(paths[i], paths[j]) == 0)
                return true;
    return false;
}

static int run(int argc, char **argv)
{
    struct err e = {0};
    CLEANUP_FREE struct compare_options *o = calloc(1, sizeof *o);
    if (!o)
        return verb_exit(&spec, err_sys(&e, ENOMEM, "cannot start"), &e);
    compare_init(&o->compare);
    o->format = "csv";
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, o, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    const struct report_ops *ops = report_find(o->format);
    if (!ops)
        return verb_usage(&spec, "--format: there are csv, markdown, mediawiki, html and json");
    if (is_twice(o))
        return verb_usage(&spec, "one file for two outputs");
    const char *wrong = compare_usage(&o->compare);
    if (wrong)
        return verb_usage(&spec, wrong);
    int rc = compare_run(&o->compare, &e);
    if (rc == 0)
        rc = write_outputs(o, ops, &e);
    compare_release(&o->compare);
    return verb_exit(&spec, rc, &e);
}

const struct verb verb_compare = {.name = "compare", .spec = &spec, .run = run};
