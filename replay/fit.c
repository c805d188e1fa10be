/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/fit.h"

#include <stddef.h>

#include "formats/block.h"

const char *const fit_names[] = {"refuse", "wrap", "skip", "widen", NULL};

/* The smallest aligned I/O that covers it; false where it would pass 2^64. */
static bool align_outwards(uint32_t sector_bytes, uint64_t *offset_bytes, uint64_t *len_bytes)
{
    uint64_t mask = sector_bytes - 1;
    uint64_t end = *offset_bytes + *len_bytes;
    if (end < *offset_bytes || end > UINT64_MAX - mask)
        return false;
    *offset_bytes &= ~mask;
    *len_bytes = ((end + mask) & ~mask) - *offset_bytes;
    return true;
}

static enum fit_outcome wrap(
        uint64_t size_bytes, uint32_t sector_bytes, unsigned op, uint64_t *offset_bytes, uint64_t *len_bytes)
{
    uint64_t offset = size_bytes ? *offset_bytes % size_bytes : 0;
    uint64_t len = *len_bytes;
    if (size_bytes == 0 || !align_outwards(sector_bytes, &offset, &len))
        return FIT_SKIPPED;
    if (len > size_bytes) {
        if (op != BLOCK_DISCARD && op != BLOCK_WRITE_ZEROES)
            return FIT_SKIPPED;
        len = size_bytes;
    }
    if (offset > size_bytes - len)
        offset = size_bytes - len;
    *offset_bytes = offset;
    *len_bytes = len;
    return FIT_WRAPPED;
}

enum fit_outcome fit_apply(enum fit_policy policy, uint64_t size_bytes, uint32_t sector_bytes, unsigned op,
        uint64_t *offset_bytes, uint64_t *len_bytes)
{
    size_bytes &= ~(uint64_t)(sector_bytes - 1);
    if (*len_bytes == 0 || fit_fits(size_bytes, sector_bytes, *offset_bytes, *len_bytes))
        return FIT_FITS;
    uint64_t offset = *offset_bytes;
    uint64_t len = *len_bytes;
    switch (policy) {
    case FIT_SKIP:
        return FIT_SKIPPED;
    case FIT_WRAP:
        return wrap(size_bytes, sector_bytes, op, offset_bytes, len_bytes);
    case FIT_WIDEN:
        if (!align_outwards(sector_bytes, &offset, &len) || !fit_fits(size_bytes, sector_bytes, offset, len))
            return FIT_REFUSED;
        *offset_bytes = offset;
        *len_bytes = len;
        return FIT_WIDENED;
    case FIT_REFUSE:
        break;
    }
    return FIT_REFUSED;
}
