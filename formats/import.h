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
#include "formats/tape.h"

#define IMPORTS(X) X(blktrace) X(fio_iolog)

struct import_options {
    bool skip_bad;      /* count what cannot be read and go on */
    bool keep_names;    /* keep process names */
};

struct import_ops {
    const char *name; /* for --format */
    const char *help; /* one line */
    /* Says whether the file's first bytes (at most 4096) look like this format. */
    bool (*probe)(const uint8_t *head, size_t len);
    /* Says whether a path that does not exist or is empty stands for files of this format (a base name, the
     * file of an idle CPU). May be NULL. */
    bool (*stands_for)(const char *path);
    /* Reads all of `paths` (all of this format) into `w`: streams, issuers, records in order of time. Errors name
     * file and line or byte. The caller finishes or discards the tape. *elapsed_ns is the trace's length. */
    int (*read)(const char *const *paths, size_t count, const struct import_options *opts,
            struct tape_writer *w, uint64_t *elapsed_ns, struct err *e);
};

extern const struct import_ops *const import_list[]; /* NULL-terminated */

/* The format of a file, by name or (format NULL) by content. Where none fits: -EINVAL with a text that
 * lists what is known. */
int import_find(const char *path, const char *format, const struct import_ops **ops, struct err *e);

#endif
