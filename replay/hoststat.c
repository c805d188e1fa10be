/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/hoststat.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

static void read_cpu(struct hoststat *h)
{
    CLEANUP_FILE FILE *f = fopen("/proc/stat", "re");
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
    if (!f || fscanf(f,
                      "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                      " %" SCNu64,
                      &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
        return;
    uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
    h->busy_ns = (user + nice + system + irq + softirq) * tick_ns;
    h->steal_ns = steal * tick_ns;
}

static uint64_t read_pressure(const char *path)
{
    CLEANUP_FILE FILE *f = fopen(path, "re");
    uint64_t total_us;
    if (!f || fscanf(f, "some avg10=%*s avg60=%*s avg300=%*s total=%" SCNu64, &total_us) != 1)
        return 0;
    return total_us;
}

void hoststat_read(struct hoststat *h)
{
    *h = (struct hoststat){0};
    read_cpu(h);
    h->pressure_cpu_us = read_pressure("/proc/pressure/cpu");
    h->pressure_io_us = read_pressure("/proc/pressure/io");
    h->pressure_memory_us = read_pressure("/proc/pressure/memory");
}
