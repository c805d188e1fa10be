/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long this host takes to wake a thread that waits for I/O.
 *
 * A recorded think time begins when the block layer completed an I/O, and so holds the wake-up of whoever
 * waited for it. A replay learns of a completion only after a wake-up of its own: a think time that began there
 * would count two. So `closed` takes the wake-up off again.
 */
#ifndef IOTAPE_WAKE_H
#define IOTAPE_WAKE_H

#include <stdint.h>

#include "formats/base/err.h"

/* The median, in ns, of how long after another thread's event a thread in ppoll returns; takes some
 * milliseconds. 0 or -errno. */
int wake_measure(uint64_t *wake_ns, struct err *e);

#endif
