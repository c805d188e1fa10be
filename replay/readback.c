/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/readback.h"

#include <stdio.h>

#include "formats/base/units.h"
#include "replay/bulk.h"
#include "replay/history.h"
#include "replay/status.h"

struct reading {
    struct session_target *target;
    struct bulk *bulk;
    uint64_t done_bytes, total_bytes;
    struct status status;
};

static struct session_target *target_of(struct session *s, const struct session_side *side, size_t i)
{
    struct session_target *t = s->target;
    while (t->target != side->plan.target[i].target)
        t++;
    return t;
}

static int nothing(void *context, void *data, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)context, (void)data, (void)offset_bytes, (void)len_bytes, (void)e;
    return 0;
}

int readback_flush(
        struct session *s, const struct session_side *side, const volatile sig_atomic_t *stop, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < side->plan.targets && r == 0; i++) {
        struct bulk *b;
        r = bulk_open(&b, target_of(s, side, i)->target, BLOCK_WRITE, nothing, NULL, stop, e);
        if (r < 0)
            return r;
        r = bulk_finish(b, e);
        bulk_close(b);
    }
    return r;
}

static int look(void *context, void *data, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)e;
    struct reading *g = context;
    verify_look(g->target->verify, data, offset_bytes, len_bytes);
    return 0;
}

static int read_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    struct reading *g = context;
    const struct target *t = g->target->target;
    char done[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES];
    uint64_t end = t->size_bytes & ~(uint64_t)(t->sector_bytes - 1);
    g->done_bytes += len_bytes;
    status_show(&g->status, "verifying '%s': %s of %s", t->url, units_size(g->done_bytes, done),
            units_size(g->total_bytes, total));
    if (offset_bytes + len_bytes > end) /* the target's end within a block */
        len_bytes = end - offset_bytes;
    return bulk_add(g->bulk, offset_bytes, len_bytes, e);
}

static int read_target(struct session_target *t, const volatile sig_atomic_t *stop, struct err *e)
{
    struct reading g = {.target = t, .total_bytes = ranges_bytes(&t->touched)};
    int r = bulk_open(&g.bulk, t->target, BLOCK_READ, look, &g, stop, e);
    if (r == 0)
        r = ranges_each(&t->touched, BULK_BYTES, read_part, &g, e);
    if (r == 0)
        r = bulk_finish(g.bulk, e);
    bulk_close(g.bulk);
    status_clear(&g.status);
    return r < 0 ? err_prefix(e, "verifying '%s'", t->target->url) : 0;
}

int readback(
        struct session *s, const struct session_side *side, const volatile sig_atomic_t *stop, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < side->plan.targets && r == 0; i++)
        r = read_target(target_of(s, side, i), stop, e);
    return r;
}

struct verify_counts readback_counts(struct session *s, const struct session_side *side)
{
    struct verify_counts sum = {0};
    for (size_t i = 0; i < side->plan.targets; i++) {
        struct verify_counts c = verify_counts(target_of(s, side, i)->verify);
        sum.blocks += c.blocks;
        sum.wrong += c.wrong;
    }
    return sum;
}

int readback_outcome(struct session *s, const struct session_side *side, struct err *e)
{
    int result = 0;
    for (size_t i = 0; i < side->plan.targets; i++) {
        int r = verify_outcome(target_of(s, side, i)->verify, result < 0 ? NULL : e);
        result = result < 0 ? result : r;
    }
    return result;
}

static int check_again(
        struct session *s, struct run_reader *run, const volatile sig_atomic_t *stop, struct err *e)
{
    int r = history_apply(s, run, e);
    if (r == 0)
        r = readback(s, &s->side[0], stop, e);
    if (r < 0)
        return r;
    struct verify_counts c = readback_counts(s, &s->side[0]);
    printf("%s: %llu checks of blocks of 4 KiB, %llu failed\n", s->side[0].name, (unsigned long long)c.blocks,
            (unsigned long long)c.wrong);
    return readback_outcome(s, &s->side[0], e);
}

int readback_only(const struct settings *settings, const volatile sig_atomic_t *stop, struct err *e)
{
    struct settings set = *settings;
    struct session s = {0};
    struct run_reader *run;
    int r = run_reader_open(&run, settings->verify_only, e);
    if (r < 0)
        return r;
    r = history_settings(&set, run, e);
    if (r == 0)
        r = session_open(&s, &set, stop, e);
    if (r == 0)
        r = check_again(&s, run, stop, e);
    session_close(&s);
    run_reader_close(run);
    return r;
}
