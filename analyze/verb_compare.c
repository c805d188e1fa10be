/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyze/compare.h"
#include "analyze/compare_help.h"
#include "analyze/report.h"
#include "analyze/verb.h"
#include "formats/base/cleanup.h"

struct compare_options {
    struct compare compare; /* first: COMPARE_OPTS */
    const char *format, *output;
};

#define OPTION(field) offsetof(struct compare_options, field)
static const struct opt opts[] = {COMPARE_OPTS,
        {"format", 'f', OPT_STR, OPTION(format), "FORMAT", "the form to write: csv (the default)", NULL,
                NULL},
        {"output", 'o', OPT_STR, OPTION(output), "FILE",
                "write to FILE, which appears when it is whole, instead of standard output", NULL, NULL},
        {.name = NULL}};

static const struct opt_spec spec = {.name = "iotape-analyze compare",
        .usage = "[OPTION]... RUN|TAPE RUN...\n[OPTION]... --system NAME FILE... --system NAME FILE...",
        .summary = "say what one system costs against another, with intervals and verdicts",
        .opts = opts,
        .word = compare_word,
        .sections = compare_help};

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
        return verb_usage(&spec, "--format: the only format is csv");
    const char *wrong = compare_usage(&o->compare);
    if (wrong)
        return verb_usage(&spec, wrong);
    int rc = compare_run(&o->compare, &e);
    if (rc == 0)
        rc = write_report(&o->compare.report, ops, o->output, &e);
    compare_release(&o->compare);
    return verb_exit(&spec, rc, &e);
}

const struct verb verb_compare = {.name = "compare", .spec = &spec, .run = run};
