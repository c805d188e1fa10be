/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/ranges.h"

#include <errno.h>
#include <roaring/roaring.h>
#include <stdlib.h>
#include <string.h>

#define PART_BLOCKS (UINT64_C(1) << 32)
/* A bitmap of one range takes memory in proportion to its length: 1 PiB takes 100 MB. */
#define LONG_BYTES  (UINT64_C(1) << 40)
#define TOTAL_BYTES (UINT64_C(1) << 50)

void ranges_release(struct ranges *r)
{
    for (size_t i = 0; i < r->parts; i++)
        roaring_bitmap_free(r->part[i].bitmap);
    free(r->part);
    *r = (struct ranges){0};
}

/* Where the part is, or would have to be put. */
static size_t part_index(const struct ranges *r, uint32_t high)
{
    size_t i = r->parts;
    while (i > 0 && r->part[i - 1].high >= high)
        i--;
    return i;
}

static roaring_bitmap_t *part_of(struct ranges *r, uint32_t high, struct err *e)
{
    size_t i = part_index(r, high);
    if (i < r->parts && r->part[i].high == high)
        return r->part[i].bitmap;
    struct ranges_part *part = realloc(r->part, (r->parts + 1) * sizeof *part);
    if (part)
        r->part = part;
    roaring_bitmap_t *bitmap = part ? roaring_bitmap_create() : NULL;
    if (!bitmap) {
        err_sys(e, ENOMEM, "cannot keep the set of blocks that are touched");
        return NULL;
    }
    memmove(part + i + 1, part + i, (r->parts - i) * sizeof *part);
    part[i] = (struct ranges_part){high, bitmap};
    r->parts++;
    return bitmap;
}

static int add_blocks(struct ranges *r, uint64_t first, uint64_t end, struct err *e)
{
    while (first < end) {
        uint32_t high = (uint32_t)(first / PART_BLOCKS);
        uint64_t base = high * PART_BLOCKS;
        uint64_t stop = end < base + PART_BLOCKS ? end : base + PART_BLOCKS;
        roaring_bitmap_t *bitmap = part_of(r, high, e);
        if (!bitmap)
            return -ENOMEM;
        if (stop == first + 1)
            roaring_bitmap_add(bitmap, (uint32_t)(first - base));
        else
            roaring_bitmap_add_range(bitmap, first - base, stop - base);
        first = stop;
    }
    return 0;
}

int ranges_add(struct ranges *r, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    if (len_bytes == 0)
        return 0;
    if (offset_bytes >= RANGES_END_BYTES || len_bytes > RANGES_END_BYTES - offset_bytes)
        return err_set(e, ERANGE, "%llu bytes at %llu lie beyond any target", (unsigned long long)len_bytes,
                (unsigned long long)offset_bytes);
    uint64_t first = offset_bytes / RANGES_BLOCK_BYTES;
    uint64_t end = (offset_bytes + len_bytes - 1) / RANGES_BLOCK_BYTES + 1;
    if (r->parts && first >= r->last_first && end <= r->last_end)
        return 0;
    if (len_bytes > LONG_BYTES && (len_bytes > TOTAL_BYTES || ranges_bytes(r) > TOTAL_BYTES - len_bytes))
        return err_set(e, ERANGE, "%llu bytes at %llu: more than 1 PiB would be touched",
                (unsigned long long)len_bytes, (unsigned long long)offset_bytes);
    r->last_first = first;
    r->last_end = end;
    return add_blocks(r, first, end, e);
}

int ranges_merge(struct ranges *r, const struct ranges *from, struct err *e)
{
    for (size_t i = 0; i < from->parts; i++) {
        roaring_bitmap_t *bitmap = part_of(r, from->part[i].high, e);
        if (!bitmap)
            return -ENOMEM;
        roaring_bitmap_or_inplace(bitmap, from->part[i].bitmap);
    }
    return 0;
}

bool ranges_has(const struct ranges *r, uint64_t offset_bytes)
{
    uint64_t block = offset_bytes / RANGES_BLOCK_BYTES;
    size_t i = part_index(r, (uint32_t)(block / PART_BLOCKS));
    return i < r->parts && r->part[i].high == block / PART_BLOCKS &&
           roaring_bitmap_contains(r->part[i].bitmap, (uint32_t)(block % PART_BLOCKS));
}

uint64_t ranges_bytes(const struct ranges *r)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < r->parts; i++)
        blocks += roaring_bitmap_get_cardinality(r->part[i].bitmap);
    return blocks * RANGES_BLOCK_BYTES;
}

void ranges_pack(struct ranges *r)
{
    for (size_t i = 0; i < r->parts; i++)
        roaring_bitmap_run_optimize(r->part[i].bitmap);
}

struct walk {
    uint64_t base, first, end; /* blocks; the run that is being put together */
    uint64_t max;
    int (*each)(void *, uint64_t, uint64_t, struct err *);
    void *context;
    struct err *e;
    int result;
};

static bool walk_emit(struct walk *w)
{
    if (w->end > w->first)
        w->result = w->each(
                w->context, w->first * RANGES_BLOCK_BYTES, (w->end - w->first) * RANGES_BLOCK_BYTES, w->e);
    return w->result == 0;
}

static bool walk_block(uint32_t low, void *walk)
{
    struct walk *w = walk;
    uint64_t block = w->base + low;
    if (block == w->end && w->end > w->first && w->end - w->first < w->max) {
        w->end++;
        return true;
    }
    if (!walk_emit(w))
        return false;
    w->first = block;
    w->end = block + 1;
    return true;
}

int ranges_each(const struct ranges *r, uint64_t max_bytes,
        int (*each)(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e), void *context,
        struct err *e)
{
    struct walk w = {.max = max_bytes / RANGES_BLOCK_BYTES, .each = each, .context = context, .e = e};
    for (size_t i = 0; i < r->parts && w.result == 0; i++) {
        w.base = r->part[i].high * PART_BLOCKS;
        roaring_iterate(r->part[i].bitmap, walk_block, &w);
    }
    if (w.result == 0)
        walk_emit(&w);
    return w.result;
}
