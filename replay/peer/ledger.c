/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "formats/base/random.h"
#include "replay/peer/events.h"

/* What an open conversation has come to, by side: bytes sent (of UDP: datagrams), and whether its FIN is out.
 */
struct entry {
    struct entry *next;
    uint32_t conversation;
    uint8_t protocol;
    bool fin[NET_SIDES];
    uint64_t sent[NET_SIDES];
};

struct ledger {
    struct ledger_limits limits;
    struct entry **bucket;
    size_t buckets, open;
    uint64_t bytes, last_t_ns;
    uint32_t conversations;
};

int ledger_open(struct ledger **out, const struct ledger_limits *limits, struct err *e)
{
    struct ledger *l = calloc(1, sizeof *l);
    if (l)
        l->bucket = calloc(64, sizeof *l->bucket);
    if (!l || !l->bucket) {
        free(l);
        return err_sys(e, ENOMEM, "cannot follow conversations");
    }
    l->buckets = 64;
    l->limits = *limits;
    *out = l;
    return 0;
}

void ledger_close(struct ledger *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->buckets; i++) {
        for (struct entry *at = l->bucket[i], *next; at; at = next) {
            next = at->next;
            free(at);
        }
    }
    free(l->bucket);
    free(l);
}

static struct entry **find(const struct ledger *l, uint32_t conversation)
{
    struct entry **p = &l->bucket[random_mix(conversation) & (l->buckets - 1)];
    while (*p && (*p)->conversation != conversation)
        p = &(*p)->next;
    return p;
}

/* As many buckets as conversations, about. */
static int grow(struct ledger *l, struct err *e)
{
    if (l->open < l->buckets)
        return 0;
    struct ledger wide = {.buckets = l->buckets * 2};
    wide.bucket = calloc(wide.buckets, sizeof *wide.bucket);
    if (!wide.bucket)
        return err_sys(e, ENOMEM, "cannot follow %zu conversations", l->open);
    for (size_t i = 0; i < l->buckets; i++) {
        for (struct entry *at = l->bucket[i], *next; at; at = next) {
            struct entry **to = &wide.bucket[random_mix(at->conversation) & (wide.buckets - 1)];
            next = at->next;
            at->next = *to;
            *to = at;
        }
    }
    free(l->bucket);
    l->bucket = wide.bucket;
    l->buckets = wide.buckets;
    return 0;
}

static int add_connect(struct ledger *l, const struct peer_event *pe, struct err *e)
{
    const struct net_event *ev = &pe->ev;
    if (ev->conversation != l->conversations || ev->side != NET_INITIATOR || pe->protocol >= NET_PROTOCOLS ||
            pe->marks >> NET_MARKS || ev->conversation >= NET_CONVERSATIONS_MAX || ev->bytes)
        return err_set(e, EPROTO, "a malformed connect of conversation %u", ev->conversation + 1);
    if (l->open >= l->limits.open_max)
        return err_set(e, EDQUOT, "more than %llu conversations are open at once",
                (unsigned long long)l->limits.open_max);
    struct entry *at = calloc(1, sizeof *at);
    int r = at ? grow(l, e) : err_sys(e, ENOMEM, "cannot follow %zu conversations", l->open + 1);
    if (r < 0) {
        free(at);
        return r;
    }
    at->conversation = ev->conversation;
    at->protocol = pe->protocol;
    struct entry **to = find(l, ev->conversation);
    at->next = *to;
    *to = at;
    l->open++;
    l->conversations++;
    return 0;
}

/* How far the peer's watermark can have come. */
static uint64_t reach(const struct entry *at, unsigned side)
{
    unsigned peer = side == NET_INITIATOR ? NET_RESPONDER : NET_INITIATOR;
    return at->sent[peer] + (at->fin[peer] ? 1 : 0);
}

static bool allowed(const struct entry *at, const struct net_event *ev)
{
    bool tcp = at->protocol == NET_TCP;
    unsigned peer = ev->side == NET_INITIATOR ? NET_RESPONDER : NET_INITIATOR;
    if (ev->watermark > reach(at, ev->side) || (ev->bytes && ev->kind != NET_DATA))
        return false;
    switch (ev->kind) {
    case NET_ACCEPT:
        return tcp && ev->side == NET_RESPONDER;
    case NET_DATA:
        return tcp ? ev->bytes && ev->bytes <= NET_SIDE_BYTES_MAX - at->sent[ev->side] && !at->fin[ev->side]
                   : ev->bytes <= UINT16_MAX;
    case NET_HALF_CLOSE:
        return tcp && !at->fin[ev->side];
    case NET_CLOSE:
        return tcp && !at->fin[ev->side] && at->fin[peer];
    case NET_RESET:
        return tcp;
    case NET_CUT:
        return ev->side == NET_INITIATOR;
    default:
        return false;
    }
}

int ledger_add(struct ledger *l, const struct peer_event *pe, struct err *e)
{
    const struct net_event *ev = &pe->ev;
    if (ev->t_ns < l->last_t_ns || ev->side >= NET_SIDES)
        return err_set(e, EPROTO, "an event of an unknown side, or out of order");
    l->last_t_ns = ev->t_ns;
    if (ev->kind == NET_CONNECT)
        return add_connect(l, pe, e);
    struct entry **p = find(l, ev->conversation), *at = *p;
    if (!at || !allowed(at, ev))
        return err_set(e, EPROTO, "a '%s' that conversation %u cannot have",
                net_kind_name(ev->kind) ? net_kind_name(ev->kind) : "?", ev->conversation + 1);
    if (ev->bytes > l->limits.bytes_max - l->bytes)
        return err_set(e, EDQUOT, "more than %llu bytes in all", (unsigned long long)l->limits.bytes_max);
    l->bytes += ev->bytes;
    at->sent[ev->side] += ev->kind == NET_DATA && at->protocol == NET_UDP ? 1 : ev->bytes;
    at->fin[ev->side] = at->fin[ev->side] || ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE;
    if (net_kind_ends(ev->kind)) {
        *p = at->next;
        free(at);
        l->open--;
    }
    return 0;
}

uint64_t ledger_bytes(const struct ledger *l)
{
    return l->bytes;
}

uint32_t ledger_conversations(const struct ledger *l)
{
    return l->conversations;
}
