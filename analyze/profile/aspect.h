/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a profile says, aspect by aspect: one file in profile/ for each, one line in PROFILE_ASPECTS, in the
 * order in which they are printed. An aspect computes its part of struct profile and writes it down.
 *
 * The tape is read from begin to end as often as any aspect wants it. Aspects are fed in turn, a few
 * thousand records at a time, and see what those before them in the list made in earlier passes.
 */
#ifndef IOTAPE_PROFILE_ASPECT_H
#define IOTAPE_PROFILE_ASPECT_H

#include "analyze/profile.h"
#include "formats/base/json.h"
#include "formats/base/out.h"

#define PROFILE_ASPECTS(X)                                                                                   \
    X(mix) X(sizes) X(places) X(arrivals) X(depth) X(latency) X(working_set) X(timeline) X(heat) X(sockets)

struct profile_aspect {
    const char *name; /* its key in JSON */
    /* Before the first pass: *state is given to the others. `p` has its streams and totals, and zeros. */
    int (*open)(void **state, struct profile *p, struct err *e);
    /* The next records of a pass. Times are in order. */
    int (*feed)(void *state, struct profile *p, const struct block_chunk *c, struct err *e);
    /* The same for the events of conversations, which follow the records of a pass. An aspect has one of the
     * two, or neither, and is then computed by open. */
    int (*feed_net)(void *state, struct profile *p, const struct net_chunk *c, struct err *e);
    /* Ends a pass. 1: another is wanted; 0: the part is done; -errno. */
    int (*next)(void *state, struct profile *p, struct err *e);
    void (*close)(void *state); /* NULL is allowed */
    /* Either may be NULL: it is not written in this form. */
    void (*text)(const struct profile *p, struct out *o);
    struct json *(*json)(const struct profile *p); /* NULL where memory is short */
};

#define ASPECT_DECLARE(name) extern const struct profile_aspect profile_##name;
PROFILE_ASPECTS(ASPECT_DECLARE)
#undef ASPECT_DECLARE

/* All of PROFILE_ASPECTS, NULL-terminated. */
extern const struct profile_aspect *const profile_aspects[];

/* ---- small things that several aspects need ---- */

static inline uint64_t profile_add(uint64_t a, uint64_t b) /* stays at 2^64 - 1 */
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline unsigned profile_log_of(uint64_t value)
{
    return value ? 64U - (unsigned)__builtin_clzll(value) : 0;
}

static inline bool profile_is_data(uint8_t op)
{
    return op == BLOCK_READ || op == BLOCK_WRITE;
}

/* The slot of the timeline in which t_ns lies, not before `slot`, where the search begins. */
static inline size_t profile_slot_at(const struct profile_timeline *t, uint64_t t_ns, size_t slot)
{
    while (slot + 1 < t->slots && t_ns >= (slot + 1) * t->slot_ns)
        slot++;
    return slot;
}

/* The one in which the first of some records lies. */
static inline size_t profile_slot_of(const struct profile_timeline *t, const struct block_chunk *c)
{
    size_t slot = c->count ? (size_t)(c->t_ns[0] / t->slot_ns) : 0;
    return slot < t->slots ? slot : t->slots - 1;
}

#endif
