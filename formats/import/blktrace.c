/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blktrace's binary files: read and merged by time, sorted within a window, matched into I/Os.
 */
#include "formats/base/cleanup.h"
#include "formats/import/blktrace_pump.h"

static void cleanup_input(struct bt_input **in)
{
    bt_input_close(*in);
}

static int next(void *self, struct bt_event *ev, struct err *e)
{
    return bt_input_next(self, ev, e);
}

static int blame(void *self, const struct bt_event *ev, struct err *e)
{
    return bt_input_blame(self, ev, e);
}

static int trace_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    CLEANUP(cleanup_input) struct bt_input *in = NULL;
    uint64_t skipped = 0, disorder = 0;
    int rc = bt_input_open(&in, paths, count, opts->skip_bad, opts->standard, e);

    if (!rc)
        rc = bt_pump(&(struct bt_events){in, next, blame}, paths[0], opts, out, &skipped, &disorder, e);
    if (rc)
        return rc;
    /* Merging hides from the sorter what one file alone has in disorder. */
    disorder = bt_input_disorder(in);
    if (bt_input_bad(in) + skipped)
        import_out_count(out, "bad", bt_input_bad(in) + skipped);
    if (disorder)
        import_out_count(out, "out_of_order", disorder);
    return 0;
}

const struct import_ops import_blktrace = {
        .name = "blktrace",
        .help = "blktrace's binary files, versions 7 and 8 (NAME.blktrace.0 or NAME stands for all CPUs' "
                "files)",
        .probe = bt_input_probe,
        .stands_for = bt_input_stands_for,
        .read = trace_read,
};
