/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * XXH3 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md). The only file that names xxhash.
 */
#ifndef IOTAPE_DIGEST_H
#define IOTAPE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* XXH3-64, seed 0. */
uint64_t digest64(const void *data, size_t len);

/* Adds the XXH3-128 (seed 0) of `data` to `sum` modulo 2^128; sum[0] is the less significant half. */
void digest128_add(uint64_t sum[2], const void *data, size_t len);

#endif
