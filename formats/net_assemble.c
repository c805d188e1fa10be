/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_assemble.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/net_talk.h"

int net_assembler_open(struct net_assembler **out, const struct net_assembler_options *options,
        struct tape_writer *w, struct err *e)
{
    struct net_assembler *a = calloc(1, sizeof *a);
    if (!a)
        return err_sys(e, ENOMEM, "cannot follow conversations");
    a->options = *options;
    a->w = w;
    *out = a;
    return 0;
}

void net_assembler_close(struct net_assembler *a)
{
    if (!a)
        return;
    net_flows_release(&a->flows);
    net_hosts_release(&a->hosts);
    net_queue_release(&a->queue);
    free(a);
}

void net_assembler_skip(struct net_assembler *a, enum net_verdict verdict)
{
    a->skipped[verdict]++;
}

/* Ends a flow and forgets it. */
static int retire(struct net_assembler *a, struct net_flow *f, unsigned flags, struct err *e)
{
    int r = f->ended ? 0 : net_talk_event(a, f, NET_INITIATOR, NET_CUT, flags, e);
    a->counts.unseen_bytes += net_seq_missed(&f->sides[0].seq) + net_seq_missed(&f->sides[1].seq);
    net_flows_drop(&a->flows, f);
    return r;
}

/* What was silent for long and is UDP, or has ended. */
static int sweep(struct net_assembler *a, struct err *e)
{
    struct net_flow *f = net_flows_oldest(&a->flows);
    uint32_t i = f ? a->flows.oldest : NET_NO_FLOW;
    a->swept_ns = a->now_ns;
    while (i != NET_NO_FLOW) {
        f = &a->flows.list[i];
        i = f->newer;
        if (a->now_ns - f->last_ns < NET_IDLE_NS)
            break;
        int r = f->udp || f->ended ? retire(a, f, NET_FORGOTTEN, e) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Takes one that waited, at the time that it is now. */
static int take_early(struct net_assembler *a, unsigned i, struct err *e)
{
    struct net_early early = a->early[i];
    enum net_side side;
    struct net_flow *f = net_flows_find(&a->flows, &early.packet, &side);
    a->early_count--;
    memmove(&a->early[i], &a->early[i + 1], (a->early_count - i) * sizeof a->early[0]);
    if (!f || f->number != early.conversation) { /* its own was forgotten: it shall not begin one */
        a->counts.stray_packets++;
        return 0;
    }
    f->sides[side].probe_to = 0; /* how long it took is not known */
    return net_tcp_take(a, &early.packet, e);
}

/* What waited as long as it may. */
static int end_early(struct net_assembler *a, uint64_t now_ns, struct err *e)
{
    int r = 0;
    while (!r && a->early_count && now_ns - a->early[0].packet.t_ns > NET_EARLY_NS)
        r = take_early(a, 0, e);
    return r;
}

int net_assembler_advance(struct net_assembler *a, uint64_t now_ns, struct err *e)
{
    uint64_t hold_ns = NET_SEND_SPAN_NS + a->options.pause_ns;
    if (now_ns < a->now_ns)
        return 0;
    int r = end_early(a, now_ns, e);
    a->now_ns = now_ns;
    if (r == 0 && now_ns - a->swept_ns >= NS_PER_S)
        r = sweep(a, e);
    return r < 0 ? r : net_queue_flush(&a->queue, now_ns > hold_ns ? now_ns - hold_ns : 0, a->w, e);
}

static int take_tcp(struct net_assembler *a, const struct net_packet *p, struct err *e)
{
    enum net_side side;
    struct net_flow *f = net_flows_find(&a->flows, p, &side);
    unsigned i = 0;
    while (f && i < a->early_count && a->early[i].conversation != f->number)
        i++;
    if (f && i == a->early_count && i < NET_EARLY && net_tcp_is_early(f, side, p)) {
        a->early[a->early_count++] = (struct net_early){*p, f->number, side};
        net_flows_touch(&a->flows, f, a->now_ns);
        return 0;
    }
    if (!f || i == a->early_count)
        return net_tcp_take(a, p, e);
    bool fills = a->early[i].side != side && !(p->flags & (NET_SYN | NET_RST)); /* these may end the flow */
    int r = fills ? net_tcp_take(a, p, e) : take_early(a, i, e);
    if (r < 0)
        return r;
    return fills ? take_early(a, i, e) : net_tcp_take(a, p, e);
}

int net_assembler_take(struct net_assembler *a, const struct net_packet *p, struct err *e)
{
    int r = net_assembler_advance(a, p->t_ns, e);
    while (!r && a->flows.count >= NET_OPEN_MAX)
        r = retire(a, net_flows_oldest(&a->flows), NET_FORGOTTEN, e);
    a->packets++;
    if (r < 0)
        return r;
    return p->udp ? net_udp_take(a, p, e) : take_tcp(a, p, e);
}

static void write_counts(struct net_assembler *a)
{
    static const char *const skipped[NET_VERDICTS] = {[NET_PACKET_NOT_IP] = "not_ip",
            [NET_PACKET_OTHER] = "other_protocols",
            [NET_PACKET_FRAGMENT] = "fragments",
            [NET_PACKET_TRUNCATED] = "truncated_packets",
            [NET_PACKET_MALFORMED] = "malformed_packets",
            [NET_PACKET_LOOP_COPY] = "loopback_copies"};
    for (unsigned i = 0; i < NET_VERDICTS; i++)
        if (skipped[i] && a->skipped[i])
            tape_writer_count(a->w, skipped[i], a->skipped[i]);
    if (a->packets)
        tape_writer_count(a->w, "packets", a->packets);
#define WRITE_COUNT(name)                                                                                    \
    if (a->counts.name)                                                                                      \
        tape_writer_count(a->w, #name, a->counts.name);
    NET_COUNTS(WRITE_COUNT)
#undef WRITE_COUNT
}

int net_assembler_finish(struct net_assembler *a, uint64_t end_ns, struct err *e)
{
    int r = net_assembler_advance(a, end_ns, e);
    while (!r && a->early_count)
        r = take_early(a, 0, e);
    for (struct net_flow *f; !r && (f = net_flows_oldest(&a->flows));)
        r = retire(a, f, 0, e);
    if (!r)
        r = net_queue_flush(&a->queue, UINT64_MAX, a->w, e);
    if (!r)
        write_counts(a);
    return r;
}

int net_assembler_describe(const struct net_assembler_options *options, struct facts *f, struct err *e)
{
    int r = facts_set(f, e, "pause_ns", "%" PRIu64, options->pause_ns);
    if (!r && options->size_bucket_bytes > 1)
        r = facts_set(f, e, "size_bucket_bytes", "%" PRIu64, options->size_bucket_bytes);
    return r;
}
