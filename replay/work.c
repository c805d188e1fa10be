/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/work.h"

#include <errno.h>
#include <stdlib.h>

void work_queue_push(struct work_queue *q, struct work *w)
{
    pthread_mutex_lock(&q->lock);
    unsigned count = atomic_load_explicit(&q->count, memory_order_relaxed);
    q->ring[(q->head + count) % WORK_BLOCKS] = w;
    atomic_store_explicit(&q->count, count + 1, memory_order_release);
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static struct work *take(struct work_queue *q)
{
    unsigned count = atomic_load_explicit(&q->count, memory_order_relaxed);
    if (count == 0)
        return NULL;
    struct work *w = q->ring[q->head];
    q->head = (q->head + 1) % WORK_BLOCKS;
    atomic_store_explicit(&q->count, count - 1, memory_order_release);
    return w;
}

struct work *work_queue_pop(struct work_queue *q)
{
    pthread_mutex_lock(&q->lock);
    struct work *w;
    while (!(w = take(q)) && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return w;
}

struct work *work_queue_try(struct work_queue *q)
{
    if (atomic_load_explicit(&q->count, memory_order_acquire) == 0)
        return NULL;
    pthread_mutex_lock(&q->lock);
    struct work *w = take(q);
    pthread_mutex_unlock(&q->lock);
    return w;
}

void work_queue_close(struct work_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void queue_init(struct work_queue *q)
{
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
}

static void queue_release(struct work_queue *q)
{
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->changed);
}

int work_pool_open(struct work_pool **out, struct err *e)
{
    struct work_pool *p = calloc(1, sizeof *p);
    if (!p)
        return err_sys(e, ENOMEM, "cannot allocate blocks of work");
    queue_init(&p->spare);
    queue_init(&p->ready);
    queue_init(&p->done);
    for (uint32_t i = 0; i < WORK_BLOCKS; i++) {
        p->block[i] = calloc(1, sizeof *p->block[i]);
        if (!p->block[i]) {
            work_pool_close(p);
            return err_sys(e, ENOMEM, "cannot allocate blocks of work");
        }
        p->block[i]->index = i;
    }
    *out = p;
    return 0;
}

void work_pool_close(struct work_pool *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < WORK_BLOCKS; i++)
        free(p->block[i]);
    queue_release(&p->spare);
    queue_release(&p->ready);
    queue_release(&p->done);
    free(p);
}

static void queue_reset(struct work_queue *q)
{
    q->head = 0;
    atomic_store(&q->count, 0);
    q->closed = false;
}

void work_pool_reset(struct work_pool *p)
{
    queue_reset(&p->spare);
    queue_reset(&p->ready);
    queue_reset(&p->done);
    for (uint32_t i = 0; i < WORK_BLOCKS; i++)
        work_queue_push(&p->spare, p->block[i]);
}
