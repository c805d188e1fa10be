/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Live capture of conversations on network interfaces, beside the block I/O of the same recording.
 *
 * One clock. The kernel stamps packets by CLOCK_REALTIME; block I/O is stamped by CLOCK_MONOTONIC, which a
 * tape's t = 0 is on. The distance of the two is measured at every step, between two readings of the one, and
 * a stamp is converted with the measurement that follows its arrival: an error of half of what the readings
 * take (about 100 ns), and of what the clock was slewed by in one step (at most 500 ppm of 100 ms: 50 us), or
 * stepped. The largest of both that was seen stands in the tape as the count `net_clock_error_ns`.
 */
#ifndef IOTAPE_SOURCE_NET_H
#define IOTAPE_SOURCE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/net_assemble.h"
#include "formats/tape.h"

struct net_source;

struct net_spec {
    char *interface; /* NAME[:FILTER] */
    char *name;      /* of the stream; NULL: the interface's */
};

/* Begins to capture. `specs` and `options` are borrowed. */
int net_source_open(struct net_source **s, const struct net_spec *specs, size_t count,
        const struct net_assembler_options *options, struct err *e);

/* t = 0 is `start_ns` of CLOCK_MONOTONIC; packets before it are left out. Adds a stream for each interface.
 * `w` is borrowed. */
int net_source_begin(struct net_source *s, uint64_t start_ns, struct tape_writer *w, struct err *e);

/* Takes what has come, and writes what can be written. To be called every NET_SOURCE_STEP_NS. */
#define NET_SOURCE_STEP_NS UINT64_C(20000000)
int net_source_step(struct net_source *s, struct err *e);

/* Takes what came up to `end_ns` since the start, and writes all. */
int net_source_finish(struct net_source *s, uint64_t end_ns, struct err *e);

/* Ends the tape and goes on with `next`, whose t = 0 is *cut_ns since the start (0: what has been written up
 * to now, which then is stored there). Conversations that are under way are cut, and begin again in `next` as
 * those that a recording meets under way. *end_ns, not below *cut_ns: what the tape goes up to; `next` begins
 * with what came after that. */
int net_source_cut(
        struct net_source *s, uint64_t *cut_ns, uint64_t *end_ns, struct tape_writer *next, struct err *e);

/* While it records: one interface more, a stream of the tape from now on. */
int net_source_join(struct net_source *s, const struct net_spec *spec, struct err *e);

/* The stream of this interface ends at `t_ns` since the start. False: there is no such one any more. */
bool net_source_leave(struct net_source *s, const char *interface, uint64_t t_ns);

/* Whether all interfaces left. One that is removed from the host leaves by itself, which is said on standard
 * error; one that is down only has nothing to say. Either way "left_ns.NAME" is counted in the tape. */
bool net_source_left(const struct net_source *s);

/* Packets taken, and those that the kernel dropped. */
uint64_t net_source_packets(const struct net_source *s);
uint64_t net_source_dropped(const struct net_source *s);

void net_source_close(struct net_source *s); /* NULL is allowed */

#endif
