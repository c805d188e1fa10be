/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Blocks of work: what the decoding thread prepares, the engine fills in and the encoding thread stores.
 * Threads meet once a block, never once a record, and a fixed number of blocks bounds memory.
 */
#ifndef IOTAPE_WORK_H
#define IOTAPE_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"

#define WORK_RECORDS 16384
#define WORK_BLOCKS  12

enum work_state {
    WORK_DO,   /* to be issued */
    WORK_DROP, /* not to be issued: skipped; counts as completed when its time has come */
    WORK_DONE, /* has a result */
    WORK_GONE, /* has none and never will: was dropped, or the target cannot do it */
};

/* Column by column, since each thread needs few of the columns. */
struct work {
    uint32_t count;
    uint32_t remaining; /* records that are neither WORK_DONE nor WORK_GONE */
    uint32_t index;     /* of this block in its pool */
    /* in */
    uint64_t record[WORK_RECORDS], offset_bytes[WORK_RECORDS], len_bytes[WORK_RECORDS];
    uint32_t stream[WORK_RECORDS];
    uint16_t flags[WORK_RECORDS];
    uint8_t op[WORK_RECORDS];
    /* in, with `closed` only: formats/depend.h */
    uint64_t watermark[WORK_RECORDS], think_ns[WORK_RECORDS];
    uint32_t group[WORK_RECORDS];
    uint8_t counts[WORK_RECORDS];
    /* in with `recorded`, out else */
    uint64_t scheduled_ns[WORK_RECORDS];
    /* out */
    uint64_t issued_ns[WORK_RECORDS], latency_ns[WORK_RECORDS];
    uint16_t error[WORK_RECORDS];
    uint8_t state[WORK_RECORDS];
    /* the engine's own */
    uint32_t next[WORK_RECORDS];
};

/* A bounded queue of blocks between two threads. */
struct work_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct work *ring[WORK_BLOCKS];
    unsigned head;
    atomic_uint count;
    bool closed;
};

void work_queue_push(struct work_queue *q, struct work *w);
/* The next block; NULL where the queue is empty and closed. */
struct work *work_queue_pop(struct work_queue *q);
/* Never waits: NULL where nothing is there. */
struct work *work_queue_try(struct work_queue *q);
void work_queue_close(struct work_queue *q);

struct work_pool {
    struct work *block[WORK_BLOCKS];
    struct work_queue spare, ready, done; /* to the decoder, to the engine, to the encoder */
};

int work_pool_open(struct work_pool **p, struct err *e);
void work_pool_close(struct work_pool *p); /* NULL is allowed */
/* Puts all blocks into `spare` and opens all queues; no thread may be at work. */
void work_pool_reset(struct work_pool *p);

#endif
