/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/html_report.h"
#include "analyze/verb.h"
#include "formats/base/cleanup.h"

struct report_options {
    struct compare compare; /* first: COMPARE_OPTS */
    const char *tape, *output;
};

#define OPTION(field) offsetof(struct report_options, field)
static const struct opt opts[] = {COMPARE_OPTS,
        {"tape", 't', OPT_STR, OPTION(tape), "TAPE",
                "the recording that was replayed: what the workload is becomes part of the page", NULL, NULL},
        {"output", 'o', OPT_STR, OPTION(output), "FILE",
                "write to FILE, which appears when it is whole, instead of standard output", NULL, NULL},
        {.name = NULL}};

static const char *const sections[] = {"What is in it",
        "One HTML page that needs nothing else and runs nothing: what was asked and the answer in words, the "
        "overhead "
        "table and its plot, percentile curves, timelines, densities and depths, "
        "the profile of the tape, how faithful "
        "the replays were, hosts and what differs between them, and the commands that repeat it. Tables can "
        "be saved "
        "from it as CSV. It suits wide and narrow, light and dark screens, and paper.\n"
        "\n"
        "Paths, names of targets, hosts' descriptions and the command line are in the page: read it before "
        "you publish "
        "it.",
        "Files",
        "As for compare. One system alone makes a page without a comparison. Where a recording is among the "
        "files it "
        "is described, else the one that --tape names.",
        NULL};

static const struct opt_spec spec = {.name = "iotape-analyze report",
        .usage = "[OPTION]... [--tape TAPE] FILE... -o REPORT.html\n[OPTION]... --system NAME FILE... -o "
                 "REPORT.html",
        .summary = "write a page: the comparison, plots, the workload, the hosts",
        .opts = opts,
        .word = compare_word,
        .sections = sections};

static void close_tape(struct tape_reader **r)
{
    tape_reader_close(*r);
}

/* The recording to describe: that of --tape, which must be the one that was replayed, or one among the files.
 */
static int find_tape(const struct report_options *o, const char **path, struct err *e)
{
    const struct source_list *l = &o->compare.systems.sources;
    struct tape_reader *r CLEANUP(close_tape) = NULL;
    *path = o->tape;
    for (size_t i = 0; i < l->count && !*path; i++)
        if (l->list[i].kind == TAPE_KIND_RECORDING)
            *path = l->list[i].path;
    if (!o->tape)
        return 0;
    int rc = tape_reader_open(&r, o->tape, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].kind != TAPE_KIND_NONE &&
                tape_identity_equal(&l->list[i].identity, &tape_reader_totals(r)->identity))
            return 0;
    return err_set(e, EINVAL, "'%s' is not the tape that was replayed: no file has its identity", o->tape);
}

static void free_profile(struct profile **p)
{
    profile_free(*p);
}

static int report(struct report_options *o, char **words, struct err *e)
{
    struct profile *profile CLEANUP(free_profile) = NULL;
    struct html_report r = {.compare = &o->compare, .words = words};
    struct out out;
    int rc = compare_run(&o->compare, e);
    if (rc == 0)
        rc = find_tape(o, &r.tape, e);
    if (rc == 0 && r.tape)
        rc = profile_make(&profile, r.tape, e);
    r.profile = profile;
    for (size_t i = 0; i < o->compare.systems.path_count && rc == 0; i++)
        rc = verb_check_output(o->compare.systems.paths[i], o->output, e);
    if (rc == 0 && r.tape)
        rc = verb_check_output(r.tape, o->output, e);
    if (rc < 0 || (rc = out_open(&out, o->output, e)) < 0)
        return rc;
    rc = html_report_write(&r, &out, e);
    int closed = out_close(&out, rc == 0, rc == 0 ? e : NULL);
    return rc < 0 ? rc : closed;
}

static int run(int argc, char **argv)
{
    CLEANUP_FREE struct report_options *o = calloc(1, sizeof *o);
    CLEANUP_FREE char **words = calloc((size_t)argc + 1, sizeof *words);
    struct err e = {0};
    if (!o || !words)
        return verb_exit(&spec, err_sys(&e, ENOMEM, "cannot start"), &e);
    memcpy(words, argv, (size_t)argc * sizeof *words); /* parsing may change their order */
    compare_init(&o->compare);
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, o, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    if (!o->compare.systems.count)
        return verb_usage(&spec, "no file given");
    const char *wrong = o->compare.systems.count > 1 ? compare_usage(&o->compare) : NULL;
    if (wrong)
        return verb_usage(&spec, wrong);
    int rc = report(o, words, &e);
    compare_release(&o->compare);
    return verb_exit(&spec, rc, &e);
}

const struct verb verb_report = {.name = "report", .spec = &spec, .run = run};
