/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/fill.h"

#include "formats/base/units.h"
#include "replay/bulk.h"
#include "replay/content.h"
#include "replay/status.h"

struct filling {
    struct bulk *bulk;
    const struct target *target;
    struct content_write write;
    struct verify *verify; /* or NULL */
    uint64_t done_bytes, total_bytes;
    struct status status;
};

static int make_data(void *context, void *data, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)e;
    const struct filling *f = context;
    content_make(data, offset_bytes, len_bytes, &f->write);
    return 0;
}

static int fill_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    struct filling *f = context;
    char done[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES];
    uint64_t end = f->target->size_bytes & ~(uint64_t)(f->target->sector_bytes - 1);
    f->done_bytes += len_bytes;
    status_show(&f->status, "filling '%s': %s of %s", f->target->url, units_size(f->done_bytes, done),
            units_size(f->total_bytes, total));
    if (offset_bytes + len_bytes > end) /* the target's end within a block */
        len_bytes = end - offset_bytes;
    return bulk_add(f->bulk, offset_bytes, len_bytes, e);
}

/* From here on the filling is what must be there. */
static int expect_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    const struct filling *f = context;
    return verify_changed(f->verify, BLOCK_WRITE, offset_bytes, len_bytes, &f->write, true, e);
}

static int fill_target(
        const struct session *s, struct session_target *t, const volatile sig_atomic_t *stop, struct err *e)
{
    struct filling f = {.target = t->target,
            .write = session_fill(s, t),
            .verify = t->verify,
            .total_bytes = ranges_bytes(&t->refill)};
    if (f.total_bytes == 0)
        return 0;
    int r = bulk_open(&f.bulk, t->target, BLOCK_WRITE, make_data, &f, stop, e);
    if (r == 0)
        r = ranges_each(&t->refill, BULK_BYTES, fill_part, &f, e);
    if (r == 0)
        r = bulk_finish(f.bulk, e);
    bulk_close(f.bulk);
    status_clear(&f.status);
    if (r == 0 && t->verify)
        r = ranges_each(&t->refill, RANGES_END_BYTES / 2, expect_part, &f, e);
    if (r == 0)
        ranges_release(&t->refill);
    return r < 0 ? err_prefix(e, "filling '%s' before it is measured", t->target->url) : 0;
}

int fill_again(struct session *s, const volatile sig_atomic_t *stop, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < s->targets && r == 0; i++)
        r = fill_target(s, &s->target[i], stop, e);
    return r;
}

int fill_mark(struct session *s, const struct session_side *side, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < side->plan.targets && r == 0; i++) {
        struct session_target *t = s->target;
        while (t->target != side->plan.target[i].target)
            t++;
        t->repetitions++;
        if (t->target->ops->stores && !s->settings.read_only)
            r = ranges_merge(&t->refill, &t->punched, e);
    }
    return r;
}
