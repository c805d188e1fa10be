/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_seq.h"

#include <string.h>

/* RFC 7323, 2.2: no window is larger. */
#define WINDOW_MAX (UINT64_C(1) << 30)

void net_seq_begin(struct net_seq *s, uint32_t seq)
{
    *s = (struct net_seq){.known = true};
    s->base = s->top = s->acknowledged = (UINT64_C(1) << 32) + seq; /* room for what lies before */
}

uint64_t net_seq_unwrap(const struct net_seq *s, uint32_t seq)
{
    return s->top + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)s->top);
}

static void drop_hole(struct net_seq *s, unsigned i)
{
    s->hole_count--;
    memmove(&s->holes[i], &s->holes[i + 1], (s->hole_count - i) * sizeof s->holes[0]);
}

static void add_hole(struct net_seq *s, uint64_t from, uint64_t to)
{
    if (s->hole_count == NET_HOLES) {
        s->missed_bytes += s->holes[0].to - s->holes[0].from;
        drop_hole(s, 0);
    }
    s->holes[s->hole_count].from = from;
    s->holes[s->hole_count++].to = to;
}

/* Fills what of the holes lies in the range: how many bytes that was. */
static uint64_t fill_holes(struct net_seq *s, uint64_t from, uint64_t to)
{
    uint64_t filled = 0;
    for (unsigned i = 0; i < s->hole_count;) {
        uint64_t a = s->holes[i].from, b = s->holes[i].to;
        uint64_t begin = a > from ? a : from, end = b < to ? b : to;
        if (begin >= end) {
            i++;
            continue;
        }
        filled += end - begin;
        drop_hole(s, i);
        /* What is left of it on either side; one in the middle makes two. */
        if (end < b)
            add_hole(s, end, b);
        if (a < begin)
            add_hole(s, a, begin);
        i = 0; /* what is left overlaps no more */
    }
    return filled;
}

static void note_arrival(struct net_seq *s, uint64_t to, uint64_t t_ns)
{
    if (s->arrival_count == NET_ARRIVALS) { /* every second one goes: the later of each pair stays */
        for (unsigned i = 0; i < NET_ARRIVALS / 2; i++)
            s->arrivals[i] = s->arrivals[2 * i + 1];
        s->arrival_count = NET_ARRIVALS / 2;
    }
    s->arrivals[s->arrival_count].to = to;
    s->arrivals[s->arrival_count++].t_ns = t_ns;
}

/* What is sent again before it was acknowledged reached the peer the second time, as far as anybody knows. */
static void note_again(struct net_seq *s, uint64_t from, uint64_t to, uint64_t t_ns)
{
    if (to <= s->acknowledged)
        return;
    for (unsigned i = 0; i < s->arrival_count; i++)
        if (s->arrivals[i].to > from && s->arrivals[i].to > s->acknowledged)
            s->arrivals[i].t_ns = t_ns;
}

struct net_advance net_seq_take(struct net_seq *s, uint32_t seq, uint32_t len, uint64_t t_ns)
{
    uint64_t from = net_seq_unwrap(s, seq), to = from + len, top = s->top;
    struct net_advance a = {.kind = NET_SEGMENT_EMPTY};
    if (from > top + WINDOW_MAX || to + WINDOW_MAX < top) {
        a.kind = NET_SEGMENT_OUTSIDE;
    } else if (len <= 1 && from + 1 == top && s->acknowledged >= top && !s->fin) {
        a.kind = NET_SEGMENT_KEEP_ALIVE;
    } else if (!len) {
        return a;
    } else if (to <= top) {
        uint64_t filled = fill_holes(s, from, to);
        a.again_bytes = len - filled;
        a.kind = filled ? NET_SEGMENT_LATE : NET_SEGMENT_AGAIN;
        note_again(s, from, to, t_ns);
    } else if (s->fin) {
        a.kind = NET_SEGMENT_OUTSIDE; /* nothing can follow the end */
    } else {
        a.kind = NET_SEGMENT_NEW;
        a.new_bytes = to - top;
        a.again_bytes = from < top ? top - from : 0;
        a.hole = from > top;
        if (a.hole)
            add_hole(s, top, from);
        s->top = to;
        note_arrival(s, to, t_ns);
    }
    return a;
}

uint64_t net_seq_acknowledge(struct net_seq *s, uint32_t ack, uint64_t t_ns, bool *advanced)
{
    uint64_t to = net_seq_unwrap(s, ack), unseen = 0;
    *advanced = false;
    if (to > s->top + s->fin) {
        if (to > s->top + WINDOW_MAX || s->fin)
            return 0;
        unseen = to - s->top;
        s->missed_bytes += unseen;
        s->top = to;
        note_arrival(s, to, t_ns);
    }
    if (to > s->acknowledged) {
        s->acknowledged = to;
        *advanced = true;
    }
    return unseen;
}

uint64_t net_seq_arrival(const struct net_seq *s, uint64_t count)
{
    uint64_t to = s->base + count;
    if (s->fin && to > s->top)
        return s->fin_ns;
    for (unsigned i = 0; i < s->arrival_count; i++)
        if (s->arrivals[i].to >= to)
            return s->arrivals[i].t_ns;
    return s->arrival_count ? s->arrivals[s->arrival_count - 1].t_ns : 0;
}

uint64_t net_seq_missed(const struct net_seq *s)
{
    uint64_t missed = s->missed_bytes;
    for (unsigned i = 0; i < s->hole_count; i++)
        missed += s->holes[i].to - s->holes[i].from;
    return missed;
}
