/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/clients.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/base/random.h"

struct waiter {
    struct waiter *next;
    uint64_t watermark;
    uint32_t conversation;
};

struct client {
    struct client *next;
    uint32_t id;
    uint64_t ended, last_ns;
    struct waiter *first, *last; /* watermarks ascend, as connects come in tape order */
};

struct clients {
    pthread_mutex_t lock;
    struct client **bucket;
    size_t buckets, count;
    void (*release)(void *context, uint32_t conversation, uint64_t at_ns);
    void *context;
};

int clients_open(struct clients **out, void (*release)(void *context, uint32_t conversation, uint64_t at_ns),
        void *context, struct err *e)
{
    struct clients *c = calloc(1, sizeof *c);
    if (c)
        c->bucket = calloc(256, sizeof *c->bucket);
    if (!c || !c->bucket) {
        free(c);
        return err_sys(e, ENOMEM, "cannot follow clients");
    }
    c->buckets = 256;
    c->release = release;
    c->context = context;
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return 0;
}

void clients_close(struct clients *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->buckets; i++) {
        for (struct client *at = c->bucket[i], *next; at; at = next) {
            next = at->next;
            for (struct waiter *w = at->first, *after; w; w = after) {
                after = w->next;
                free(w);
            }
            free(at);
        }
    }
    pthread_mutex_destroy(&c->lock);
    free(c->bucket);
    free(c);
}

static void grow(struct clients *c)
{
    struct client **from = c->bucket, **bucket = calloc(c->buckets * 2, sizeof *bucket);
    if (!bucket)
        return; /* slower, and right */
    size_t old = c->buckets;
    c->bucket = bucket;
    c->buckets = old * 2;
    for (size_t i = 0; i < old; i++) {
        for (struct client *at = from[i], *next; at; at = next) {
            struct client **to = &c->bucket[random_mix(at->id) & (c->buckets - 1)];
            next = at->next;
            at->next = *to;
            *to = at;
        }
    }
    free(from);
}

/* The client, made where it is not known yet; NULL where memory is out. */
static struct client *get(struct clients *c, uint32_t id)
{
    struct client **p = &c->bucket[random_mix(id) & (c->buckets - 1)];
    while (*p && (*p)->id != id)
        p = &(*p)->next;
    if (*p)
        return *p;
    struct client *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->id = id;
    *p = made;
    if (++c->count > c->buckets)
        grow(c);
    return made;
}

/* In order of watermarks: at the end, nearly always. */
static void enqueue(struct client *at, struct waiter *w)
{
    if (!at->last || at->last->watermark <= w->watermark) {
        *(at->last ? &at->last->next : &at->first) = w;
        at->last = w;
        return;
    }
    struct waiter **p = &at->first;
    while ((*p)->watermark <= w->watermark)
        p = &(*p)->next;
    w->next = *p;
    *p = w;
}

int clients_wait(struct clients *c, uint32_t client, uint64_t watermark, uint32_t conversation,
        uint64_t *at_ns, struct err *e)
{
    struct waiter *w = calloc(1, sizeof *w);
    if (!w)
        return err_sys(e, ENOMEM, "cannot follow clients");
    *w = (struct waiter){.watermark = watermark, .conversation = conversation};
    pthread_mutex_lock(&c->lock);
    struct client *at = get(c, client);
    bool reached = at && at->ended >= watermark;
    if (reached)
        *at_ns = at->last_ns;
    else if (at)
        enqueue(at, w);
    pthread_mutex_unlock(&c->lock);
    if (reached || !at)
        free(w);
    return at ? reached : err_sys(e, ENOMEM, "cannot follow clients");
}

void clients_ended(struct clients *c, uint32_t client, uint64_t at_ns)
{
    pthread_mutex_lock(&c->lock);
    struct client *at = get(c, client);
    if (at) {
        at->ended++;
        at->last_ns = at_ns;
        while (at->first && at->first->watermark <= at->ended) {
            struct waiter *w = at->first;
            at->first = w->next;
            if (!at->first)
                at->last = NULL;
            c->release(c->context, w->conversation, at_ns);
            free(w);
        }
    }
    pthread_mutex_unlock(&c->lock);
}
