/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/units.h"
#include "formats/import.h"
#include "record/options.h"

/* All files of one import have one format: what blktrace wrote for each CPU, for example. */
static int find_format(const struct options *o, const struct import_ops **ops, struct err *e)
{
    for (size_t i = 0; i < o->files.count; i++) {
        const struct import_ops *found;
        int status = import_find(o->files.list[i], o->format, &found, e);
        if (status < 0)
            return status;
        if (i > 0 && found != *ops)
            return err_set(e, EINVAL, "'%s' is %s, but '%s' is %s: import them into one tape each",
                    o->files.list[0], (*ops)->name, o->files.list[i], found->name);
        *ops = found;
    }
    return 0;
}

static int open_tape(
        const struct options *o, const struct import_ops *ops, struct tape_writer **w, struct err *e)
{
    struct tape_info info = {.label = options_label(o)};
    int status = info.label ? 0 : err_sys(e, ENOMEM, "cannot import");
    if (status == 0)
        status = facts_set(&info.options, e, "source", "import %s", ops->name);
    if (status == 0 && o->keep_names)
        status = facts_set(&info.options, e, "keep_names", "yes");
    if (status == 0)
        status = tape_writer_open(w, o->output, &info, e);
    tape_info_release(&info);
    return status;
}

int import_files(const struct options *o, struct err *e)
{
    const struct import_ops *ops = NULL;
    struct tape_writer *w;
    int status = find_format(o, &ops, e);
    if (status == 0)
        status = open_tape(o, ops, &w, e);
    if (status < 0)
        return status;
    const struct import_options how = {.skip_bad = o->skip_bad, .keep_names = o->keep_names};
    uint64_t elapsed_ns = 0;
    status = ops->read(o->files.list, o->files.count, &how, w, &elapsed_ns, e);
    uint64_t records = tape_writer_records(w);
    if (status == 0)
        status = tape_writer_finish(w, "import", elapsed_ns, e);
    uint64_t bytes = tape_writer_bytes(w);
    tape_writer_close(w, status < 0);
    if (status < 0)
        return status;
    char size[UNITS_TEXT_BYTES], length[UNITS_TEXT_BYTES];
    fprintf(stderr, "%s: imported %" PRIu64 " I/Os in %s (%s), %s\n", o->output, records,
            units_duration(elapsed_ns, length), ops->name, units_size(bytes, size));
    return 0;
}
