/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/stalled.h"

#include <stdlib.h>

static bool same(const struct captured *a, const struct captured *b)
{
    return a->id == b->id && a->r.t_ns == b->r.t_ns && a->r.stream == b->r.stream;
}

static size_t home(const struct stalled *t, const struct captured *c)
{
    uint64_t h = (c->id ^ c->r.t_ns << 20 ^ c->r.stream) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & (t->room - 1);
}

/* The slot where `c` is or would be. */
static struct stall *slot_of(const struct stalled *t, const struct captured *c)
{
    size_t i = home(t, c);
    while (t->slots[i].used && !same(&t->slots[i].io, c))
        i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

struct stall *stalled_find(const struct stalled *t, const struct captured *c)
{
    if (t->count == 0)
        return NULL;
    struct stall *s = slot_of(t, c);
    return s->used ? s : NULL;
}

static bool grow(struct stalled *t)
{
    struct stalled larger = {.room = t->room ? t->room * 2 : 64, .count = t->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].used)
            *slot_of(&larger, &t->slots[i].io) = t->slots[i];
    free(t->slots);
    *t = larger;
    return true;
}

struct stall *stalled_note(struct stalled *t, const struct captured *c)
{
    if (t->count * 2 >= t->room && !grow(t))
        return NULL;
    struct stall *s = slot_of(t, c);
    *s = (struct stall){.io = *c, .state = STALL_NOTED, .used = true};
    t->count++;
    return s;
}

/* Knuth, The Art of Computer Programming 3, 6.4, algorithm R: moves back what follows without a gap. */
void stalled_drop(struct stalled *t, struct stall *s)
{
    size_t gap = (size_t)(s - t->slots), mask = t->room - 1;
    t->count--;
    written_release(&s->written);
    for (size_t i = gap;;) {
        t->slots[gap].used = false;
        for (;;) {
            i = (i + 1) & mask;
            if (!t->slots[i].used)
                return;
            size_t from_home = (i - home(t, &t->slots[i].io)) & mask;
            if (from_home >= ((i - gap) & mask))
                break;
        }
        t->slots[gap] = t->slots[i];
        gap = i;
    }
}

void stalled_release(struct stalled *t)
{
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].used)
            written_release(&t->slots[i].written);
    free(t->slots);
    *t = (struct stalled){0};
}
