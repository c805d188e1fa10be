/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "replay/buffers.h"

struct planning {
    struct plan *plan;
    const struct feed_source *source;
    struct depend *depend;
    size_t *target_of; /* index into plan->target of each stream */
};

void plan_release(struct plan *p)
{
    for (size_t i = 0; i < p->targets; i++) {
        ranges_release(&p->target[i].touched);
        ranges_release(&p->target[i].written);
        ranges_release(&p->target[i].punched);
    }
    free(p->target);
    *p = (struct plan){0};
}

static int refuse(const struct block_record *r, uint64_t number, const struct target *t, struct err *e)
{
    if (r->offset_bytes + r->len_bytes > t->size_bytes || r->offset_bytes + r->len_bytes < r->offset_bytes)
        return err_set(e, ERANGE,
                "record %llu (%s of %llu bytes at %llu) lies beyond the end of '%s' (%llu bytes); see --fit",
                (unsigned long long)number + 1, block_op_name(r->op), (unsigned long long)r->len_bytes,
                (unsigned long long)r->offset_bytes, t->url, (unsigned long long)t->size_bytes);
    return err_set(e, EINVAL,
            "record %llu (%s of %llu bytes at %llu) is not aligned to the sectors of %u bytes of '%s' "
            "(%llu bytes); see --fit",
            (unsigned long long)number + 1, block_op_name(r->op), (unsigned long long)r->len_bytes,
            (unsigned long long)r->offset_bytes, t->sector_bytes, t->url, (unsigned long long)t->size_bytes);
}

static int touch(struct plan_target *t, const struct block_record *r, struct err *e)
{
    int failed = ranges_add(&t->touched, r->offset_bytes, r->len_bytes, e);
    if (failed == 0 && r->op != BLOCK_READ)
        failed = ranges_add(&t->written, r->offset_bytes, r->len_bytes, e);
    if (failed == 0 && (r->op == BLOCK_DISCARD || r->op == BLOCK_WRITE_ZEROES))
        failed = ranges_add(&t->punched, r->offset_bytes, r->len_bytes, e);
    if (r->len_bytes && r->offset_bytes + r->len_bytes > t->end_bytes)
        t->end_bytes = r->offset_bytes + r->len_bytes;
    return failed;
}

static void count(struct plan *p, const struct block_record *r)
{
    p->records++;
    p->ops[r->op]++;
    p->read_bytes += r->op == BLOCK_READ ? r->len_bytes : 0;
    p->written_bytes += r->op == BLOCK_WRITE ? r->len_bytes : 0;
}

static int plan_record(void *context, const struct block_record *record, uint64_t number, struct err *e)
{
    struct planning *g = context;
    struct plan *p = g->plan;
    struct depend_wait wait;
    int r = depend_next(g->depend, record, &wait, e);
    if (r < 0)
        return r;
    p->span_ns = record->t_ns - g->source->from_ns;
    p->known_latencies += record->latency_ns != TAPE_UNKNOWN;
    struct block_record fitted = *record;
    bool drop;
    struct plan_target *t = &p->target[g->target_of[record->stream]];
    if (feed_fit(g->source, &fitted, &drop, &p->counts) == FIT_REFUSED)
        return refuse(record, number, t->target, e);
    if (drop)
        return 0;
    if ((fitted.op == BLOCK_READ || fitted.op == BLOCK_WRITE) && fitted.len_bytes > BUFFERS_LEN_MAX)
        return err_set(e, ERANGE, "record %llu: a %s of %llu bytes is larger than 1 GiB",
                (unsigned long long)number + 1, block_op_name(fitted.op),
                (unsigned long long)fitted.len_bytes);
    count(p, &fitted);
    r = touch(t, &fitted, e);
    return r < 0 ? err_prefix(e, "record %llu", (unsigned long long)number + 1) : 0;
}

/* Each target once, though several streams may go to it. */
static int list_targets(struct planning *g, size_t streams, struct err *e)
{
    struct plan *p = g->plan;
    p->target = calloc(streams + 1, sizeof *p->target);
    g->target_of = calloc(streams + 1, sizeof *g->target_of);
    if (!p->target || !g->target_of)
        return err_sys(e, ENOMEM, "cannot plan");
    for (size_t s = 0; s < streams; s++) {
        size_t i = 0;
        while (i < p->targets && p->target[i].target != g->source->target[s])
            i++;
        if (i == p->targets)
            p->target[p->targets++].target = g->source->target[s];
        g->target_of[s] = i;
    }
    return 0;
}

int plan_make(struct plan *p, const struct feed_source *s, size_t streams, struct err *e)
{
    struct planning g = {.plan = p, .source = s};
    *p = (struct plan){0};
    int r = list_targets(&g, streams, e);
    if (r == 0)
        r = depend_open(&g.depend, s->group, s->from_ns, e);
    if (r == 0)
        r = feed_walk(s, plan_record, &g, e);
    if (r == 0) {
        p->depth_recorded = depend_depth_max(g.depend);
        p->zero_latency_ns = depend_zero_latency_ns(g.depend);
        for (size_t i = 0; i < p->targets; i++) {
            ranges_pack(&p->target[i].touched);
            p->working_set_bytes += ranges_bytes(&p->target[i].touched);
        }
    }
    depend_close(g.depend);
    free(g.target_of);
    if (r < 0)
        plan_release(p);
    return r;
}
