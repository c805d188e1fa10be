/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/import.h"
#include "formats/net_assemble.h"
#include "record/options.h"

/* All files of one import have one format: what blktrace wrote for each CPU, for example. */
static int find_format(
        const struct options *o, struct input *standard, const struct import_ops **ops, struct err *e)
{
    size_t standards = 0;
    for (size_t i = 0; i < o->files.count; i++) {
        const struct import_ops *found;
        standards += strcmp(o->files.list[i], "-") == 0;
        if (standards > 1)
            return err_set(e, EINVAL, "'-' is given twice: standard input can be read only once");
        int status = import_find(o->files.list[i], o->format, standard, &found, e);
        if (status < 0)
            return status;
        if (i > 0 && found != *ops)
            return err_set(e, EINVAL, "'%s' is %s, but '%s' is %s: import them into one tape each",
                    o->files.list[0], (*ops)->name, o->files.list[i], found->name);
        *ops = found;
    }
    return 0;
}

static int open_out(const struct options *o, const struct import_ops *ops, const struct import_options *how,
        struct import_out **out, struct err *e)
{
    struct tape_info info CLEANUP(tape_info_release) = {.label = options_label(o)};
    int status = info.label ? 0 : err_sys(e, ENOMEM, "cannot import");
    if (status == 0)
        status = facts_set(&info.options, e, "source", "import %s", ops->name);
    if (status == 0 && o->keep_names)
        status = facts_set(&info.options, e, "keep_names", "yes");
    const struct net_assembler_options net = {how->pause_ns, how->size_bucket_bytes, o->keep_names};
    if (status == 0 && ops->conversations)
        status = net_assembler_describe(&net, &info.options, e);
    if (status == 0)
        status = import_out_open(out, o->output, &info, &how->part, e);
    return status;
}

static int scrub_check(const struct options *o, const struct import_ops *ops, struct err *e)
{
    if (o->import.scrub && ops != &import_tape)
        return err_set(e, EINVAL,
                "--scrub cleans tapes of our own; '%s' is %s, whose names are pseudonyms without "
                "--keep-names",
                o->files.list[0], ops->name);
    return 0;
}

static void cleanup_out(struct import_out **out)
{
    import_out_close(*out);
}

int import_files(const struct options *o, struct err *e)
{
    CLEANUP(input_release) struct input standard = {0};
    CLEANUP(cleanup_out) struct import_out *out = NULL;
    struct import_options how = o->import;
    struct import_summary sum;
    const struct import_ops *ops = NULL;
    int status = find_format(o, &standard, &ops, e);
    how.standard = &standard;
    how.keep_names = o->keep_names;
    how.pause_ns = o->pause_ns ? o->pause_ns : NET_PAUSE_NS;
    how.size_bucket_bytes = o->size_bucket_bytes;
    how.label_given = o->label != NULL;
    how.part = (struct import_part){o->only.list, o->only.count, o->from_ns, o->for_ns};
    if (status == 0)
        status = scrub_check(o, ops, e);
    if (status == 0 && !ops->conversations && (o->pause_ns || o->size_bucket_bytes))
        status =
                err_set(e, EINVAL, "--pause and --size-bucket are for conversations: %s has none", ops->name);
    if (status == 0)
        status = open_out(o, ops, &how, &out, e);
    if (status == 0)
        status = ops->read(o->files.list, o->files.count, &how, out, e);
    if (status == 0)
        status = import_out_finish(out, "import", &sum, e);
    if (status < 0)
        return status;
    char size[UNITS_TEXT_BYTES], length[UNITS_TEXT_BYTES];
    if (sum.note[0])
        fprintf(stderr, "%s: note: %s\n", o->output, sum.note);
    bool talks = ops->conversations || (!sum.records && sum.conversations);
    fprintf(stderr, "%s: imported %" PRIu64 " %s in %s (%s), %s\n", o->output,
            talks ? sum.conversations : sum.records, talks ? "conversations" : "I/Os",
            units_duration(sum.elapsed_ns, length), ops->name, units_size(sum.bytes, size));
    return 0;
}
