/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Percentiles of times in bounded memory: a histogram whose buckets are at most 1/64 wide, relatively, as in
 * HdrHistogram (http://hdrhistogram.org). Below 128 ns it is exact.
 */
#ifndef IOTAPE_LATENESS_H
#define IOTAPE_LATENESS_H

#include <stdint.h>

#define LATENESS_SUB     64
#define LATENESS_BUCKETS (59 * LATENESS_SUB)

/* Zero-initialised is empty and valid. */
struct lateness {
    uint64_t count, max_ns;
    uint64_t bucket[LATENESS_BUCKETS];
};

void lateness_add(struct lateness *l, uint64_t ns);
/* The smallest bucket's upper end that `fraction` (0 to 1) of all lie at or below, never above the largest; 0
 * for none. */
uint64_t lateness_percentile_ns(const struct lateness *l, double fraction);

#endif
