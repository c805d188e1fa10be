/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The disks of a recording: from what was named on the command line to devices.
 */
#ifndef IOTAPE_DISKS_H
#define IOTAPE_DISKS_H

#include <stddef.h>

#include "formats/base/err.h"
#include "record/source.h"

/* Finds out what `path` is: a block device, or a symbolic link to one. -ENOTBLK and others. */
int disks_find(const char *path, struct source_target *target, struct err *e);

#endif
