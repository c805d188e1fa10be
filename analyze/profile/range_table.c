/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/range_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define JUMP_BYTES ((size_t)4 << 20) /* from here it grows at once to its largest */
#define HUGE_BYTES ((size_t)2 << 20)
#define LINE_BYTES 64

/* Large tables are met everywhere at random: pages of the usual size would cost more than they do. */
static void *allocate(size_t bytes)
{
    if (bytes < HUGE_BYTES)
        return aligned_alloc(LINE_BYTES, bytes);
    bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    void *memory = aligned_alloc(HUGE_BYTES, bytes);
    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE); /* a wish: without it, it is slower */
    return memory;
}

static int make(struct range_table *t, size_t bytes, double ranges, struct err *e)
{
    void *memory = allocate(bytes);
    if (!memory)
        return err_sys(e, ENOMEM, "cannot keep the set of blocks that are touched");
    t->memory = memory;
    t->bytes = bytes;
    range_table_empty(t, ranges);
    return 0;
}

int range_table_init(struct range_table *t, struct err *e)
{
    return make(t, RANGE_TABLE_FIRST_BYTES, RANGE_TABLE_FIRST_BYTES / RANGE_TABLE_EACH_BYTES, e);
}

void range_table_release(struct range_table *t)
{
    free(t->memory);
    *t = (struct range_table){0};
}

void range_table_empty(struct range_table *t, double ranges)
{
    t->table = t->memory;
    t->slots = (size_t)(ranges / RANGE_TABLE_FILL) / RANGE_LINE_SLOTS * RANGE_LINE_SLOTS;
    t->room = (size_t)((double)t->slots * RANGE_TABLE_FILL);
    t->pool = (struct range_units *)(void *)(t->table + t->slots);
    t->pool_room = (t->bytes - t->slots * sizeof *t->table) / sizeof *t->pool;
    t->count = t->pool_used = t->pool_free = 0;
    memset(t->table, 0, t->slots * sizeof *t->table);
    t->pool[0] = (struct range_units){{0}}; /* range_units_of looks at it for those that have none */
}

int range_table_grow(struct range_table *t, size_t max_bytes, struct err *e)
{
    const struct range_table old = *t;
    size_t bytes = old.bytes * 2 < max_bytes && old.bytes < JUMP_BYTES ? old.bytes * 2 : max_bytes;
    /* In the same proportion, so that all that was in either part has room. */
    int rc = make(t, bytes, (double)old.room * ((double)bytes / (double)old.bytes), e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < old.slots; i++)
        if (old.table[i].hash)
            *range_find(t, old.table[i].hash) = old.table[i];
    memcpy(t->pool, old.pool, old.pool_used * sizeof *t->pool);
    t->count = old.count;
    t->pool_used = old.pool_used;
    t->pool_free = old.pool_free;
    free(old.memory);
    return 0;
}
