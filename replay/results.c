/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/results.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/base/units.h"

_Static_assert(WORK_RECORDS <= RUN_CHUNK_RECORDS, "a block of work makes one chunk");

struct results {
    struct run_writer *run;
    uint32_t repetition;
    struct work_pool *pool;
    volatile sig_atomic_t *stop;
    struct results_sum sum;
    pthread_t thread;
    int result; /* the first failure */
    struct err err;
};

/* Moves the records that have a result to the front; returns how many. */
static uint32_t compact(struct work *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->state[i] != WORK_DONE)
            continue;
        if (n != i) {
            w->record[n] = w->record[i];
            w->offset_bytes[n] = w->offset_bytes[i];
            w->len_bytes[n] = w->len_bytes[i];
            w->scheduled_ns[n] = w->scheduled_ns[i];
            w->issued_ns[n] = w->issued_ns[i];
            w->latency_ns[n] = w->latency_ns[i];
            w->stream[n] = w->stream[i];
            w->error[n] = w->error[i];
            w->op[n] = w->op[i];
        }
        n++;
    }
    return n;
}

static void sum_up(struct results_sum *s, const struct work *w, uint32_t count)
{
    uint64_t bytes[BLOCK_OPS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t issued_ns = w->issued_ns[i];
        uint64_t late_ns = issued_ns > w->scheduled_ns[i] ? issued_ns - w->scheduled_ns[i] : 0;
        lateness_add(&s->lateness, late_ns);
        s->behind += late_ns > NS_PER_MS;
        if (w->error[i])
            continue;
        s->latency_sum_ns += w->latency_ns[i];
        s->latency_count++;
        bytes[w->op[i]] += w->len_bytes[i];
    }
    s->records += count;
    s->read_bytes += bytes[BLOCK_READ];
    s->written_bytes += bytes[BLOCK_WRITE];
}

static void store(struct results *r, struct work *w)
{
    uint32_t count = compact(w);
    struct run_chunk c = {.repetition = r->repetition,
            .count = count,
            .record = w->record,
            .offset_bytes = w->offset_bytes,
            .len_bytes = w->len_bytes,
            .scheduled_ns = w->scheduled_ns,
            .issued_ns = w->issued_ns,
            .latency_ns = w->latency_ns,
            .stream = w->stream,
            .error = w->error,
            .op = w->op};
    if (count == 0 || r->result < 0)
        return;
    r->result = run_writer_add(r->run, &c, &r->err);
    if (r->result == 0)
        sum_up(&r->sum, w, count);
    else
        *r->stop = 1;
}

static void *results_thread(void *context)
{
    struct results *r = context;
    struct work *w;
    while ((w = work_queue_pop(&r->pool->done))) {
        store(r, w);
        work_queue_push(&r->pool->spare, w);
    }
    return NULL;
}

int results_open(struct results **out, struct run_writer *run, uint32_t repetition, struct work_pool *pool,
        volatile sig_atomic_t *stop, struct err *e)
{
    struct results *r = calloc(1, sizeof *r);
    if (!r)
        return err_sys(e, ENOMEM, "cannot store results");
    r->run = run;
    r->repetition = repetition;
    r->pool = pool;
    r->stop = stop;
    int failed = pthread_create(&r->thread, NULL, results_thread, r);
    if (failed) {
        free(r);
        return err_sys(e, failed, "cannot start the encoding thread");
    }
    *out = r;
    return 0;
}

int results_close(struct results *r, struct results_sum *sum, struct err *e)
{
    if (!r)
        return 0;
    pthread_join(r->thread, NULL);
    *sum = r->sum;
    int result = r->result;
    if (result < 0 && e)
        *e = r->err;
    free(r);
    return result;
}
