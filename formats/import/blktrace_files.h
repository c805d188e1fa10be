/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which files a blktrace consists of: blktrace writes one for each CPU, NAME.blktrace.CPU; people pack them
 * (.gz, .zst, .xz).
 */
#ifndef IOTAPE_BLKTRACE_FILES_H
#define IOTAPE_BLKTRACE_FILES_H

#include <stddef.h>

#include "formats/base/err.h"

#define BT_FILES_MAX 4096

/* Zero-initialised is empty. */
struct bt_files {
    char **list;
    size_t count;
};

/* Adds `path`, and all files of the trace that it belongs to or (where it does not exist itself) is the
 * base name of, in the order of CPU numbers. A file is added once. -ENOENT with a text. */
int bt_files_add(struct bt_files *f, const char *path, struct err *e);
void bt_files_release(struct bt_files *f);

#endif
