/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/lateness.h"

#include <math.h>

/* Values below 2 * SUB have a bucket each; then each power of two has SUB of them. */
static unsigned bucket_of(uint64_t ns)
{
    if (ns < 2 * LATENESS_SUB)
        return (unsigned)ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - 6;
    return shift * LATENESS_SUB + (unsigned)(ns >> shift);
}

static uint64_t bucket_last(unsigned bucket)
{
    if (bucket < 2 * LATENESS_SUB)
        return bucket;
    unsigned shift = bucket / LATENESS_SUB - 1;
    return ((uint64_t)(bucket - shift * LATENESS_SUB + 1) << shift) - 1;
}

void lateness_add(struct lateness *l, uint64_t ns)
{
    l->bucket[bucket_of(ns)]++;
    l->count++;
    if (ns > l->max_ns)
        l->max_ns = ns;
}

uint64_t lateness_percentile_ns(const struct lateness *l, double fraction)
{
    uint64_t rank = (uint64_t)ceil(fraction * (double)l->count);
    uint64_t below = 0;
    for (unsigned b = 0; b < LATENESS_BUCKETS && l->count; b++) {
        below += l->bucket[b];
        if (below >= rank && below)
            return bucket_last(b) < l->max_ns ? bucket_last(b) : l->max_ns;
    }
    return l->max_ns;
}
