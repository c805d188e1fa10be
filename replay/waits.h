/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * `closed`: which record may be issued when. Each group (formats/depend.h) has its records in order; the
 * first of them is ready when the group has had as many completions as its watermark says and its think time
 * has passed since the completion that reached it. Groups do not wait for each other.
 *
 * A watermark bounds the I/Os in flight, and a bound that is met at every record makes their mean smaller
 * than at the recording: wherever latencies vary, some record waits for one that ended earlier then, and
 * nothing gives the time back (simulated with the very latencies of a recording in another order: 1.1 to 2.7
 * times its length). So what a group falls short of its recorded depth is kept as a balance, and as long as
 * there is one, its records may be issued that many completions ahead of their watermark: at most twice as
 * many I/Os then are in flight as at that place of the recording, and never more than there were at any place
 * before. A record that nothing was in flight with waits for its watermark as ever, and so does every one of
 * a group of depth one or of constant depth.
 */
#ifndef IOTAPE_WAITS_H
#define IOTAPE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/work.h"

struct waits;

/* Times are ns since the repetition's start. Blocks are those of `pool`. */
int waits_open(struct waits **ws, struct work_pool *pool, struct err *e);
void waits_close(struct waits *ws); /* NULL is allowed */

/* Appends record `i` of a block to its group. -ENOMEM. */
int waits_add(struct waits *ws, struct work *w, uint32_t i, struct err *e);

/* The record that is ready first, and when; false where all wait for completions (or there are none). */
bool waits_first(const struct waits *ws, struct work **w, uint32_t *i, uint64_t *ready_ns);
/* Takes that record off. */
void waits_take(struct waits *ws);

/* A counting record of the group completed. -ENOMEM. */
int waits_completed(struct waits *ws, uint32_t group, uint64_t at_ns, struct err *e);

/* Says what part of the time in flight is the replay's own (own_share): I/Os on their way count as so much
 * less than those of the recording, which were in the block layer. */
void waits_own(struct waits *ws, double share);

/* With how many others in flight the latest records arrived at the recording: a moving mean. */
double waits_recorded_depth(const struct waits *ws);

/* Records that were added and not taken. */
uint64_t waits_pending(const struct waits *ws);
/* Whether some group that has been seen has no record left here: it may be held up by too short a view ahead.
 */
bool waits_idle_group(const struct waits *ws);

#endif
