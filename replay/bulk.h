/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Much I/O of one kind on one target, many at a time, through its ordinary interface: what guarding and
 * filling need.
 */
#ifndef IOTAPE_BULK_H
#define IOTAPE_BULK_H

#include <signal.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/target.h"

#define BULK_BYTES (UINT64_C(512) << 10) /* an I/O, at most */
#define BULK_DEPTH 32

/* Makes the data of a write before it goes out, or looks at that of a read that came in (in any order). */
typedef int bulk_data(void *context, void *data, uint64_t offset_bytes, uint64_t len_bytes, struct err *e);

struct bulk;

/* `op` is BLOCK_READ or BLOCK_WRITE. Where *stop becomes set, bulk_add and bulk_finish return -EINTR. */
int bulk_open(struct bulk **b, struct target *t, enum block_op op, bulk_data *data, void *context,
        const volatile sig_atomic_t *stop, struct err *e);
/* One I/O of at most BULK_BYTES, aligned to the target's sectors. Errors may be those of I/Os before it. */
int bulk_add(struct bulk *b, uint64_t offset_bytes, uint64_t len_bytes, struct err *e);
/* Waits for all; after writes until they are on stable storage. */
int bulk_finish(struct bulk *b, struct err *e);
/* Frees it, after waiting for what is in flight (NULL is allowed). */
void bulk_close(struct bulk *b);

#endif
