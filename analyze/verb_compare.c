/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Where a file that is not there yet would be; NULL where that cannot be said. */
static char *place_of(const char *path)
{
    CLEANUP_FREE char *for_dir = strdup(path), *for_name = strdup(path);
    CLEANUP_FREE char *dir = for_dir ? realpath(dirname(for_dir), NULL) : NULL;
    char *place;
    if (!dir || !for_name || asprintf(&place, "%s/%s", dir, basename(for_name)) < 0)
        return NULL;
    return place;
}

/* Whether both paths (NULL: none) name one regular file, or would. */
static bool same_file(const char *a, const char *b)
{
    struct stat at, bt;
    if (!a || !b)
        return false;
    bool a_there = stat(a, &at) == 0, b_there = stat(b, &bt) == 0;
    if (a_there && b_there)
        return S_ISREG(at.st_mode) && at.st_dev == bt.st_dev && at.st_ino == bt.st_ino;
    CLEANUP_FREE char *a_place = place_of(a), *b_place = place_of(b);
    return a_there == b_there && a_place && b_place && strcmp(a_place, b_place) == 0;
}

/* One file for two outputs would keep only one; an output must not take the place of an input. */
static int check_outputs(const struct compare_options *o, struct err *e)
{
    const char *const paths[OUTPUTS] = {o->output, o->raw, o->context};
    const struct systems *s = &o->compare.systems;
    int rc = 0;
    for (size_t i = 0; i < OUTPUTS; i++) {
        for (size_t j = 0; j < i; j++)
            if (same_file(paths[i], paths[j]))
                return err_set(e, EINVAL, "'%s' is given for two outputs", paths[i]);
        for (size_t j = 0; j < s->path_count && rc == 0; j++)
            rc = verb_check_output(s->paths[j], paths[i], e);
    }
    return rc;
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
    const char *wrong = compare_usage(&o->compare);
    if (wrong)
        return verb_usage(&spec, wrong);
    int rc = check_outputs(o, &e);
    if (rc == 0)
        rc = compare_run(&o->compare, &e);
    if (rc == 0)
        rc = write_outputs(o, ops, &e);
    compare_release(&o->compare);
    return verb_exit(&spec, rc, &e);
}

const struct verb verb_compare = {.name = "compare", .spec = &spec, .run = run};
