/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Exact percentiles of very many values in little memory: the values are shown several times, in any
 * order, and each pass narrows where a wanted one lies by at least 15 bits, until the values that are left
 * fit a small list.
 *
 * A percentile is the nearest-rank one: of n values in ascending order the one at rank ceil(q n), counted
 * from 1 (R's quantile type 1; Hyndman, Fan, Am. Stat. 50 (1996) 361). It is always a value that occurred.
 *
 *     select_open(&s, q, count, e);
 *     do
 *         for each value: select_add(s, value);
 *     while (select_next(s));
 *
 * Two passes; at most five where more than 65,536 values lie as near to a percentile above 2^27 as a
 * thousandth of it.
 */
#ifndef IOTAPE_SELECT_H
#define IOTAPE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define SELECT_MAX 8 /* percentiles at once */

struct select;

/* `q` has `count` (at most SELECT_MAX) fractions in (0, 1]. Takes 0.5 MiB and 0.5 MiB for each of them.
 * -ENOMEM, -EINVAL. */
int select_open(struct select **s, const double *q, size_t count, struct err *e);
void select_close(struct select *s); /* NULL is allowed */
/* Forgets all values. */
void select_reset(struct select *s);

void select_add_many(struct select *s, const uint64_t *values, size_t count);
static inline void select_add(struct select *s, uint64_t value)
{
    select_add_many(s, &value, 1);
}
/* Ends a pass. True: all values must be shown once more. */
bool select_next(struct select *s);

/* Number of values. */
uint64_t select_count(const struct select *s);
/* Percentile `i`, after select_next returned false; 0 where there were no values. */
uint64_t select_value(const struct select *s, size_t i);

/* Least number of values for percentile q to mean anything: so many that with 95 % probability at least
 * one of them lies beyond the true percentile, the least n with 1 - q^n >= 0.95: 5 for the median, 59 for
 * p95, 299 for p99, 2,995 for p99.9 (S. S. Wilks, Ann. Math. Stat. 12 (1941) 91). 1 for q = 0 and for q = 1.
 */
uint64_t select_least(double q);

#endif
