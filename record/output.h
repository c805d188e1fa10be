/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a new tape may take the place of.
 */
#ifndef IOTAPE_OUTPUT_H
#define IOTAPE_OUTPUT_H

#include "formats/base/err.h"

/* 0 where nothing is at `path`, or an empty file, or a tape; else -errno, so that a slip of the hand costs
 * nobody a file: the finished tape is renamed over what is there, be it the trace that is imported. */
int output_check(const char *path, struct err *e);

#endif
