/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a file seems to be that holds no result.
 */
#ifndef IOTAPE_HINTS_H
#define IOTAPE_HINTS_H

#include "formats/results/reading.h"

/* Always -EINVAL. */
int hints_refuse(const struct reading *r, struct err *e);

#endif
