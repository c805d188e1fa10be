/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether a side's repetitions count, whether they were faithful to the tape, and whether the host was
 * disturbed: what stands in `flags`. Thresholds are in fidelity.c, and in the man page.
 */
#ifndef IOTAPE_FIDELITY_H
#define IOTAPE_FIDELITY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/metrics.h"
#include "analyze/source.h"
#include "formats/base/err.h"

/* Short texts joined by '|'. Zero-initialised is empty. */
struct flags {
    char *text; /* owned; NULL for none */
};
int flags_add(struct flags *f, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void flags_release(struct flags *f);

/* Why a repetition is not counted; NULL where it is. */
const char *left_out(const struct result *r, enum tape_kind kind);

/* Adds what is to be said of all of a side's sources, each text with `side` and ':' before it. */
int fidelity_flags(struct flags *f, const char *side, const struct source *const *sources, size_t count,
        enum timing timing, struct err *e);

/* More than 1 % of the records more than 1 ms behind their schedule. */
bool fidelity_behind(const struct run_repetition *r);

#endif
