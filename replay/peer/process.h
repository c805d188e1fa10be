/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What this process uses, and may use.
 */
#ifndef IOTAPE_PEER_PROCESS_H
#define IOTAPE_PEER_PROCESS_H

#include <stdint.h>

#include "replay/hoststat.h"

struct process_usage {
    uint64_t cpu_ns;      /* getrusage(2): user and system time */
    struct hoststat host; /* of the whole host */
};

void process_usage(struct process_usage *u);

/* How many files may be open: the soft limit, after it was raised to the hard one. */
uint64_t process_files(void);

#endif
