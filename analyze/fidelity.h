/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether a side's repetitions count, whether they were faithful to the tape, and whether the host was
 * disturbed: what stands in `flags`. Thresholds are in fidelity.c, and in the man page.
 */
#ifndef IOTAPE_FIDELITY_H
#define IOTAPE_FIDELITY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/flags.h"
#include "analyze/metrics.h"
#include "analyze/source.h"
#include "formats/base/err.h"

/* Why a repetition is not counted; NULL where it is. */
const char *left_out(const struct result *r, enum tape_kind kind);

/* What a server of another host (nfs, iscsi, nbd) is assumed to cache at least, since it does not say. */
#define FIDELITY_SERVER_CACHE_BYTES (UINT64_C(32) << 30)

/* Adds what is to be said of all of a side's sources, each text with `side` and ':' before it. A working set
 * is small that is below `cache_bytes`, or, where that is 0, below the replaying host's memory or what a
 * server likely has. */
int fidelity_flags(struct flags *f, const char *side, const struct source *const *sources, size_t count,
        enum timing timing, uint64_t cache_bytes, struct err *e);

/* More than 1 % of the records more than 1 ms behind their schedule. */
bool fidelity_behind(const struct run_repetition *r);

#endif
