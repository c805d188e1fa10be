/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rule of dependence: what each block record waited for when it was recorded. A record waits for a
 * watermark, the number of I/Os of its group that had completed when it arrived, and then for its think
 * time, what passed between the completion that reached the watermark and its arrival.
 *
 * Only records with a known latency complete, in the tape and in a replay: others count nowhere, so that
 * a watermark never exceeds what earlier records of the group can reach. Completions at the very time
 * of an arrival count as before it. Memory is O(I/Os in flight) for each group.
 */
#ifndef IOTAPE_DEPEND_H
#define IOTAPE_DEPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"

/* What belongs together: all of a stream (a VM's I/O hops between threads), or all of an issuer. */
enum depend_group { DEPEND_STREAM, DEPEND_ISSUER };

struct depend_wait {
    uint32_t group;     /* dense, from 0, in order of appearance */
    bool counts;        /* its completion advances the group's count */
    uint64_t watermark; /* completions of the group to wait for */
    uint64_t think_ns;  /* after the completion that reached it; after the start where watermark is 0 */
};

struct depend;

/* `start_ns` is the time of the tape that counts as the start (of a replayed part: --from). */
int depend_open(struct depend **d, enum depend_group group, uint64_t start_ns, struct err *e);
void depend_close(struct depend *d);

/* Takes records in tape order (t_ns not below start_ns) and says what each waits for. -ENOMEM, or
 * -EINVAL for a stream or issuer not below TAPE_ISSUERS_MAX. */
int depend_next(struct depend *d, const struct block_record *r, struct depend_wait *wait, struct err *e);

uint32_t depend_group_count(const struct depend *d);

/* Most I/Os in flight at once so far, all groups together. */
uint64_t depend_depth_max(const struct depend *d);

/* How long a replay of what was taken so far lasts on a target of zero latency: records of a group are
 * issued in order, each at max(issue of the one before, completion that reached its watermark + think),
 * and complete at once. The largest over all groups, in ns since the start. */
uint64_t depend_zero_latency_ns(const struct depend *d);

#endif
