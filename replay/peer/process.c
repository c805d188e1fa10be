/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/process.h"

#include <sys/resource.h>

#include "formats/base/units.h"

static uint64_t of_timeval(struct timeval t)
{
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * NS_PER_US;
}

void process_usage(struct process_usage *u)
{
    struct rusage r = {0};
    getrusage(RUSAGE_SELF, &r);
    u->cpu_ns = of_timeval(r.ru_utime) + of_timeval(r.ru_stime);
    hoststat_read(&u->host);
}

uint64_t process_files(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) < 0)
        return 1024;
    struct rlimit raised = {l.rlim_max, l.rlim_max};
    if (l.rlim_cur != l.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        l.rlim_cur = l.rlim_max;
    return l.rlim_cur == RLIM_INFINITY ? UINT32_MAX : l.rlim_cur;
}
