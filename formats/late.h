/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Completions that a writer still has to write, and their way into `late` members: each member completes
 * records of exactly one chunk, so that a reader looks at each member once.
 */
#ifndef IOTAPE_LATE_H
#define IOTAPE_LATE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/chunk.h"

struct late {
    uint64_t record, t_ns, latency_ns;
    uint32_t stream;
    uint16_t error;
};

/* Zero-initialised is empty. */
struct late_pending {
    struct late *list;
    size_t count, cap;
};

void late_release(struct late_pending *p);
int late_add(struct late_pending *p, const struct late *l, struct err *e);

/* Brings those that completed up to `until_ns` to the front, in order of records, and returns how many they
 * are. */
size_t late_due(struct late_pending *p, uint64_t until_ns);

/* Copies the first of the list that lie in records first to end - 1 into `c` (at most COLUMNS_COUNT_MAX); at
 * least one does. -EINVAL where a record comes twice. */
int late_take(const struct late *list, size_t count, uint64_t first, uint64_t end, struct late_chunk *c,
        struct err *e);

/* Removes the first `n`. */
void late_drop(struct late_pending *p, size_t n);

#endif
