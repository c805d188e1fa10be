/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What this host did meanwhile: CPU time, time stolen by the hypervisor, pressure.
 */
#ifndef IOTAPE_HOSTSTAT_H
#define IOTAPE_HOSTSTAT_H

#include <stdint.h>

/* Counters since boot; those that the kernel does not have are 0. */
struct hoststat {
    uint64_t busy_ns;  /* /proc/stat, all CPUs: user, nice, system, irq, softirq */
    uint64_t steal_ns; /* /proc/stat */
    uint64_t pressure_cpu_us, pressure_io_us, pressure_memory_us; /* /proc/pressure: total of "some" */
};

/* proc(5). */
void hoststat_read(struct hoststat *h);

#endif
