/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the two files of the aio target: aio.c opens block devices and files, aio_queue.c moves their
 * I/O.
 */
#ifndef IOTAPE_AIO_H
#define IOTAPE_AIO_H

#include "replay/claims.h"
#include "replay/target.h"

struct aio_target {
    struct target base;
    int fd; /* -1 while absent */
    bool is_block, read_only;
    char *path;
    struct claims claims;
};

int aio_queue_open(struct target_queue **q, unsigned depth, struct err *e);
void aio_queue_close(struct target_queue *q);
int aio_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e);
int aio_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e);

/* What libaio cannot do, done at once: a write after a flush, discard, write-zeroes, flush. */
int64_t aio_perform(const struct target_io *io);

#endif
