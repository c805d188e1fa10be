/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Foreign traces become tapes. One file in import/ for each format, one line in IMPORTS.
 */
#ifndef IOTAPE_IMPORT_H
#define IOTAPE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/import/import_out.h"
#include "formats/import/input.h"

#define IMPORTS(X)                                                                                           \
    X(blktrace)                                                                                              \
    X(blkparse)                                                                                              \
    X(fio_iolog)                                                                                             \
    X(spc) X(msr) X(alibaba) X(tencent) X(cloudphysics) X(vscsistats) X(export_csv) X(tape) X(pcap)

#define IMPORT_WINDOW     16384 /* records that are sorted at once, where not told otherwise */
#define IMPORT_WINDOW_MAX (1 << 24)

struct import_options {
    bool skip_bad;         /* count what cannot be read and go on */
    bool keep_names;       /* keep names of processes, hosts and files */
    bool scrub;            /* of a tape: take out what is personal */
    bool label_given;      /* the label is not one that we made */
    uint64_t time_unit_ns; /* of fio's iolog; 0: not told, as fio writes it */
    uint64_t lba_bytes;    /* unit of SPC's LBA; 0: 512 */
    uint64_t window;       /* records; 0: IMPORT_WINDOW */
    struct import_part part;
    uint64_t pause_ns;          /* of conversations: what ends a send */
    uint64_t size_bucket_bytes; /* of conversations: round sizes up to multiples; 0: do not */
    struct input *standard;     /* what import_find has read of standard input; NULL: nothing */
};

static inline uint64_t import_window(const struct import_options *o)
{
    return o->window ? o->window : IMPORT_WINDOW;
}

struct import_ops {
    const char *name;   /* for --format */
    const char *help;   /* one line */
    bool conversations; /* its tapes hold conversations, which pause_ns and size_bucket_bytes are for */
    /* Says whether the file's first bytes (at most 4096, unpacked) look like this format. */
    bool (*probe)(const uint8_t *head, size_t len);
    /* Says whether a path that does not exist or is empty stands for files of this format (a base name, the
     * file of an idle CPU). May be NULL. */
    bool (*stands_for)(const char *path);
    /* Reads all of `paths` (all of this format; "-" is standard input) into `out`: streams, issuers, records
     * in order of time, and the trace's length. Errors name file and line or byte. The caller finishes or
     * discards the tape. */
    int (*read)(const char *const *paths, size_t count, const struct import_options *opts,
            struct import_out *out, struct err *e);
};

#define IMPORT_DECLARE(name) extern const struct import_ops import_##name;
IMPORTS(IMPORT_DECLARE)
#undef IMPORT_DECLARE

extern const struct import_ops *const import_list[]; /* NULL-terminated */

/* The format of a file, by name or (format NULL) by content. -EINVAL where none fits, with a text that lists
 * what is known, or where several do, with one that names them. What is read of standard input stays in
 * *standard, which the caller zeroes before and releases in the end. */
int import_find(const char *path, const char *format, struct input *standard, const struct import_ops **ops,
        struct err *e);

/* -EBADMSG: --skip-bad has left out more for their times' sake than it has kept, as it does where only the
 * first time is absurd. */
int import_untimely(const char *path, uint64_t count, struct err *e);

#endif
