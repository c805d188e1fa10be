/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_part_talks.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/base/random.h"

#define BUCKETS_FIRST 64

int talks_init(struct talks *l, struct err *e)
{
    *l = (struct talks){.bucket = calloc(BUCKETS_FIRST, sizeof(struct talk *)), .buckets = BUCKETS_FIRST};
    return l->bucket ? 0 : err_sys(e, ENOMEM, "cannot follow conversations");
}

void talks_release(struct talks *l)
{
    for (size_t i = 0; l->bucket && i < l->buckets; i++) {
        for (struct talk *t = l->bucket[i], *next; t; t = next) {
            next = t->next;
            free(t);
        }
    }
    free(l->bucket);
    *l = (struct talks){0};
}

struct talk **talks_find(const struct talks *l, uint32_t source)
{
    struct talk **at = &l->bucket[random_mix(source) & (l->buckets - 1)];
    while (*at && (*at)->source != source)
        at = &(*at)->next;
    return at;
}

static int grow(struct talks *l, struct err *e)
{
    if (l->open < l->buckets)
        return 0;
    size_t old = l->buckets;
    struct talk **from = l->bucket, **bucket = calloc(old * 2, sizeof(struct talk *));
    if (!bucket)
        return err_sys(e, ENOMEM, "cannot follow conversations");
    l->bucket = bucket;
    l->buckets = old * 2;
    for (size_t i = 0; i < old; i++) {
        for (struct talk *t = from[i], *next; t; t = next) {
            struct talk **to = &bucket[random_mix(t->source) & (l->buckets - 1)];
            next = t->next;
            t->next = *to;
            *to = t;
        }
    }
    free(from);
    return 0;
}

int talks_add(struct talks *l, uint32_t source, const struct net_conversation *of, uint64_t event,
        struct talk **made, struct err *e)
{
    struct talk *t = calloc(1, sizeof *t);
    int r = t ? grow(l, e) : err_sys(e, ENOMEM, "cannot follow conversations");
    if (r < 0) {
        free(t);
        return r;
    }
    t->source = source;
    t->of = *of;
    t->connect_event = event;
    struct talk **to = talks_find(l, source);
    t->next = *to;
    *to = t;
    l->open++;
    *made = t;
    return 0;
}

void talks_drop(struct talks *l, struct talk **at)
{
    struct talk *t = *at;
    *at = t->next;
    free(t);
    l->open--;
}
