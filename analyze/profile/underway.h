/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which conversations are open, found by their numbers: as much memory as are open at once need, 24 bytes for
 * each in a table at most half full.
 */
#ifndef IOTAPE_PROFILE_UNDERWAY_H
#define IOTAPE_PROFILE_UNDERWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

struct underway_one {
    uint64_t begin_ns;
    uint64_t key; /* number + 1; 0: the place is free */
    uint32_t stream;
    bool begin_known; /* begin_ns is its begin, not its first sight */
};

/* All zero: none is open. */
struct underway {
    struct underway_one *places;
    size_t room, count;
};

void underway_release(struct underway *u);
/* Forgets all. */
void underway_reset(struct underway *u);

/* Its number must not be there. -ENOMEM. */
int underway_add(struct underway *u, struct underway_one one, struct err *e);
/* NULL: not there. Valid until the next add or remove. */
struct underway_one *underway_find(const struct underway *u, uint32_t number);
void underway_remove(struct underway *u, struct underway_one *one);

#endif
