/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory for the arrays of a chunk: what the kinds of chunks (chunk_kinds.c, chunk_net.c) share.
 */
#ifndef IOTAPE_CHUNK_ARRAYS_H
#define IOTAPE_CHUNK_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A pointer to an array pointer, and what an element of the array takes. */
struct array {
    void *pointer;
    size_t elem_bytes;
};
#define ARRAY(field)                                                                                         \
    {                                                                                                        \
        &(field), sizeof *(field)                                                                            \
    }

/* Allocates all of the list for `count` elements; on -ENOMEM all are NULL. */
int arrays_alloc(const struct array *a, size_t n, uint32_t count, struct err *e);

/* A power of two, so that tapes of small chunks need little and others do not allocate often. */
uint32_t arrays_room_for(uint32_t count);

#endif
