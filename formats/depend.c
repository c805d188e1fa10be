/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One queue of open completions serves all groups, so that its length is the depth of all together. It
 * has two parts with the same meaning: a short sorted run, which takes the common case (a completion
 * that lies near the latest ones) in a few moves, and a binary heap for what would need many.
 */
#include "formats/depend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/tape.h"

#define RUN_SLOTS     64  /* power of two */
#define RUN_MOVES_MAX 24u /* insertion further from the run's end goes to the heap */
#define NO_GROUP      UINT32_MAX

struct open_io {
    uint64_t end_ns;
    uint32_t group;
};

struct group {
    uint64_t watermark;    /* counted records that have completed */
    uint64_t counted;      /* counted records so far */
    uint64_t completed_ns; /* time of the latest completion; the start before there is one */
    uint64_t issue_ns;     /* of the latest record, at zero latency */
    uint64_t *ring; /* zero-latency issue of counted record k at [k & mask], watermark <= k <= counted */
    uint64_t mask;
};

struct depend {
    enum depend_group kind;
    uint64_t start_ns;
    uint32_t *dense; /* from stream or issuer to group */
    uint32_t dense_count;
    uint32_t last_id, last_group; /* the mapping that was used last */
    struct group *groups;
    uint32_t group_count, group_slots;
    struct open_io run[RUN_SLOTS]; /* sorted; from run_head, run_count long */
    uint32_t run_head, run_count;
    struct open_io *heap; /* the soonest at [0] */
    size_t heap_count, heap_slots;
    uint64_t depth_max, zero_latency_ns;
};

static int no_memory(struct err *e)
{
    return err_sys(e, ENOMEM, "cannot follow the dependences of this tape");
}

int depend_open(struct depend **d, enum depend_group group, uint64_t start_ns, struct err *e)
{
    struct depend *n = calloc(1, sizeof *n);

    if (!n)
        return no_memory(e);
    n->kind = group;
    n->start_ns = start_ns;
    n->last_id = NO_GROUP;
    *d = n;
    return 0;
}

void depend_close(struct depend *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->group_count; i++)
        free(d->groups[i].ring);
    free(d->groups);
    free(d->dense);
    free(d->heap);
    free(d);
}

/* ---- groups ---- */

static int groups_grow(struct depend *d, struct err *e)
{
    uint32_t slots = d->group_slots ? d->group_slots * 2 : 4;
    struct group *more;

    if (d->group_count < d->group_slots)
        return 0;
    more = realloc(d->groups, slots * sizeof *more);
    if (!more)
        return no_memory(e);
    d->groups = more;
    d->group_slots = slots;
    return 0;
}

static int dense_grow(struct depend *d, uint32_t id, struct err *e)
{
    uint32_t count = d->dense_count ? d->dense_count : 16;
    uint32_t *more;

    if (id < d->dense_count)
        return 0;
    while (count <= id)
        count *= 2;
    more = realloc(d->dense, count * sizeof *more);
    if (!more)
        return no_memory(e);
    memset(more + d->dense_count, 0xff, (count - d->dense_count) * sizeof *more); /* NO_GROUP */
    d->dense = more;
    d->dense_count = count;
    return 0;
}

/* The group of a stream or issuer that is not the one of the record before. */
static int group_find(struct depend *d, uint32_t id, struct err *e)
{
    int rc;

    if (id >= TAPE_ISSUERS_MAX)
        return err_set(e, EINVAL, "%s number %u is out of range",
                d->kind == DEPEND_STREAM ? "stream" : "issuer", id);
    rc = dense_grow(d, id, e);
    if (rc)
        return rc;
    if (d->dense[id] == NO_GROUP) {
        rc = groups_grow(d, e);
        if (rc)
            return rc;
        uint64_t *ring = calloc(4, sizeof *ring); /* [0]: nothing counted yet, time 0 */
        if (!ring)
            return no_memory(e);
        d->groups[d->group_count] = (struct group){.completed_ns = d->start_ns, .ring = ring, .mask = 3};
        d->dense[id] = d->group_count++;
    }
    d->last_id = id;
    d->last_group = d->dense[id];
    return 0;
}

static int ring_grow(struct group *g, struct err *e)
{
    uint64_t mask = g->mask * 2 + 1;
    uint64_t *ring = malloc((mask + 1) * sizeof *ring);

    if (!ring)
        return no_memory(e);
    for (uint64_t k = g->watermark; k <= g->counted; k++)
        ring[k & mask] = g->ring[k & g->mask];
    free(g->ring);
    g->ring = ring;
    g->mask = mask;
    return 0;
}

/* ---- the queue of open completions ---- */

static int heap_push(struct depend *d, struct open_io io, struct err *e)
{
    size_t i = d->heap_count;

    if (i == d->heap_slots) {
        size_t slots = i ? i * 2 : 64;
        struct open_io *more = realloc(d->heap, slots * sizeof *more);
        if (!more)
            return no_memory(e);
        d->heap = more;
        d->heap_slots = slots;
    }
    for (; i && d->heap[(i - 1) / 2].end_ns > io.end_ns; i = (i - 1) / 2)
        d->heap[i] = d->heap[(i - 1) / 2];
    d->heap[i] = io;
    d->heap_count++;
    return 0;
}

static struct open_io heap_pop(struct depend *d)
{
    struct open_io top = d->heap[0], last = d->heap[--d->heap_count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < d->heap_count) {
        if (child + 1 < d->heap_count && d->heap[child + 1].end_ns < d->heap[child].end_ns)
            child++;
        if (d->heap[child].end_ns >= last.end_ns)
            break;
        d->heap[i] = d->heap[child];
        i = child;
    }
    d->heap[i] = last;
    return top;
}

static struct open_io *run_at(struct depend *d, uint32_t i)
{
    return &d->run[(d->run_head + i) & (RUN_SLOTS - 1)];
}

static int queue_push(struct depend *d, struct open_io io, struct err *e)
{
    uint32_t i = d->run_count;
    uint32_t floor = i > RUN_MOVES_MAX ? i - RUN_MOVES_MAX : 0;

    if (i == RUN_SLOTS || (floor && run_at(d, floor - 1)->end_ns > io.end_ns))
        return heap_push(d, io, e);
    for (; i && run_at(d, i - 1)->end_ns > io.end_ns; i--)
        *run_at(d, i) = *run_at(d, i - 1);
    *run_at(d, i) = io;
    d->run_count++;
    return 0;
}

static void complete(struct depend *d, struct open_io io)
{
    struct group *g = &d->groups[io.group];

    g->watermark++;
    /* The two parts of the queue are emptied one after the other, so the latest may have come first. */
    if (io.end_ns > g->completed_ns)
        g->completed_ns = io.end_ns;
}

static void complete_until(struct depend *d, uint64_t t_ns)
{
    while (d->run_count && d->run[d->run_head].end_ns <= t_ns) {
        complete(d, d->run[d->run_head]);
        d->run_head = (d->run_head + 1) & (RUN_SLOTS - 1);
        d->run_count--;
    }
    while (d->heap_count && d->heap[0].end_ns <= t_ns)
        complete(d, heap_pop(d));
}

/* ---- records ---- */

/* The issue at zero latency, by the header's rule. It never exceeds t_ns - start_ns: the completion that
 * reached the watermark came no sooner than the arrival of that many records. */
static void issue_at_zero_latency(struct depend *d, struct group *g, uint64_t think_ns)
{
    uint64_t ready_ns = g->ring[g->watermark & g->mask] + think_ns;

    if (ready_ns > g->issue_ns)
        g->issue_ns = ready_ns;
    if (g->issue_ns > d->zero_latency_ns)
        d->zero_latency_ns = g->issue_ns;
}

static int count_open(struct depend *d, uint32_t group, const struct block_record *r, struct err *e)
{
    struct group *g = &d->groups[group];
    uint64_t end_ns, depth;
    int rc;

    if (g->counted - g->watermark == g->mask) {
        rc = ring_grow(g, e);
        if (rc)
            return rc;
    }
    if (__builtin_add_overflow(r->t_ns, r->latency_ns, &end_ns))
        end_ns = UINT64_MAX;
    rc = queue_push(d, (struct open_io){end_ns, group}, e);
    if (rc)
        return rc;
    g->counted++;
    g->ring[g->counted & g->mask] = g->issue_ns;
    depth = d->run_count + d->heap_count;
    if (depth > d->depth_max)
        d->depth_max = depth;
    return 0;
}

int depend_next(struct depend *d, const struct block_record *r, struct depend_wait *wait, struct err *e)
{
    uint32_t id = d->kind == DEPEND_STREAM ? r->stream : r->issuer;
    bool counts = r->latency_ns != TAPE_UNKNOWN;
    struct group *g;
    int rc;

    if (id != d->last_id || id == NO_GROUP) {
        rc = group_find(d, id, e);
        if (rc)
            return rc;
    }
    complete_until(d, r->t_ns);
    g = &d->groups[d->last_group];
    *wait = (struct depend_wait){
            .group = d->last_group,
            .counts = counts,
            .watermark = g->watermark,
            .think_ns = r->t_ns > g->completed_ns ? r->t_ns - g->completed_ns : 0,
    };
    issue_at_zero_latency(d, g, wait->think_ns);
    return counts ? count_open(d, d->last_group, r, e) : 0;
}

uint32_t depend_group_count(const struct depend *d)
{
    return d->group_count;
}

uint64_t depend_depth_max(const struct depend *d)
{
    return d->depth_max;
}

uint64_t depend_zero_latency_ns(const struct depend *d)
{
    return d->zero_latency_ns;
}
