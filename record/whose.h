/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whose I/O is recorded: from --cgroup and --pid to what a source compares.
 */
#ifndef IOTAPE_WHOSE_H
#define IOTAPE_WHOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "record/source.h"

struct whose {
    struct source_filter filter; /* its processes are these */
    uint32_t *processes;         /* owned */
    bool by_task; /* a cgroup without the io controller: I/O counts by the task that queues it */
};

/* `cgroups`: directories of a cgroup file system, or paths as /proc/PID/cgroup shows them. `pids`: decimal
 * numbers of running processes or threads of them; `children`: their children, too. Errors say what the user
 * can give instead. Release in any case. */
int whose_init(struct whose *w, const char *const *cgroups, size_t cgroup_count, const char *const *pids,
        size_t pid_count, bool children, struct err *e);
void whose_release(struct whose *w);

#endif
