/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The encoding thread: stores finished blocks of work in a run, behind the engine, and sums them up.
 */
#ifndef IOTAPE_RESULTS_H
#define IOTAPE_RESULTS_H

#include <signal.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/run.h"
#include "replay/lateness.h"
#include "replay/work.h"

struct results_sum {
    uint64_t records, read_bytes, written_bytes; /* bytes: of I/O that succeeded */
    uint64_t behind;                             /* records issued more than 1 ms after their schedule */
    uint64_t latency_sum_ns, latency_count;      /* of I/O that succeeded */
    struct lateness lateness;
};

struct results;

/* Starts the thread, which owns `run` and
 * takes blocks from pool->done to pool->spare. `repetition` counts from 1. Where results cannot be stored it
 * sets *stop, since nothing that is measured from then on would be kept. */
int results_open(struct results **r, struct run_writer *run, uint32_t repetition, struct work_pool *pool,
        volatile sig_atomic_t *stop, struct err *e);

/* Waits until pool->done, closed by the engine, is empty. -errno where results could not be stored; *sum
 * counts what was. Frees the handle (NULL is allowed). */
int results_close(struct results *r, struct results_sum *sum, struct err *e);

#endif
