/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long this host takes to wake a thread that waits for I/O.
 *
 * A recorded think time begins when the block layer completed an I/O, and so holds the wake-up of whoever
 * waited for it. A replay learns of a completion only after a wake-up of its own: a think time that began
 * there would count two. So `closed` takes the wake-up off again.
 */
#ifndef IOTAPE_WAKE_H
#define IOTAPE_WAKE_H

#include <stdint.h>

#include "formats/base/err.h"

struct wake {
    uint64_t wake_ns; /* from another thread's event until a thread in ppoll has returned */
    uint64_t tell_ns; /* the part of it in which that other thread is kept: what waking takes whoever wakes */
};

/* Medians of some rounds; takes some milliseconds. 0 or -errno. */
int wake_measure(struct wake *w, struct err *e);

#endif
