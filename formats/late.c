/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/late.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void late_release(struct late_pending *p)
{
    free(p->list);
    *p = (struct late_pending){0};
}

int late_add(struct late_pending *p, const struct late *l, struct err *e)
{
    if (p->count == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 64;
        struct late *list = reallocarray(p->list, cap, sizeof *list);
        if (!list)
            return err_sys(e, ENOMEM, "cannot hold %zu late completions", cap);
        p->list = list;
        p->cap = cap;
    }
    p->list[p->count++] = *l;
    return 0;
}

static int by_record(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    return (x->record > y->record) - (x->record < y->record);
}

static uint64_t completed_ns(const struct late *l)
{
    return l->latency_ns > UINT64_MAX - l->t_ns ? UINT64_MAX : l->t_ns + l->latency_ns;
}

size_t late_due(struct late_pending *p, uint64_t until_ns)
{
    size_t due = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct late l = p->list[i];
        if (completed_ns(&l) > until_ns)
            continue;
        p->list[i] = p->list[due];
        p->list[due++] = l;
    }
    if (due)
        qsort(p->list, due, sizeof *p->list, by_record);
    return due;
}

int late_take(const struct late *list, size_t count, uint64_t first, uint64_t end, struct late_chunk *c,
        struct err *e)
{
    uint32_t n = 0;
    for (; n < count && n < COLUMNS_COUNT_MAX && list[n].record < end; n++) {
        if (n && list[n].record == list[n - 1].record)
            return err_set(e, EINVAL, "record %" PRIu64 " completes twice", list[n].record);
        c->record[n] = list[n].record;
        c->t_ns[n] = list[n].t_ns;
        c->latency_ns[n] = list[n].latency_ns;
        c->stream[n] = list[n].stream;
        c->error[n] = list[n].error;
    }
    c->first = first;
    c->count = n;
    return 0;
}

void late_drop(struct late_pending *p, size_t n)
{
    p->count -= n;
    memmove(p->list, p->list + n, p->count * sizeof *p->list);
}
