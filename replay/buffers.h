/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Aligned buffers for I/O, kept for reuse by size (powers of two from 4 KiB), bounded in total.
 */
#ifndef IOTAPE_BUFFERS_H
#define IOTAPE_BUFFERS_H

#include <stdint.h>

#include "formats/base/err.h"

#define BUFFERS_BOUND_BYTES (UINT64_C(64) << 20)
/* The largest read or write that can be replayed. */
#define BUFFERS_LEN_MAX (UINT64_C(1) << 30)

struct buffers;

int buffers_open(struct buffers **b, uint64_t bound_bytes, struct err *e);
void buffers_close(struct buffers *b); /* NULL is allowed; all must have been given back */

/* A buffer of at least `len_bytes`, or NULL where the bound is reached: give one back first. Where none is
 * out, one larger than the bound is given. Contents are arbitrary. */
void *buffers_get(struct buffers *b, uint64_t len_bytes);
/* Takes it back; `len_bytes` as it was asked for. */
void buffers_put(struct buffers *b, void *buffer, uint64_t len_bytes);

#endif
