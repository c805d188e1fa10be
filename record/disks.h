/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The devices of a recording.
 */
#ifndef IOTAPE_DISKS_H
#define IOTAPE_DISKS_H

#include <stddef.h>

#include "formats/base/err.h"
#include "record/source.h"

/* What is to be known of block device `dev`, for the sake of `path`. -ENXIO: there is none. */
int disks_find(dev_t dev, const char *path, struct source_target *target, struct err *e);

#endif
