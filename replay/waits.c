/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* What a group may fall short of its recorded depth and make up for later, summed over its records. */
#define BALANCE_MAX 64
/* Over about how many records the recorded depth is a mean. */
#define DEPTH_MEAN 64

struct group {
    uint32_t head, tail; /* records, as block * WORK_RECORDS + index */
    uint64_t completed;  /* so far */
    uint64_t forgotten;  /* times of completions up to this one are no longer kept */
    uint64_t *time_ns;   /* of completion n at [(n - 1) % room] */
    uint32_t room;       /* a power of two, or 0 */
    uint64_t issued;     /* counting records that were taken */
    uint64_t depth_max;  /* most that were in flight at the arrival of a record, at the recording, so far */
    double balance;      /* by how much the depth fell short of the recorded one */
    uint64_t last_issue_ns; /* records of a group keep their order */
    uint64_t ready_ns;      /* of the head, where it is in the heap */
    bool in_heap;
};

struct waits {
    struct work_pool *pool;
    struct group *group;
    uint32_t *heap; /* groups whose head knows its time, the earliest first */
    uint32_t groups, room, heap_count;
    uint32_t idle; /* groups without a head */
    uint64_t pending;
    double own_share;
    double recorded_depth;
};

int waits_open(struct waits **out, struct work_pool *pool, struct err *e)
{
    struct waits *ws = calloc(1, sizeof *ws);
    if (!ws)
        return err_sys(e, ENOMEM, "cannot keep groups");
    ws->pool = pool;
    *out = ws;
    return 0;
}

void waits_close(struct waits *ws)
{
    if (!ws)
        return;
    for (uint32_t g = 0; g < ws->groups; g++)
        free(ws->group[g].time_ns);
    free(ws->group);
    free(ws->heap);
    free(ws);
}

static int grow_groups(struct waits *ws, uint32_t count, struct err *e)
{
    uint32_t room = ws->room;
    while (room < count)
        room = room ? room * 2 : 16;
    if (room > ws->room) {
        struct group *group = realloc(ws->group, room * sizeof *group);
        if (group)
            ws->group = group;
        uint32_t *heap = realloc(ws->heap, room * sizeof *heap);
        if (heap)
            ws->heap = heap;
        if (!group || !heap)
            return err_sys(e, ENOMEM, "cannot keep %u groups", count);
        ws->room = room;
    }
    for (; ws->groups < count; ws->groups++) {
        ws->group[ws->groups] = (struct group){.head = NONE, .tail = NONE};
        ws->idle++;
    }
    return 0;
}

static bool earlier(const struct waits *ws, uint32_t a, uint32_t b)
{
    return ws->group[a].ready_ns < ws->group[b].ready_ns;
}

static void heap_push(struct waits *ws, uint32_t g)
{
    uint32_t at = ws->heap_count++;
    while (at > 0 && earlier(ws, g, ws->heap[(at - 1) / 2])) {
        ws->heap[at] = ws->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    ws->heap[at] = g;
    ws->group[g].in_heap = true;
}

static uint32_t heap_pop(struct waits *ws)
{
    uint32_t top = ws->heap[0];
    uint32_t last = ws->heap[--ws->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= ws->heap_count)
            break;
        if (child + 1 < ws->heap_count && earlier(ws, ws->heap[child + 1], ws->heap[child]))
            child++;
        if (!earlier(ws, ws->heap[child], last))
            break;
        ws->heap[at] = ws->heap[child];
        at = child;
    }
    ws->heap[at] = last;
    ws->group[top].in_heap = false;
    return top;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many were in flight at the recording when the head arrived. */
static uint64_t depth_then(const struct group *group, uint64_t watermark)
{
    return group->issued > watermark ? group->issued - watermark : 0;
}

/* Puts the group into the heap where its head's watermark is reached, or near enough. */
static void advance(struct waits *ws, uint32_t g)
{
    struct group *group = &ws->group[g];
    if (group->head == NONE || group->in_heap)
        return;
    struct work *w = ws->pool->block[group->head / WORK_RECORDS];
    uint32_t i = group->head % WORK_RECORDS;
    uint64_t depth = depth_then(group, w->watermark[i]);
    if (depth > group->depth_max)
        group->depth_max = depth;
    uint64_t balance = group->balance > 0 ? (uint64_t)group->balance : 0;
    uint64_t ahead = least(least(balance, depth), group->depth_max - depth);
    uint64_t watermark = w->watermark[i] - least(ahead, w->watermark[i]);
    if (watermark > group->completed)
        return;
    uint64_t reached_ns = 0;
    if (watermark > group->forgotten)
        reached_ns = group->time_ns[(watermark - 1) & (group->room - 1)];
    uint64_t ready_ns = reached_ns + w->think_ns[i];
    group->ready_ns = ready_ns > group->last_issue_ns ? ready_ns : group->last_issue_ns;
    /* Recorded watermarks of a group never fall, so times earlier than this are not asked for again. */
    if (w->watermark[i] > group->forgotten + 1 + BALANCE_MAX)
        group->forgotten = w->watermark[i] - 1 - BALANCE_MAX;
    heap_push(ws, g);
}

int waits_add(struct waits *ws, struct work *w, uint32_t i, struct err *e)
{
    uint32_t g = w->group[i];
    if (g >= ws->groups) {
        int r = grow_groups(ws, g + 1, e);
        if (r < 0)
            return r;
    }
    struct group *group = &ws->group[g];
    uint32_t at = w->index * WORK_RECORDS + i;
    w->next[i] = NONE;
    if (group->head == NONE) {
        group->head = at;
        ws->idle--;
    } else {
        ws->pool->block[group->tail / WORK_RECORDS]->next[group->tail % WORK_RECORDS] = at;
    }
    group->tail = at;
    ws->pending++;
    advance(ws, g);
    return 0;
}

bool waits_first(const struct waits *ws, struct work **w, uint32_t *i, uint64_t *ready_ns)
{
    if (ws->heap_count == 0)
        return false;
    const struct group *group = &ws->group[ws->heap[0]];
    *w = ws->pool->block[group->head / WORK_RECORDS];
    *i = group->head % WORK_RECORDS;
    *ready_ns = group->ready_ns;
    return true;
}

/* The head is issued: how the depth that it meets compares with the recorded one. */
static void note_issued(struct waits *ws, struct group *group)
{
    struct work *w = ws->pool->block[group->head / WORK_RECORDS];
    uint32_t i = group->head % WORK_RECORDS;
    double depth = (double)(group->issued - group->completed) * (1 - ws->own_share);
    double recorded = (double)depth_then(group, w->watermark[i]);
    ws->recorded_depth += (recorded - ws->recorded_depth) / DEPTH_MEAN;
    group->balance += recorded - depth;
    group->balance = fmax(-BALANCE_MAX, fmin(BALANCE_MAX, group->balance));
    if (w->counts[i])
        group->issued++;
}

void waits_take(struct waits *ws)
{
    uint32_t g = heap_pop(ws);
    struct group *group = &ws->group[g];
    group->last_issue_ns = group->ready_ns;
    note_issued(ws, group);
    group->head = ws->pool->block[group->head / WORK_RECORDS]->next[group->head % WORK_RECORDS];
    ws->pending--;
    if (group->head == NONE) {
        group->tail = NONE;
        ws->idle++;
    }
    advance(ws, g);
}

static int grow_times(struct group *group, struct err *e)
{
    uint32_t room = group->room ? group->room * 2 : 16;
    uint64_t *time_ns = malloc(room * sizeof *time_ns);
    if (!time_ns)
        return err_sys(e, ENOMEM, "cannot keep times of completions");
    for (uint64_t n = group->forgotten; n < group->completed; n++)
        time_ns[n & (room - 1)] = group->time_ns[n & (group->room - 1)];
    free(group->time_ns);
    group->time_ns = time_ns;
    group->room = room;
    return 0;
}

int waits_completed(struct waits *ws, uint32_t g, uint64_t at_ns, struct err *e)
{
    struct group *group = &ws->group[g];
    if (group->completed - group->forgotten == group->room) {
        int r = grow_times(group, e);
        if (r < 0)
            return r;
    }
    group->time_ns[group->completed++ & (group->room - 1)] = at_ns;
    advance(ws, g);
    return 0;
}

void waits_own(struct waits *ws, double share)
{
    ws->own_share = share;
}

double waits_recorded_depth(const struct waits *ws)
{
    return ws->recorded_depth;
}

uint64_t waits_pending(const struct waits *ws)
{
    return ws->pending;
}

bool waits_idle_group(const struct waits *ws)
{
    return ws->idle > 0;
}
