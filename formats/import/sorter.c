/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/sorter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where an item's bytes are: slot number in `items`. Free slots form a stack. */
struct entry {
    uint64_t t_ns, serial;
    uint32_t slot;
};

struct sorter {
    size_t item_bytes, window, slots; /* slots: how many there is memory for */
    uint8_t *items;
    uint32_t *free_slots;
    struct entry *fifo, *heap; /* what came in order; what did not (the earliest first) */
    size_t fifo_head, fifo_count, heap_count;
    uint64_t serial, earliest_ns, latest_ns, left_ns, disorder;
};

#define SLOTS_FIRST 256

void sorter_close(struct sorter *s)
{
    if (!s)
        return;
    free(s->items);
    free(s->free_slots);
    free(s->fifo);
    free(s->heap);
    free(s);
}

int sorter_open(struct sorter **out, size_t item_bytes, size_t window, struct err *e)
{
    struct sorter *s = calloc(1, sizeof *s);

    if (!s)
        return err_sys(e, ENOMEM, "cannot sort by time");
    s->item_bytes = item_bytes;
    s->earliest_ns = UINT64_MAX;
    for (s->window = 1; s->window < window;)
        s->window *= 2;
    *out = s;
    return 0;
}

void sorter_from_zero(struct sorter *s)
{
    s->earliest_ns = 0;
}

static size_t held(const struct sorter *s)
{
    return s->fifo_count + s->heap_count;
}

bool sorter_full(const struct sorter *s)
{
    return held(s) == s->window;
}

/* Memory for twice as many, when all slots are taken. False where it is out. */
static bool grow(struct sorter *s)
{
    size_t slots = s->slots ? 2 * s->slots : SLOTS_FIRST < s->window ? SLOTS_FIRST : s->window;
    uint8_t *items = realloc(s->items, slots * s->item_bytes);
    struct entry *fifo, *heap;
    uint32_t *free_slots;

    s->items = items ? items : s->items;
    free_slots = realloc(s->free_slots, slots * sizeof *free_slots);
    s->free_slots = free_slots ? free_slots : s->free_slots;
    heap = realloc(s->heap, slots * sizeof *heap);
    s->heap = heap ? heap : s->heap;
    fifo = malloc(slots * sizeof *fifo);
    if (!items || !free_slots || !heap || !fifo) {
        free(fifo);
        return false;
    }
    for (size_t i = 0; i < s->fifo_count; i++)
        fifo[i] = s->fifo[(s->fifo_head + i) & (s->slots - 1)];
    free(s->fifo);
    s->fifo = fifo;
    s->fifo_head = 0;
    for (size_t i = s->slots; i < slots; i++) /* the new ones are the free ones */
        s->free_slots[slots - 1 - i] = (uint32_t)i;
    s->slots = slots;
    return true;
}

static bool before(const struct entry *a, const struct entry *b)
{
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->serial < b->serial;
}

static void heap_push(struct sorter *s, struct entry n)
{
    size_t i = s->heap_count++;

    for (; i && before(&n, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = n;
}

static struct entry heap_pop(struct sorter *s)
{
    struct entry top = s->heap[0], last = s->heap[--s->heap_count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < s->heap_count) {
        if (child + 1 < s->heap_count && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

/* Also keeps the earliest time; the latest one is the caller's. */
static int check_time(struct sorter *s, uint64_t t_ns, struct err *e)
{
    uint64_t from = t_ns < s->earliest_ns ? t_ns : s->earliest_ns;
    uint64_t to = t_ns > s->latest_ns ? t_ns : s->latest_ns;

    if (to - from >= SORTER_SPAN_NS)
        return err_set(e, EBADMSG,
                "with the time %" PRIu64 " ns the trace would last 2^63 ns (292 years) or more", t_ns);
    if (t_ns < s->left_ns)
        return err_set(e, EBADMSG,
                "the time goes back further than can be sorted (%zu records; --sort-window N sorts more at "
                "once, --skip-bad leaves such records out)",
                s->window);
    s->earliest_ns = from;
    return 0;
}

static uint32_t next_slot(const struct sorter *s)
{
    return s->free_slots[s->slots - 1 - held(s)];
}

void *sorter_slot(struct sorter *s)
{
    if (held(s) == s->slots && !grow(s))
        return NULL;
    return s->items + next_slot(s) * s->item_bytes;
}

int sorter_push(struct sorter *s, uint64_t t_ns, const void *item, struct err *e)
{
    struct entry n = {t_ns, s->serial, 0};
    int rc = check_time(s, t_ns, e);
    void *slot = rc ? NULL : sorter_slot(s);

    if (rc)
        return rc;
    if (!slot)
        return err_sys(e, ENOMEM, "cannot sort by time");
    n.slot = next_slot(s);
    s->serial++;
    if (item != slot)
        memcpy(slot, item, s->item_bytes);
    if (t_ns < s->latest_ns) {
        s->disorder++;
        heap_push(s, n);
        return 0;
    }
    s->latest_ns = t_ns;
    s->fifo[(s->fifo_head + s->fifo_count++) & (s->slots - 1)] = n;
    return 0;
}

static struct entry fifo_pop(struct sorter *s)
{
    struct entry n = s->fifo[s->fifo_head];

    s->fifo_head = (s->fifo_head + 1) & (s->slots - 1);
    s->fifo_count--;
    return n;
}

static bool fifo_is_next(const struct sorter *s)
{
    return !s->heap_count || (s->fifo_count && before(&s->fifo[s->fifo_head], &s->heap[0]));
}

bool sorter_earliest(const struct sorter *s, uint64_t *t_ns)
{
    if (!held(s))
        return false;
    *t_ns = fifo_is_next(s) ? s->fifo[s->fifo_head].t_ns : s->heap[0].t_ns;
    return true;
}

void *sorter_pop(struct sorter *s)
{
    struct entry n;

    if (!held(s))
        return NULL;
    n = fifo_is_next(s) ? fifo_pop(s) : heap_pop(s);
    s->free_slots[s->slots - 1 - held(s)] = n.slot;
    s->left_ns = n.t_ns;
    return s->items + n.slot * s->item_bytes;
}

uint64_t sorter_disorder(const struct sorter *s)
{
    return s->disorder;
}
