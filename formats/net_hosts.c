/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "formats/base/random.h"
#include "formats/digest.h"

static struct net_host *slot_of(const struct net_hosts *h, const struct net_address *a)
{
    size_t i = random_mix(digest64(a, sizeof *a) ^ h->key) & (h->room - 1);
    while (h->slots[i].used && memcmp(&h->slots[i].address, a, sizeof *a) != 0)
        i = (i + 1) & (h->room - 1);
    return &h->slots[i];
}

static int grow(struct net_hosts *h, struct err *e)
{
    struct net_hosts larger = {.room = h->room ? h->room * 2 : 64, .count = h->count, .key = h->key};
    if (h->count * 2 < h->room)
        return 0;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return err_sys(e, ENOMEM, "cannot tell hosts apart");
    if (!h->room && getrandom(&larger.key, sizeof larger.key, GRND_NONBLOCK) < 0)
        larger.key = (uintptr_t)larger.slots; /* better than nothing */
    for (size_t i = 0; i < h->room; i++)
        if (h->slots[i].used)
            *slot_of(&larger, &h->slots[i].address) = h->slots[i];
    free(h->slots);
    *h = larger;
    return 0;
}

static void name_of(const struct net_address *a, size_t number, bool keep_names, char name[64])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool four = memcmp(a->bytes, mapped, sizeof mapped) == 0;
    if (!keep_names || !inet_ntop(four ? AF_INET : AF_INET6, a->bytes + (four ? 12 : 0), name, 64))
        snprintf(name, 64, "host-%zu", number);
}

int net_hosts_get(struct net_hosts *h, struct tape_writer *w, const struct net_address *a, bool keep_names,
        struct net_host **host, struct err *e)
{
    int r = grow(h, e);
    if (r < 0)
        return r;
    struct net_host *s = slot_of(h, a);
    if (!s->used && h->count == NET_HOSTS_MAX) {
        static const struct net_address none;
        s = slot_of(h, &none); /* stands for all the others */
        a = &none;
    }
    if (!s->used) {
        char name[64];
        uint32_t id = NET_HOSTS_MAX - 1;
        name_of(a, h->count + 1, keep_names, name);
        r = h->count < NET_HOSTS_MAX ? tape_writer_host(w, name, &id, e) : 0;
        if (r < 0)
            return r;
        *s = (struct net_host){.address = *a, .id = id, .used = true};
        h->count++;
    }
    *host = s;
    return 0;
}

void net_hosts_release(struct net_hosts *h)
{
    free(h->slots);
    *h = (struct net_hosts){0};
}
