/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which of very many ranges are touched most, and how much of all touching falls to the most touched per
 * cents.
 */
#ifndef IOTAPE_PROFILE_HOTTEST_H
#define IOTAPE_PROFILE_HOTTEST_H

#include <stdbool.h>

#include "analyze/profile.h"
#include "formats/base/err.h"

#define HOTTEST_RANGES 256

struct hottest {
    struct profile_hot list[HOTTEST_RANGES]; /* the most touched so far, in no order */
    size_t count, coolest;
    uint64_t *few;  /* few[k]: ranges with k touches; owned */
    uint64_t *many; /* touches of each with more; owned */
    size_t many_count, many_room;
};

/* -ENOMEM. */
int hottest_init(struct hottest *h, struct err *e);
void hottest_release(struct hottest *h);
/* Takes a range; each once, in any order. -ENOMEM. */
int hottest_add(struct hottest *h, const struct profile_hot *range);
/* Fills in what the working set says of its ranges. */
void hottest_finish(struct hottest *h, struct profile_working_set *w);

#endif
