/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The watchdog: a conversation that waits for the other end, and has waited longer than the recording and the
 * stall timeout together allow, ends the replay. All that an event waits for stands before it in the tape, so
 * such a wait is never the tape's.
 */
#include <errno.h>
#include <stdio.h>

#include "formats/base/units.h"
#include "replay/peer/flow_conv.h"

#define LOOK_NS FLOW_TICK_NS

/* How long the other end may take before it does what is expected next. */
static uint64_t allowance_ns(const struct flow *f, const struct conv *c)
{
    const struct step *next = c->peer.first;
    if (f->o.timing == TIMING_ASAP || !next)
        return f->o.stall_timeout_ns;
    /* Which datagrams were lost is not known: the next one may be the last that was told of. */
    uint64_t next_t_ns = c->protocol == NET_UDP ? c->peer_data_t_ns : next->t_ns;
    uint64_t gap = next_t_ns > c->peer_t_ns ? next_t_ns - c->peer_t_ns : 0;
    uint64_t wait = gap > next->think_ns ? gap : next->think_ns;
    return f->o.stall_timeout_ns + (uint64_t)((double)wait / f->o.speed);
}

/* What it waits for, or false where it waits for nobody else. */
static bool waits_for(const struct flow *f, const struct conv *c, char *text, size_t text_bytes)
{
    const char *peer = net_side_name(peer_side(f));
    const char *unit = c->protocol == NET_TCP ? "byte" : "datagram";
    const struct step *own = c->own.first;
    if (c->state == CONV_CONNECTING) {
        snprintf(text, text_bytes, "waits to be connected");
        return true;
    }
    if (c->state == CONV_OPEN && c->stepping && own && own->kind == NET_RESET) {
        snprintf(text, text_bytes, "waits until the %s has acknowledged what was sent", peer);
        return true;
    }
    if (c->state != CONV_OPEN || c->timer.place || c->held)
        return false;
    if (c->stepping) {
        snprintf(text, text_bytes, "has %llu bytes left to send, which the %s does not take",
                (unsigned long long)c->left_bytes, peer);
        return true;
    }
    uint64_t wanted = own && own->watermark > c->received   ? own->watermark
                      : !own && c->peer.first               ? c->peer.first->end_units
                      : !own && c->end_known && c->fin_sent ? c->received + 1
                                                            : 0;
    if (!wanted)
        return false;
    if (wanted <= c->received)
        wanted = c->received + 1;
    snprintf(text, text_bytes, "waits for %s %llu of the %s, of which %llu have come", unit,
            (unsigned long long)wanted, peer, (unsigned long long)c->received);
    return true;
}

static void complain(struct flow_thread *t, const struct conv *c, const char *what)
{
    char after[UNITS_TEXT_BYTES];
    struct err e = {0};
    err_set(&e, ETIMEDOUT, "stalled: conversation %u (%s, event %llu) %s; nothing has moved for %s",
            c->source + 1, net_protocol_name(c->protocol), (unsigned long long)c->connect_source + 1, what,
            units_duration(t->now_ns - c->moved_ns, after));
    flow_fail(t->flow, &e);
}

void watch(struct flow_thread *t)
{
    const struct flow *f = t->flow;
    char what[200];
    if (t->now_ns < t->watch_ns + LOOK_NS)
        return;
    t->watch_ns = t->now_ns = pace_now_ns();
    if (!atomic_load(&f->start_ns))
        return;
    for (size_t i = 0; i < t->buckets; i++) {
        for (struct conv *c = t->bucket[i]; c; c = c->next) {
            if (c->protocol == NET_UDP)
                udp_give_up(t, c);
            if (t->now_ns - c->moved_ns < f->o.stall_timeout_ns || !waits_for(f, c, what, sizeof what))
                continue;
            if (t->now_ns - c->moved_ns >= allowance_ns(f, c)) {
                complain(t, c, what);
                return;
            }
        }
    }
}
