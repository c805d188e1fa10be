/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Running processes, as /proc shows them.
 */
#ifndef IOTAPE_PROCESSES_H
#define IOTAPE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"

/* The process that a thread is of, itself where it is one. False where there is none. */
bool processes_of_thread(uint32_t thread, uint32_t *process);

/* Calls `take` for each process with the one that made it (or that took it over). One that begins or ends
 * meanwhile may be missing. -errno, or what `take` returned below 0. */
typedef int processes_take(void *self, uint32_t process, uint32_t parent, struct err *e);
int processes_each(processes_take *take, void *self, struct err *e);

#endif
