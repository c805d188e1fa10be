/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How many I/Os are in flight, and when none is. An I/O is in flight from its arrival to just before its
 * completion; one without a recorded completion counts nowhere, as in depend.h.
 *
 * A tape of which more I/Os are in flight at once than flight.h holds takes several passes: each goes from
 * where the one before ended to the earliest completion that did not fit.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/flight.h"
#include "analyze/profile/words.h"

struct depth_state {
    struct flight flight;
    uint64_t from_ns; /* where this pass takes over */
    uint64_t now_ns;  /* everything before is accounted for */
    uint64_t depth;
    uint32_t *stream_depth;
    size_t slot; /* of the timeline, in which now_ns is */
    uint64_t slot_end_ns;
    uint64_t idle_since_ns;
    unsigned __int128 slot_sum, sum; /* of depth times time: in the slot, in those before */
    bool first_pass;
};

static void depth_close(void *state)
{
    struct depth_state *d = state;
    if (!d)
        return;
    flight_release(&d->flight);
    free(d->stream_depth);
    free(d);
}

static int depth_open(void **state, struct profile *p, struct err *e)
{
    struct depth_state *d = calloc(1, sizeof *d);
    if (d)
        d->stream_depth = calloc(p->stream_count + 1, sizeof *d->stream_depth);
    if (!d || !d->stream_depth) {
        depth_close(d);
        return err_sys(e, ENOMEM, "cannot profile the tape");
    }
    flight_reset(&d->flight);
    d->slot_end_ns = p->timeline.slot_ns;
    d->first_pass = true;
    *state = d;
    return 0;
}

/* ---- the passing of time ---- */

/* The slot is over, or the tape is. */
static void slot_end(struct depth_state *d, struct profile_timeline *t)
{
    struct profile_slot *s = &t->slot[d->slot];
    uint64_t sum = d->slot_sum > UINT64_MAX ? UINT64_MAX : (uint64_t)d->slot_sum;
    s->depth_sum_ns = profile_add(s->depth_sum_ns, sum);
    d->sum += d->slot_sum;
    d->slot_sum = 0;
}

static void pass_in_slot(struct depth_state *d, struct profile_timeline *t, uint64_t to_ns)
{
    uint64_t passed_ns = to_ns - d->now_ns;
    struct profile_slot *s = &t->slot[d->slot];
    d->slot_sum += (unsigned __int128)d->depth * passed_ns;
    if (passed_ns && s->depth_max < d->depth)
        s->depth_max = d->depth;
    d->now_ns = to_ns;
}

/* The depth has been what it is until `to_ns`, which is not beyond the end. */
static void account(struct depth_state *d, struct profile *p, uint64_t to_ns)
{
    struct profile_timeline *t = &p->timeline;
    p->depth.time_ns[d->depth < PROFILE_DEPTHS ? d->depth : PROFILE_DEPTHS - 1] += to_ns - d->now_ns;
    while (to_ns >= d->slot_end_ns && d->slot + 1 < t->slots) {
        pass_in_slot(d, t, d->slot_end_ns);
        slot_end(d, t);
        d->slot++;
        d->slot_end_ns += t->slot_ns;
    }
    pass_in_slot(d, t, to_ns);
}

static void idle_end(const struct depth_state *d, struct profile_depth *p, uint64_t t_ns)
{
    uint64_t ns = t_ns - d->idle_since_ns;
    if (!ns)
        return;
    p->idle_periods++;
    p->idle_ns += ns;
    p->idle_longest_ns = p->idle_longest_ns > ns ? p->idle_longest_ns : ns;
    p->idle.count[profile_log_of(ns)]++;
}

static void depart(struct depth_state *d, uint32_t stream, uint32_t count, uint64_t t_ns)
{
    d->stream_depth[stream] -= count;
    d->depth -= count;
    if (d->depth == 0)
        d->idle_since_ns = t_ns;
}

/* All completions up to `t_ns`, that one included, then the time until then. */
static void advance(struct depth_state *d, struct profile *p, uint64_t t_ns)
{
    while (flight_due(&d->flight, t_ns)) {
        struct flight_io io = flight_pop(&d->flight);
        account(d, p, io.end_ns);
        depart(d, io.stream, io.count, io.end_ns);
    }
    account(d, p, t_ns);
}

static void arrive(struct depth_state *d, struct profile *p, uint32_t stream)
{
    struct profile_slot *slot = &p->timeline.slot[d->slot];
    struct profile_stream *s = &p->streams[stream];
    if (d->depth == 0)
        idle_end(d, &p->depth, d->now_ns);
    d->depth++;
    d->stream_depth[stream]++;
    p->depth.arrivals[d->depth < PROFILE_DEPTHS ? d->depth : PROFILE_DEPTHS - 1]++;
    p->depth.max = p->depth.max > d->depth ? p->depth.max : d->depth;
    slot->depth_max = slot->depth_max > d->depth ? slot->depth_max : d->depth;
    s->depth_max = s->depth_max > d->stream_depth[stream] ? s->depth_max : d->stream_depth[stream];
}

/* ---- passes ---- */

static int take(struct depth_state *d, struct profile *p, uint64_t t_ns, uint64_t end_ns, uint32_t stream,
        struct err *e)
{
    if (t_ns >= d->from_ns && t_ns < d->flight.horizon_ns) {
        advance(d, p, t_ns);
        arrive(d, p, stream);
        if (end_ns == t_ns)
            depart(d, stream, 1, t_ns);
    }
    if (end_ns == t_ns || end_ns < d->from_ns)
        return 0;
    return flight_push(&d->flight, (struct flight_io){end_ns, stream, 1}, e);
}

static int depth_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct depth_state *d = state;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < c->count; i++) {
        if (c->latency_ns[i] == TAPE_UNKNOWN)
            p->depth.left_out += d->first_pass;
        else
            rc = take(d, p, c->t_ns[i], profile_add(c->t_ns[i], c->latency_ns[i]), c->stream[i], e);
    }
    return rc;
}

static int depth_next(void *state, struct profile *p, struct err *e)
{
    struct depth_state *d = state;
    uint64_t horizon_ns = d->flight.horizon_ns;
    (void)e;
    d->first_pass = false;
    if (horizon_ns != UINT64_MAX && horizon_ns <= p->elapsed_ns) {
        advance(d, p, horizon_ns - 1);
        d->from_ns = horizon_ns;
        flight_reset(&d->flight);
        return 1;
    }
    advance(d, p, p->elapsed_ns);
    slot_end(d, &p->timeline);
    if (d->depth == 0)
        idle_end(d, &p->depth, p->elapsed_ns);
    p->depth.known = p->records > p->depth.left_out;
    p->depth.mean = p->elapsed_ns ? (double)d->sum / (double)p->elapsed_ns : 0;
    return 0;
}

/* ---- as text ---- */

/* Shares of time and arrivals in classes of depths: 0, 1, 2, 3-4, 5-8, ... */
static void depth_lines(const struct profile *p, struct out *o)
{
    const struct profile_depth *d = &p->depth;
    uint64_t arrivals = p->records - d->left_out;
    char share[UNITS_TEXT_BYTES], name[UNITS_TEXT_BYTES];
    out_printf(o, "  %-13s%12s%14s\n", "in flight", "of the time", "of arrivals");
    for (size_t first = 0, last = 0; first < PROFILE_DEPTHS; first = last + 1, last = last ? 2 * last : 1) {
        uint64_t ns = 0, count = 0;
        last = last < PROFILE_DEPTHS - 1 ? last : PROFILE_DEPTHS - 1;
        for (size_t i = first; i <= last; i++) {
            ns = profile_add(ns, d->time_ns[i]);
            count += d->arrivals[i];
        }
        if (!ns && !count)
            continue;
        snprintf(name, sizeof name,
                last > first                 ? "%zu-%zu"
                : last == PROFILE_DEPTHS - 1 ? "%zu+"
                                             : "%zu",
                first, last);
        out_printf(o, "  %-13s%12s", name, words_share(ns, p->elapsed_ns, share));
        out_printf(o, "%14s\n", first ? words_share(count, arrivals, share) : "-");
    }
}

static void depth_text(const struct profile *p, struct out *o)
{
    const struct profile_depth *d = &p->depth;
    char mean[UNITS_TEXT_BYTES], idle[UNITS_TEXT_BYTES], share[UNITS_TEXT_BYTES], longest[UNITS_TEXT_BYTES];
    if (!p->records)
        return;
    words_title(o, "Queue depth", "I/Os in flight at once; an arrival counts itself");
    if (!d->known) {
        out_text(o, "  not known: no completion was recorded\n");
        return;
    }
    depth_lines(p, o);
    out_printf(o, "  mean over time %s, greatest %" PRIu64 "\n", words_number(d->mean, mean), d->max);
    out_printf(o,
            "  idle (nothing in flight): %s of the time, %" PRIu64
            " periods, the longest %s, on average %s\n",
            words_share(d->idle_ns, p->elapsed_ns, share), d->idle_periods,
            units_duration(d->idle_longest_ns, longest),
            units_duration(d->idle_periods ? d->idle_ns / d->idle_periods : 0, idle));
}

/* ---- as JSON ---- */

static struct json *counts_json(const uint64_t *count, const char *unit)
{
    struct json *j = json_new_array();
    int bad = !j;
    for (size_t i = 0; i < PROFILE_DEPTHS; i++) {
        if (!count[i])
            continue;
        struct json *class = json_new_object();
        bad |= json_put_u64(class, "depth", i);
        bad |= json_put_u64(class, unit, count[i]);
        bad |= json_add(j, class);
    }
    return words_whole(j, bad);
}

static struct json *depth_json(const struct profile *p)
{
    const struct profile_depth *d = &p->depth;
    if (!d->known)
        return json_new_object();
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = json_put_u64(j, "left_out", d->left_out);
    bad |= json_put_double(j, "mean", p->elapsed_ns ? d->mean : NAN);
    bad |= json_put_u64(j, "max", d->max);
    bad |= json_put(j, "time", counts_json(d->time_ns, "ns"));
    bad |= json_put(j, "arrivals", counts_json(d->arrivals, "count"));
    bad |= json_put_u64(j, "idle_ns", d->idle_ns);
    bad |= json_put_u64(j, "idle_periods", d->idle_periods);
    bad |= json_put_u64(j, "idle_longest_ns", d->idle_longest_ns);
    bad |= json_put(j, "idle_log", words_log_json(&d->idle));
    for (size_t i = 0; i < p->stream_count; i++) {
        struct json *stream = json_new_object();
        bad |= json_put_u64(stream, "max", p->streams[i].depth_max);
        bad |= json_add(streams, stream);
    }
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

const struct profile_aspect profile_depth = {
        .name = "depth",
        .open = depth_open,
        .feed = depth_feed,
        .next = depth_next,
        .close = depth_close,
        .text = depth_text,
        .json = depth_json,
};
