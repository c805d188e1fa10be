/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Waiting for absolute deadlines: sleep until shortly before, then look at the clock. How long before is
 * learnt from how late sleeps end on this host.
 *
 * Waiting for completions: where they come after some microseconds, a sleep and its wake-up would be a large
 * part of their latency, and idle CPUs make the device itself slower. So they are looked for a while before
 * sleeping, as the kernel's halt polling does (Documentation/virt/guest-halt-polling.rst), unless they
 * usually take longer or the only CPU is needed for the work itself.
 *
 * Where others want the CPU, who looks is a hog like them, and loses it for a slice of the scheduler, that is
 * milliseconds; who sleeps is woken ahead of them. So looking ends for a while, doubled each time, where it
 * is seen that the CPU is shared.
 */
#ifndef IOTAPE_PACE_H
#define IOTAPE_PACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct pace {
    uint64_t margin_ns;                  /* sleeps end this long before a deadline */
    uint64_t spun_ns;                    /* spent with a clock in hand */
    uint64_t wait_ns;                    /* for a completion: a moving mean */
    uint64_t shared_until_ns, shared_ns; /* the CPU is taken to be shared until then, and for how long */
    bool may_poll;
};

/* CLOCK_MONOTONIC. */
static inline uint64_t pace_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sets this thread's timer slack to 1 ns and looks whether it may run on more CPUs than the `threads` of this
 * process that wait like it. */
void pace_init(struct pace *p, unsigned threads);

/* How long to sleep at `now_ns` for a deadline, or 0: too near, spin. */
uint64_t pace_sleep_ns(const struct pace *p, uint64_t now_ns, uint64_t deadline_ns);

/* Says that a sleep that should have ended at `wanted_ns` ended at `now_ns`. */
void pace_learn(struct pace *p, uint64_t wanted_ns, uint64_t now_ns);

/* How long to look for a completion before sleeping for it, at `now_ns`; 0: sleep at once. */
uint64_t pace_poll_ns(const struct pace *p, uint64_t now_ns);

/* Says that a look that found nothing, and the pause after it, took so long until `now_ns`: what exceeds a
 * look was others'. Returns what it spun. */
uint64_t pace_learn_look(struct pace *p, uint64_t took_ns, uint64_t now_ns);

/* Says that the CPU is shared with somebody who must not wait. */
void pace_shared(struct pace *p, uint64_t now_ns);

/* Between two looks, of which this is number `look` since the wait began: leaves the core to its other
 * thread, and now and then the CPU to whoever waits for it, which may be who completes the I/O. A system call
 * at every look would slow down the device where the two threads of a core share it. */
static inline void pace_pause(unsigned look)
{
    for (int i = 0; i < 10; i++) {
#if defined __x86_64__ || defined __i386__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("yield");
#endif
    }
    if (look % 64 == 63)
        sched_yield();
}

/* Says how long a completion was waited for. */
void pace_learn_wait(struct pace *p, uint64_t waited_ns);

/* Sleeps; ends early on a signal. */
void pace_sleep_until(uint64_t until_ns);

#endif
