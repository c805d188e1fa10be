/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The inner loops of columns.h, which see every value of every tape: written so that compilers vectorise
 * them.
 */
#ifndef IOTAPE_PLANES_H
#define IOTAPE_PLANES_H

#include <stddef.h>
#include <stdint.h>

struct planes {
    uint64_t base;
    unsigned shift; /* 0 to 63 */
    unsigned width; /* 0 to 8 */
};

/* What `count` (1 or more) numbers need. */
struct planes planes_measure(const uint64_t *x, size_t count);

/* Writes width * count bytes. */
void planes_write(const uint64_t *x, size_t count, struct planes p, uint8_t *out);

/* Reads numbers `from` to from + n - 1 of `count`. */
void planes_read(const uint8_t *in, size_t count, struct planes p, size_t from, size_t n, uint64_t *x);

#endif
