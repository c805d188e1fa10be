/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A distribution of numbers that are shown in each pass anew: sums in the first, percentiles in as many as
 * select.h needs.
 */
#ifndef IOTAPE_PROFILE_VALUES_H
#define IOTAPE_PROFILE_VALUES_H

#include "analyze/profile.h"
#include "analyze/select.h"

#define VALUES_AT_ONCE 256 /* a good number for values_add_many */

struct values {
    struct select *select;
    unsigned __int128 sum;
    bool again; /* not the first pass */
};

int values_open(struct values *v, struct err *e);
void values_close(struct values *v);

/* The same numbers in each pass, in any order; `out` begins with zeros. */
void values_add_many(struct values *v, struct profile_values *out, const uint64_t *values, size_t count);
static inline void values_add(struct values *v, struct profile_values *out, uint64_t value)
{
    values_add_many(v, out, &value, 1);
}
/* Ends a pass. True: another is wanted; else `out` is complete. */
bool values_next(struct values *v, struct profile_values *out);

#endif
