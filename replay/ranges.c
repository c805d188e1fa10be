/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/ranges.h"

#include <errno.h>
#include <roaring/roaring.h>
#include <stdlib.h>
#include <string.h>

#define PART_BLOCKS (UINT64_C(1) << 32)
/* A bitmap of 1 TiB takes 4,096 containers. */
#define SPAN_BLOCKS (UINT64_C(1) << 28)
/* Of all spans: bounds their number, too. */
#define TOTAL_BYTES (UINT64_C(1) << 50)

void ranges_release(struct ranges *r)
{
    for (size_t i = 0; i < r->parts; i++)
        roaring_bitmap_free(r->part[i].bitmap);
    free(r->part);
    free(r->span);
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

/* Adds to the bitmaps. */
static int add_to_bitmaps(struct ranges *r, uint64_t first, uint64_t end, struct err *e)
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

static void remove_from_bitmaps(struct ranges *r, struct ranges_span s)
{
    for (size_t i = 0; i < r->parts; i++) {
        uint64_t base = r->part[i].high * PART_BLOCKS, stop = base + PART_BLOCKS;
        if (s.first < stop && base < s.end)
            roaring_bitmap_remove_range(r->part[i].bitmap, s.first > base ? s.first - base : 0,
                    (s.end < stop ? s.end : stop) - base);
    }
}

/* The first span that ends at `block` or later. */
static size_t span_index(const struct ranges *r, uint64_t block)
{
    size_t low = 0, high = r->spans;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->span[middle].end < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t span_bytes(const struct ranges *r)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < r->spans; i++)
        blocks += r->span[i].end - r->span[i].first;
    return blocks * RANGES_BLOCK_BYTES;
}

/* Adds a span, together with those that it touches. */
static int add_span(struct ranges *r, struct ranges_span s, struct err *e)
{
    size_t from = span_index(r, s.first), to = from;
    for (; to < r->spans && r->span[to].first <= s.end; to++) {
        s.first = r->span[to].first < s.first ? r->span[to].first : s.first;
        s.end = r->span[to].end > s.end ? r->span[to].end : s.end;
    }
    struct ranges_span *span = realloc(r->span, (r->spans + 1) * sizeof *span);
    if (!span)
        return err_sys(e, ENOMEM, "cannot keep the set of blocks that are touched");
    r->span = span;
    memmove(span + from + 1, span + to, (r->spans - to) * sizeof *span);
    r->spans = r->spans - (to - from) + 1;
    span[from] = s;
    remove_from_bitmaps(r, s);
    return 0;
}

/* What no span has goes to the bitmaps. */
static int add_blocks(struct ranges *r, uint64_t first, uint64_t end, struct err *e)
{
    int failed = 0;
    for (size_t i = span_index(r, first); i < r->spans && r->span[i].first < end && !failed; i++) {
        if (first < r->span[i].first)
            failed = add_to_bitmaps(r, first, r->span[i].first, e);
        first = r->span[i].end > first ? r->span[i].end : first;
    }
    return failed || first >= end ? failed : add_to_bitmaps(r, first, end, e);
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
    if ((r->parts || r->spans) && first >= r->last_first && end <= r->last_end)
        return 0;
    bool is_long = end - first >= SPAN_BLOCKS;
    if (is_long && (len_bytes > TOTAL_BYTES || span_bytes(r) > TOTAL_BYTES - len_bytes))
        return err_set(e, ERANGE, "%llu bytes at %llu: more than 1 PiB would be touched",
                (unsigned long long)len_bytes, (unsigned long long)offset_bytes);
    r->last_first = first;
    r->last_end = end;
    return is_long ? add_span(r, (struct ranges_span){first, end}, e) : add_blocks(r, first, end, e);
}

int ranges_merge(struct ranges *r, const struct ranges *from, struct err *e)
{
    for (size_t i = 0; i < from->parts; i++) {
        roaring_bitmap_t *bitmap = part_of(r, from->part[i].high, e);
        if (!bitmap)
            return -ENOMEM;
        roaring_bitmap_or_inplace(bitmap, from->part[i].bitmap);
    }
    for (size_t i = 0; i < r->spans; i++)
        remove_from_bitmaps(r, r->span[i]);
    for (size_t i = 0; i < from->spans; i++) {
        int failed = add_span(r, from->span[i], e);
        if (failed)
            return failed;
    }
    return 0;
}

bool ranges_has(const struct ranges *r, uint64_t offset_bytes)
{
    uint64_t block = offset_bytes / RANGES_BLOCK_BYTES;
    size_t s = span_index(r, block + 1);
    if (s < r->spans && r->span[s].first <= block)
        return true;
    size_t i = part_index(r, (uint32_t)(block / PART_BLOCKS));
    return i < r->parts && r->part[i].high == block / PART_BLOCKS &&
           roaring_bitmap_contains(r->part[i].bitmap, (uint32_t)(block % PART_BLOCKS));
}

uint64_t ranges_bytes(const struct ranges *r)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < r->parts; i++)
        blocks += roaring_bitmap_get_cardinality(r->part[i].bitmap);
    return blocks * RANGES_BLOCK_BYTES + span_bytes(r);
}

void ranges_pack(struct ranges *r)
{
    for (size_t i = 0; i < r->parts; i++)
        roaring_bitmap_run_optimize(r->part[i].bitmap);
}

struct walk {
    const struct ranges *ranges;
    size_t span;               /* the next one */
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

/* Appends blocks to the run, as far as they are neighbours and it does not become too long. */
static bool walk_put(struct walk *w, uint64_t first, uint64_t end)
{
    while (first < end) {
        if (first != w->end || w->end - w->first == w->max) {
            if (!walk_emit(w))
                return false;
            w->first = w->end = first;
        }
        uint64_t room = w->max - (w->end - w->first);
        uint64_t count = end - first < room ? end - first : room;
        w->end += count;
        first += count;
    }
    return true;
}

/* The spans before a block. */
static bool walk_spans(struct walk *w, uint64_t block)
{
    const struct ranges *r = w->ranges;
    for (; w->span < r->spans && r->span[w->span].first < block; w->span++)
        if (!walk_put(w, r->span[w->span].first, r->span[w->span].end))
            return false;
    return true;
}

static bool walk_block(uint32_t low, void *walk)
{
    struct walk *w = walk;
    uint64_t block = w->base + low;
    return walk_spans(w, block) && walk_put(w, block, block + 1);
}

int ranges_each(const struct ranges *r, uint64_t max_bytes,
        int (*each)(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e), void *context,
        struct err *e)
{
    struct walk w = {
            .ranges = r, .max = max_bytes / RANGES_BLOCK_BYTES, .each = each, .context = context, .e = e};
    for (size_t i = 0; i < r->parts && w.result == 0; i++) {
        w.base = r->part[i].high * PART_BLOCKS;
        roaring_iterate(r->part[i].bitmap, walk_block, &w);
    }
    if (w.result == 0 && walk_spans(&w, UINT64_MAX))
        walk_emit(&w);
    return w.result;
}
