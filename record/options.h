/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the command line of iotape-record asked for.
 */
#ifndef IOTAPE_OPTIONS_H
#define IOTAPE_OPTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/import.h"
#include "record/source.h"

/* Words of the command line, in order. */
struct words {
    const char **list; /* owned; the words are argv's */
    size_t count;
};

struct options {
    const char *output, *label, *format;
    const struct source_ops *source;                          /* how to capture */
    struct words disks, image_files, interfaces, files, only; /* files: to import */
    struct words vms, qemu_pids;
    const char *connect;        /* libvirt's URI; NULL: its own choice */
    struct words cgroups, pids; /* whose I/O */
    bool children;              /* and their children's */
    const char *user;           /* whom root becomes; NULL: by the output's folder */
    bool keep_privileges;
    uint64_t from_ns, for_ns, max_bytes, open_max;
    uint64_t memory_bytes;    /* for I/Os that wait; 0: as always */
    uint64_t rotate, save_ns; /* parts that are kept, 0: one tape; what SIGUSR1 saves, 0: all of them */
    uint64_t pause_ns, size_bucket_bytes; /* of conversations; 0: as always, not at all */
    bool keep_names, verbose, is_import;
    struct import_options import; /* what the command line says of them */
    char **command;               /* NULL: none */
    const volatile sig_atomic_t
            *stop; /* 0, or the signal that ended the recording; negative: the terminal's */
};

/* Parses and checks; the outcome as opts_parse gives it (formats/base/opts.h): what is wrong has been said.
 * Keeps `stop` and `source` where nothing else is asked for. All strings point into argv. */
int options_parse(struct options *o, int argc, char **argv);
void options_release(struct options *o);

/* One line on standard error. */
void options_report(const struct err *e);

/* The label of the tape: --label, or the output's name without directory and ".tape". Owned by the caller;
 * NULL: no memory. */
char *options_label(const struct options *o);

/* Records live. *exit_status is what the program is to return where that is 0: the command's. */
int live_record(const struct options *o, int *exit_status, struct err *e);

/* Imports foreign traces. */
int import_files(const struct options *o, struct err *e);

#endif
