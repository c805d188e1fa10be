/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Taking out of a tape what is personal, before it is published. What is known to be harmless stays; all else
 * goes: facts under other keys, and those whose values look like a path, an IQN or a WWN. The keyed hash of
 * the disk stays: without it nothing would keep a replay off the recorded disk.
 */
#ifndef IOTAPE_SCRUB_H
#define IOTAPE_SCRUB_H

#include "formats/base/err.h"
#include "formats/tape.h"

/* Host and options of a recording. The label is the caller's. */
int scrub_info(struct tape_info *i, struct err *e);

/* `number` counts from 1 and names the stream. */
int scrub_stream(struct tape_stream *s, size_t number, struct err *e);

#endif
