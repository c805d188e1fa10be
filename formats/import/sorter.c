/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where an item's bytes are: slot number in `items`. Free slots form a stack. */
struct entry {
    uint64_t t_ns, serial;
    uint32_t slot;
};

struct sorter {
    size_t item_bytes, window;
    uint8_t *items;
    uint32_t *free_slots;
    struct entry *fifo, *heap; /* what came in order; what did not (the earliest first) */
    size_t fifo_head, fifo_count, heap_count;
    uint64_t serial, latest_ns, left_ns, disorder;
};

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

    if (s) {
        s->item_bytes = item_bytes;
        s->window = window;
        s->items = calloc(window, item_bytes);
        s->free_slots = calloc(window, sizeof *s->free_slots);
        s->fifo = calloc(window, sizeof *s->fifo);
        s->heap = calloc(window, sizeof *s->heap);
    }
    if (!s || !s->items || !s->free_slots || !s->fifo || !s->heap) {
        sorter_close(s);
        return err_sys(e, ENOMEM, "cannot sort by time");
    }
    for (size_t i = 0; i < window; i++)
        s->free_slots[i] = (uint32_t)(window - 1 - i);
    *out = s;
    return 0;
}

static size_t held(const struct sorter *s)
{
    return s->fifo_count + s->heap_count;
}

bool sorter_full(const struct sorter *s)
{
    return held(s) == s->window;
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

bool sorter_push(struct sorter *s, uint64_t t_ns, const void *item)
{
    struct entry n = {t_ns, s->serial, 0};

    if (t_ns < s->left_ns)
        return false;
    n.slot = s->free_slots[s->window - 1 - held(s)];
    s->serial++;
    memcpy(s->items + n.slot * s->item_bytes, item, s->item_bytes);
    if (t_ns < s->latest_ns) {
        s->disorder++;
        heap_push(s, n);
        return true;
    }
    s->latest_ns = t_ns;
    s->fifo[(s->fifo_head + s->fifo_count++) & (s->window - 1)] = n;
    return true;
}

static struct entry fifo_pop(struct sorter *s)
{
    struct entry n = s->fifo[s->fifo_head];

    s->fifo_head = (s->fifo_head + 1) & (s->window - 1);
    s->fifo_count--;
    return n;
}

bool sorter_pop(struct sorter *s, void *item)
{
    struct entry n;

    if (!held(s))
        return false;
    if (!s->heap_count || (s->fifo_count && before(&s->fifo[s->fifo_head], &s->heap[0])))
        n = fifo_pop(s);
    else
        n = heap_pop(s);
    memcpy(item, s->items + n.slot * s->item_bytes, s->item_bytes);
    s->free_slots[s->window - 1 - held(s)] = n.slot;
    s->left_ns = n.t_ns;
    return true;
}

uint64_t sorter_disorder(const struct sorter *s)
{
    return s->disorder;
}
