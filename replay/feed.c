/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/feed.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

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

int feed_walk(const struct feed_source *s,
        int (*each)(void *context, const struct block_record *r, uint64_t number, struct err *e),
        void *context, struct err *e)
{
    const struct block_chunk *c;
    int r = tape_reader_seek(s->tape, s->from_ns, e);
    if (r < 0)
        return r;
    while ((r = tape_reader_next(s->tape, &c, e)) == 1) {
        for (uint32_t i = 0; i < c->count; i++) {
            if (c->t_ns[i] < s->from_ns)
                continue;
            if (c->t_ns[i] >= s->until_ns)
                return 0;
            struct block_record record = block_chunk_get(c, i);
            int stopped = each(context, &record, c->first + i, e);
            if (stopped)
                return stopped;
        }
    }
    return r;
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

/* 1 where the consumer has gone. */
static int hand_over(struct feed *f)
{
    if (f->filling && f->filling->count) {
        f->filling->remaining = f->filling->count;
        work_queue_push(&f->pool->ready, f->filling);
        f->filling = NULL;
    }
    return 0;
}

static int take_spare(struct feed *f)
{
    f->filling = work_queue_pop(&f->pool->spare);
    if (!f->filling || atomic_load(&f->stop))
        return 1;
    f->filling->count = 0;
    return 0;
}

static int put_wait(struct feed *f, const struct block_record *r, uint32_t i, struct err *e)
{
    struct depend_wait wait;
    int failed = depend_next(f->depend, r, &wait, e);
    if (failed < 0)
        return failed;
    f->filling->group[i] = wait.group;
    f->filling->counts[i] = wait.counts;
    f->filling->watermark[i] = wait.watermark;
    f->filling->think_ns[i] = scaled_ns(f, wait.think_ns);
    return 0;
}

static int put_record(void *context, const struct block_record *record, uint64_t number, struct err *e)
{
    struct feed *f = context;
    if (!f->filling && take_spare(f))
        return 1;
    struct work *w = f->filling;
    uint32_t i = w->count;
    int failed = f->depend ? put_wait(f, record, i, e) : 0;
    if (failed < 0)
        return failed;
    struct block_record r = *record;
    bool drop;
    if (feed_fit(&f->source, &r, &drop, &f->counts) == FIT_REFUSED)
        return err_set(e, ERANGE, "record %llu does not fit its target", (unsigned long long)number + 1);
    w->record[i] = number;
    w->offset_bytes[i] = r.offset_bytes;
    w->len_bytes[i] = r.len_bytes;
    w->stream[i] = r.stream;
    w->flags[i] = r.flags;
    w->op[i] = r.op;
    w->error[i] = 0;
    w->state[i] = drop ? WORK_DROP : WORK_DO;
    w->scheduled_ns[i] = scaled_ns(f, r.t_ns - f->source.from_ns);
    if (++w->count == WORK_RECORDS)
        return hand_over(f);
    return 0;
}

static void *feed_thread(void *context)
{
    struct feed *f = context;
    f->result = feed_walk(&f->source, put_record, f, &f->err);
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
