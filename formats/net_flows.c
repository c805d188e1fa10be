/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "formats/base/random.h"
#include "formats/digest.h"

#define ROOM_FIRST 256

void net_flows_release(struct net_flows *t)
{
    free(t->list);
    free(t->buckets);
    *t = (struct net_flows){0};
}

/* The same for both directions. */
static size_t bucket_of(const struct net_flows *t, const struct net_address *a, const struct net_address *b,
        uint16_t a_port, uint16_t b_port, uint32_t stream, uint8_t udp)
{
    struct {
        struct net_address a;
        uint32_t port;
    } one = {*a, a_port}, other = {*b, b_port};
    uint64_t sum = digest64(&one, sizeof one) + digest64(&other, sizeof other);
    return random_mix(sum ^ t->key ^ stream * UINT64_C(0x9e3779b1) ^ udp) & (t->room - 1);
}

static uint32_t *bucket(const struct net_flows *t, const struct net_flow *f)
{
    return &t->buckets[bucket_of(
            t, &f->address[0], &f->address[1], f->port[0], f->port[1], f->stream, f->udp)];
}

static bool is_end(const struct net_flow *f, unsigned side, const struct net_address *a, uint16_t port)
{
    return f->port[side] == port && memcmp(&f->address[side], a, sizeof *a) == 0;
}

struct net_flow *net_flows_find(struct net_flows *t, const struct net_packet *p, enum net_side *side)
{
    if (!t->room)
        return NULL;
    uint32_t i = t->buckets[bucket_of(
            t, &p->source, &p->destination, p->source_port, p->destination_port, p->stream, p->udp)];
    for (; i != NET_NO_FLOW; i = t->list[i].chain) {
        struct net_flow *f = &t->list[i];
        if (f->udp != p->udp || f->stream != p->stream)
            continue;
        for (unsigned s = 0; s < NET_SIDES; s++) {
            if (is_end(f, s, &p->source, p->source_port) &&
                    is_end(f, 1 - s, &p->destination, p->destination_port)) {
                *side = (enum net_side)s;
                return f;
            }
        }
    }
    return NULL;
}

static int grow(struct net_flows *t, struct err *e)
{
    size_t room = t->room ? t->room * 2 : ROOM_FIRST;
    struct net_flow *list = reallocarray(t->list, room, sizeof *list);
    if (list)
        t->list = list;
    uint32_t *buckets = list ? reallocarray(t->buckets, room, sizeof *buckets) : NULL;
    if (!buckets)
        return err_sys(e, ENOMEM, "cannot follow %zu conversations", room);
    t->buckets = buckets;
    if (!t->room) {
        t->oldest = t->newest = NET_NO_FLOW;
        if (getrandom(&t->key, sizeof t->key, GRND_NONBLOCK) < 0)
            t->key = (uintptr_t)list; /* better than nothing */
    }
    memset(buckets, 0xff, room * sizeof *buckets);
    for (size_t i = room; i-- > t->room;) {
        t->list[i].chain = i + 1 < room ? (uint32_t)i + 1 : NET_NO_FLOW;
    }
    t->free = (uint32_t)t->room; /* all old ones are taken */
    t->room = room;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t *b = bucket(t, &t->list[i]);
        t->list[i].chain = *b;
        *b = i;
    }
    return 0;
}

static void link_newest(struct net_flows *t, struct net_flow *f)
{
    uint32_t i = (uint32_t)(f - t->list);
    f->older = t->newest;
    f->newer = NET_NO_FLOW;
    *(t->newest == NET_NO_FLOW ? &t->oldest : &t->list[t->newest].newer) = i;
    t->newest = i;
}

static void unlink_age(struct net_flows *t, struct net_flow *f)
{
    *(f->older == NET_NO_FLOW ? &t->oldest : &t->list[f->older].newer) = f->newer;
    *(f->newer == NET_NO_FLOW ? &t->newest : &t->list[f->newer].older) = f->older;
}

int net_flows_add(struct net_flows *t, const struct net_packet *p, enum net_side side, struct net_flow **out,
        struct err *e)
{
    int r = t->count == t->room ? grow(t, e) : 0;
    if (r < 0)
        return r;
    uint32_t i = t->free;
    struct net_flow *f = &t->list[i];
    t->free = f->chain;
    t->count++;
    memset(f, 0, sizeof *f);
    f->address[side] = p->source;
    f->address[1 - side] = p->destination;
    f->port[side] = p->source_port;
    f->port[1 - side] = p->destination_port;
    f->stream = p->stream;
    f->udp = p->udp;
    f->sides[0].send = f->sides[1].send = NET_NO_PLACE;
    uint32_t *b = bucket(t, f);
    f->chain = *b;
    *b = i;
    link_newest(t, f);
    f->last_ns = p->t_ns;
    *out = f;
    return 0;
}

void net_flows_touch(struct net_flows *t, struct net_flow *f, uint64_t t_ns)
{
    f->last_ns = t_ns;
    if (t->newest == (uint32_t)(f - t->list))
        return;
    unlink_age(t, f);
    link_newest(t, f);
}

struct net_flow *net_flows_oldest(struct net_flows *t)
{
    return t->count ? &t->list[t->oldest] : NULL;
}

void net_flows_drop(struct net_flows *t, struct net_flow *f)
{
    uint32_t i = (uint32_t)(f - t->list), *at = bucket(t, f);
    while (*at != i)
        at = &t->list[*at].chain;
    *at = f->chain;
    unlink_age(t, f);
    f->chain = t->free;
    t->free = i;
    t->count--;
}
