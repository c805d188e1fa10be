/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/feed.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct feed {
    struct feed_source source;
    struct work_pool *pool;
    struct depend *depend; /* with `closed` */
    struct work *filling;
    struct feed_counts counts;
    pthread_t thread;
    atomic_bool stop;
    /* Set by the thread before it closes pool->ready. */
    int result;
    struct err err;
};

/* Calls `span` for the records of each chunk that belong to the part: those from `first` to before `end`. */
static int walk_chunks(const struct feed_source *s,
        int (*span)(void *context, const struct block_chunk *c, uint32_t first, uint32_t end, struct err *e),
        void *context, struct err *e)
{
    const struct block_chunk *c;
    int r = tape_reader_seek(s->tape, s->from_ns, e);
    if (r < 0)
        return r;
    while ((r = tape_reader_next(s->tape, &c, e)) == 1) {
        uint32_t first = 0;
        uint32_t end = c->count;
        while (first < end && c->t_ns[first] < s->from_ns)
            first++;
        while (end > first && c->t_ns[end - 1] >= s->until_ns)
            end--;
        int stopped = end > first ? span(context, c, first, end, e) : 0;
        if (stopped || end < c->count)
            return stopped;
    }
    return r;
}

struct walk {
    const volatile sig_atomic_t *stop;
    int (*each)(void *context, const struct block_record *r, uint64_t number, struct err *e);
    void *context;
};

static int walk_span(void *context, const struct block_chunk *c, uint32_t first, uint32_t end, struct err *e)
{
    const struct walk *w = context;
    int r = 0;
    for (uint32_t i = first; i < end && r == 0; i++) {
        if (w->stop && *w->stop)
            return err_set(e, EINTR, "cut short by a signal");
        struct block_record record = block_chunk_get(c, i);
        r = w->each(w->context, &record, c->first + i, e);
    }
    return r;
}

int feed_walk(const struct feed_source *s,
        int (*each)(void *context, const struct block_record *r, uint64_t number, struct err *e),
        void *context, struct err *e)
{
    struct walk w = {s->stop, each, context};
    return walk_chunks(s, walk_span, &w, e);
}

enum fit_outcome feed_fit(
        const struct feed_source *s, struct block_record *r, bool *drop, struct feed_counts *counts)
{
    const struct target *t = s->target[r->stream];
    *drop = false;
    if (s->read_only && r->op != BLOCK_READ) {
        counts->readonly_skipped++;
        *drop = true;
        return FIT_FITS;
    }
    if (fit_fits(t->size_bytes, t->sector_bytes, r->offset_bytes, r->len_bytes))
        return FIT_FITS;
    enum fit_outcome outcome =
            fit_apply(s->fit, t->size_bytes, t->sector_bytes, r->op, &r->offset_bytes, &r->len_bytes);
    counts->wrapped += outcome == FIT_WRAPPED;
    counts->widened += outcome == FIT_WIDENED;
    counts->skipped += outcome == FIT_SKIPPED;
    *drop = outcome == FIT_SKIPPED;
    return outcome;
}

static uint64_t scaled_ns(const struct feed *f, uint64_t ns)
{
    return f->source.speed == 1 ? ns : (uint64_t)((double)ns / f->source.speed);
}

static void hand_over(struct feed *f)
{
    if (!f->filling || f->filling->count == 0)
        return;
    f->filling->remaining = f->filling->count;
    work_queue_push(&f->pool->ready, f->filling);
    f->filling = NULL;
}

/* 1 where the consumer has gone. */
static int take_spare(struct feed *f)
{
    struct work *w = work_queue_pop(&f->pool->spare);
    if (!w || atomic_load(&f->stop))
        return 1;
    w->count = 0;
    f->filling = w;
    return 0;
}

static int put_waits(struct feed *f, const struct block_chunk *c, uint32_t first, uint32_t at, uint32_t count,
        struct err *e)
{
    struct work *w = f->filling;
    for (uint32_t i = 0; i < count; i++) {
        struct block_record record = block_chunk_get(c, first + i);
        struct depend_wait wait;
        int r = depend_next(f->depend, &record, &wait, e);
        if (r < 0)
            return r;
        w->group[at + i] = wait.group;
        w->counts[at + i] = wait.counts;
        w->watermark[at + i] = wait.watermark;
        w->think_ns[at + i] = scaled_ns(f, wait.think_ns);
    }
    return 0;
}

/* Fits one that does not fit as it is. */
static int put_misfit(struct feed *f, struct work *w, uint32_t i, struct err *e)
{
    struct block_record r = {.offset_bytes = w->offset_bytes[i],
            .len_bytes = w->len_bytes[i],
            .stream = w->stream[i],
            .op = w->op[i]};
    bool drop;
    if (feed_fit(&f->source, &r, &drop, &f->counts) == FIT_REFUSED)
        return err_set(
                e, ERANGE, "record %llu does not fit its target", (unsigned long long)w->record[i] + 1);
    w->offset_bytes[i] = r.offset_bytes;
    w->len_bytes[i] = r.len_bytes;
    w->state[i] = drop ? WORK_DROP : WORK_DO;
    return 0;
}

static int put_fits(struct feed *f, struct work *w, uint32_t at, uint32_t count, struct err *e)
{
    for (uint32_t i = at; i < at + count; i++) {
        const struct target *t = f->source.target[w->stream[i]];
        bool fits = fit_fits(t->size_bytes, t->sector_bytes, w->offset_bytes[i], w->len_bytes[i]);
        if (fits && (!f->source.read_only || w->op[i] == BLOCK_READ))
            continue;
        int r = put_misfit(f, w, i, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Column by column: this is the hot loop of the decoding thread. */
static int put_records(
        struct feed *f, const struct block_chunk *c, uint32_t first, uint32_t count, struct err *e)
{
    struct work *w = f->filling;
    uint32_t at = w->count;
    memcpy(w->offset_bytes + at, c->offset_bytes + first, count * sizeof *w->offset_bytes);
    memcpy(w->len_bytes + at, c->len_bytes + first, count * sizeof *w->len_bytes);
    memcpy(w->stream + at, c->stream + first, count * sizeof *w->stream);
    memcpy(w->flags + at, c->flags + first, count * sizeof *w->flags);
    memcpy(w->op + at, c->op + first, count * sizeof *w->op);
    memset(w->error + at, 0, count * sizeof *w->error);
    memset(w->state + at, WORK_DO, count * sizeof *w->state);
    for (uint32_t i = 0; i < count; i++)
        w->record[at + i] = c->first + first + i;
    if (f->source.timing == TIMING_RECORDED)
        for (uint32_t i = 0; i < count; i++)
            w->scheduled_ns[at + i] = scaled_ns(f, c->t_ns[first + i] - f->source.from_ns);
    int r = f->depend ? put_waits(f, c, first, at, count, e) : 0;
    w->count += count;
    return r < 0 ? r : put_fits(f, w, at, count, e);
}

static int put_span(void *context, const struct block_chunk *c, uint32_t first, uint32_t end, struct err *e)
{
    struct feed *f = context;
    while (first < end) {
        if (!f->filling && take_spare(f))
            return 1;
        uint32_t room = WORK_RECORDS - f->filling->count;
        uint32_t count = end - first < room ? end - first : room;
        int r = put_records(f, c, first, count, e);
        if (r < 0)
            return r;
        if (f->filling->count == WORK_RECORDS)
            hand_over(f);
        first += count;
    }
    return 0;
}

static void *feed_thread(void *context)
{
    struct feed *f = context;
    f->result = walk_chunks(&f->source, put_span, f, &f->err);
    if (f->result >= 0)
        hand_over(f);
    work_queue_close(&f->pool->ready);
    return NULL;
}

int feed_open(struct feed **out, const struct feed_source *s, struct work_pool *pool, struct err *e)
{
    struct feed *f = calloc(1, sizeof *f);
    if (!f)
        return err_sys(e, ENOMEM, "cannot read ahead");
    f->source = *s;
    f->pool = pool;
    int r = s->timing == TIMING_CLOSED ? depend_open(&f->depend, s->group, s->from_ns, e) : 0;
    if (r == 0 && (r = pthread_create(&f->thread, NULL, feed_thread, f)) != 0)
        r = err_sys(e, r, "cannot start the decoding thread");
    if (r < 0) {
        depend_close(f->depend);
        free(f);
        return r;
    }
    *out = f;
    return 0;
}

int feed_next(struct feed *f, bool wait, struct work **w, struct err *e)
{
    *w = work_queue_try(&f->pool->ready);
    if (*w)
        return 1;
    if (!wait) {
        pthread_mutex_lock(&f->pool->ready.lock);
        bool more = !f->pool->ready.closed || atomic_load(&f->pool->ready.count);
        pthread_mutex_unlock(&f->pool->ready.lock);
        if (more)
            return -EAGAIN;
    }
    *w = work_queue_pop(&f->pool->ready);
    if (*w)
        return 1;
    if (f->result < 0) {
        if (e)
            *e = f->err;
        return f->result;
    }
    return 0;
}

void feed_close(struct feed *f, struct feed_counts *counts)
{
    if (!f)
        return;
    atomic_store(&f->stop, true);
    work_queue_close(&f->pool->spare);
    pthread_join(f->thread, NULL);
    if (counts)
        *counts = f->counts;
    depend_close(f->depend);
    free(f);
}
