/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the order of completion to the order of arrival. Completed I/Os are put in as they come and wait
 * until a watermark says that nothing older can come any more; then they go out, sorted.
 */
#ifndef IOTAPE_RELEASE_H
#define IOTAPE_RELEASE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "record/source.h"

struct release;

int release_open(struct release **r, struct err *e);
/* No more than `max` I/Os wait at once; without this as many as there is memory for. */
void release_limit(struct release *r, size_t max);
void release_close(struct release *r); /* NULL is allowed */

/* Takes a copy of `c`. 1; or 0 where it is older than the last watermark, or finds no room, and can only be
 * counted as lost; or -ENOMEM. */
int release_put(struct release *r, const struct captured *c, struct err *e);

/* Passes on what arrived before `watermark_ns`, in the order of arrival (that of putting where times are
 * equal), and what `out` is done with is gone. A watermark below the last one changes nothing. */
int release_until(struct release *r, uint64_t watermark_ns, const struct source_sink *out, struct err *e);

/* I/Os that wait. Memory is 88 bytes for each of the most that ever waited. */
size_t release_waiting(const struct release *r);

#endif
