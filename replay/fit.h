/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where an I/O of the tape does not fit the target: beyond its end, or not aligned to its sector.
 */
#ifndef IOTAPE_FIT_H
#define IOTAPE_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum fit_policy { FIT_REFUSE, FIT_WRAP, FIT_SKIP, FIT_WIDEN };

/* The names of the policies, NULL-terminated. */
extern const char *const fit_names[];

enum fit_outcome { FIT_FITS, FIT_WRAPPED, FIT_SKIPPED, FIT_WIDENED, FIT_REFUSED };

static inline bool fit_fits(
        uint64_t size_bytes, uint32_t sector_bytes, uint64_t offset_bytes, uint64_t len_bytes)
{
    return ((offset_bytes | len_bytes) & (sector_bytes - 1)) == 0 && len_bytes <= size_bytes &&
           offset_bytes <= size_bytes - len_bytes;
}

/* Makes an I/O fit a target of `size_bytes` (UINT64_MAX: without end) and sectors of `sector_bytes` (a power
 * of two), or says what is to become of it. I/O without length always fits. What lies beyond the end of the
 * last whole sector is beyond the target's end.
 *
 * wrap: aligned outwards, offset modulo the target's size, moved down where its tail would reach over the
 * end; longer than the target: a discard or write-zeroes is cut to it, anything else skipped. widen: aligned
 * outwards; beyond the end still refused. */
enum fit_outcome fit_apply(enum fit_policy policy, uint64_t size_bytes, uint32_t sector_bytes, unsigned op,
        uint64_t *offset_bytes, uint64_t *len_bytes);

#endif
