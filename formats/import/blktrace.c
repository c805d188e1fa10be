/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blktrace's binary files: read and merged by time, sorted within a window, matched into I/Os.
 */
#include <errno.h>
#include <inttypes.h>

#include "formats/base/cleanup.h"
#include "formats/import.h"
#include "formats/import/blktrace_match.h"
#include "formats/import/blktrace_read.h"
#include "formats/import/sorter.h"

#define WINDOW 16384 /* events; those of a CPU that was interrupted are a few places out of order */

struct trace_import {
    struct bt_input *in;
    struct sorter *sorter;
    struct bt_matcher *matcher;
    bool skip_bad;
    uint64_t skipped;
};

static void trace_release(struct trace_import *t)
{
    bt_input_close(t->in);
    sorter_close(t->sorter);
    bt_matcher_close(t->matcher);
}

/* An event's error names its file and byte, or is counted. */
static int refuse(struct trace_import *t, const struct bt_event *ev, struct err *bad, struct err *e)
{
    if (bad->code == EBADMSG && t->skip_bad) {
        t->skipped++;
        return 0;
    }
    if (bad->code == EBADMSG)
        bt_input_blame(t->in, ev, bad);
    if (e)
        *e = *bad;
    return -bad->code;
}

/* 1, 0 where the sorter is empty, or -errno. */
static int match_one(struct trace_import *t, struct err *e)
{
    struct err bad = {0};
    struct bt_event ev;
    int rc;

    if (!sorter_pop(t->sorter, &ev))
        return 0;
    if (bt_matcher_take(t->matcher, &ev, &bad) == 0)
        return 1;
    rc = refuse(t, &ev, &bad, e);
    return rc ? rc : 1;
}

static int read_all(struct trace_import *t, struct err *e)
{
    struct bt_event ev;
    int rc;

    while ((rc = bt_input_next(t->in, &ev, e)) > 0) {
        struct err bad = {0};
        if (sorter_full(t->sorter) && (rc = match_one(t, e)) < 0)
            return rc;
        if (sorter_push(t->sorter, ev.t_ns, &ev, &bad) == 0)
            continue;
        rc = refuse(t, &ev, &bad, e);
        if (rc)
            return rc;
    }
    while (rc == 0 && (rc = match_one(t, e)) > 0)
        rc = 0;
    return rc;
}

static int trace_finish(
        struct trace_import *t, const char *path, struct tape_writer *w, uint64_t *elapsed_ns, struct err *e)
{
    uint64_t records, bad = bt_input_bad(t->in) + t->skipped, disorder = bt_input_disorder(t->in);
    int rc = bt_matcher_finish(t->matcher, &records, elapsed_ns, e);

    if (rc)
        return rc;
    if (!records)
        return err_set(e, EINVAL, "'%s': there is no I/O in the trace", path);
    if (bad)
        tape_writer_count(w, "bad", bad);
    if (disorder)
        tape_writer_count(w, "out_of_order", disorder);
    return 0;
}

static int trace_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct tape_writer *w, uint64_t *elapsed_ns, struct err *e)
{
    CLEANUP(trace_release) struct trace_import t = {.skip_bad = opts->skip_bad};
    int rc = bt_input_open(&t.in, paths, count, opts->skip_bad, e);

    if (!rc)
        rc = sorter_open(&t.sorter, sizeof(struct bt_event), WINDOW, e);
    if (!rc)
        rc = bt_matcher_open(&t.matcher, w, opts->keep_names, e);
    if (!rc)
        rc = read_all(&t, e);
    return rc ? rc : trace_finish(&t, paths[0], w, elapsed_ns, e);
}

const struct import_ops import_blktrace = {
        .name = "blktrace",
        .help = "blktrace's binary files, version 7 (NAME.blktrace.0 or NAME stands for all CPUs' files)",
        .probe = bt_input_probe,
        .stands_for = bt_input_stands_for,
        .read = trace_read,
};
