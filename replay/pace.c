/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/pace.h"

#include <sys/prctl.h>

#define MARGIN_MIN_NS 60000
#define MARGIN_MAX_NS 400000
/* How long to look for a completion, and up to which mean wait that is worth its CPU. The second is the
 * kernel's own default for halt polling. */
#define POLL_NS      50000
#define POLL_WAIT_NS 200000
/* What one look may take; and what only a slice of others takes. */
#define LOOK_NS  5000
#define OTHER_NS 500000
/* For how long a CPU counts as shared. */
#define SHARED_MIN_NS 5000000u
#define SHARED_MAX_NS 640000000u
#define AGAIN_NS      20000000u

void pace_init(struct pace *p, unsigned threads)
{
    cpu_set_t cpus;
    *p = (struct pace){.margin_ns = 2 * MARGIN_MIN_NS};
    p->may_poll = sched_getaffinity(0, sizeof cpus, &cpus) == 0 && (unsigned)CPU_COUNT(&cpus) > threads;
    prctl(PR_SET_TIMERSLACK, 1UL);
}

uint64_t pace_sleep_ns(const struct pace *p, uint64_t now_ns, uint64_t deadline_ns)
{
    return deadline_ns > now_ns + p->margin_ns ? deadline_ns - now_ns - p->margin_ns : 0;
}

/* Up at once where a sleep ended late, down slowly: a margin that is too large costs CPU, one that is too
 * small costs punctuality. */
void pace_learn(struct pace *p, uint64_t wanted_ns, uint64_t now_ns)
{
    uint64_t late = now_ns > wanted_ns ? now_ns - wanted_ns : 0;
    uint64_t goal = late + late / 4;
    if (goal > p->margin_ns)
        p->margin_ns = goal < MARGIN_MAX_NS ? goal : MARGIN_MAX_NS;
    else
        p->margin_ns -= (p->margin_ns - goal) / 64;
    if (p->margin_ns < MARGIN_MIN_NS)
        p->margin_ns = MARGIN_MIN_NS;
}

void pace_sleep_until(uint64_t until_ns)
{
    struct timespec t = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

uint64_t pace_poll_ns(const struct pace *p, uint64_t now_ns)
{
    return p->may_poll && p->wait_ns < POLL_WAIT_NS && now_ns >= p->shared_until_ns ? POLL_NS : 0;
}

uint64_t pace_learn_look(struct pace *p, uint64_t took_ns, uint64_t now_ns)
{
    if (took_ns > OTHER_NS)
        pace_shared(p, now_ns);
    return took_ns < LOOK_NS ? took_ns : LOOK_NS;
}

/* Longer where it is so again soon after it was. */
void pace_shared(struct pace *p, uint64_t now_ns)
{
    if (now_ns < p->shared_until_ns)
        return;
    bool again = p->shared_ns && now_ns < p->shared_until_ns + p->shared_ns + AGAIN_NS;
    p->shared_ns = !again ? SHARED_MIN_NS : p->shared_ns < SHARED_MAX_NS ? 2 * p->shared_ns : SHARED_MAX_NS;
    p->shared_until_ns = now_ns + p->shared_ns;
}

/* One long wait says little about the next: it counts as twice the limit. */
void pace_learn_wait(struct pace *p, uint64_t waited_ns)
{
    if (waited_ns > 2 * POLL_WAIT_NS)
        waited_ns = 2 * POLL_WAIT_NS;
    p->wait_ns = (7 * p->wait_ns + waited_ns) / 8;
}
