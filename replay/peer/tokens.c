/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/tokens.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "formats/base/random.h"

struct entry {
    struct entry *next;
    uint8_t token[EVENTS_TOKEN_BYTES], cookie[EVENTS_TOKEN_BYTES];
    uint32_t conversation;
    uint8_t protocol;
};

struct tokens {
    pthread_mutex_t lock;
    struct entry **bucket;
    size_t buckets, count;
    uint64_t key; /* tokens come from the other end: it shall not choose their buckets */
};

int token_make(uint8_t token[EVENTS_TOKEN_BYTES], struct err *e)
{
    ssize_t n = getrandom(token, EVENTS_TOKEN_BYTES, 0);
    return n == EVENTS_TOKEN_BYTES ? 0 : err_sys(e, n < 0 ? errno : EIO, "cannot get random numbers");
}

int tokens_open(struct tokens **out, struct err *e)
{
    struct tokens *t = calloc(1, sizeof *t);
    if (t)
        t->bucket = calloc(1024, sizeof *t->bucket);
    if (!t || !t->bucket) {
        free(t);
        return err_sys(e, ENOMEM, "cannot hold tokens");
    }
    t->buckets = 1024;
    pthread_mutex_init(&t->lock, NULL);
    if (getrandom(&t->key, sizeof t->key, 0) != sizeof t->key) {
        tokens_close(t);
        return err_sys(e, EIO, "cannot get random numbers");
    }
    *out = t;
    return 0;
}

void tokens_close(struct tokens *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->buckets; i++) {
        for (struct entry *at = t->bucket[i], *next; at; at = next) {
            next = at->next;
            free(at);
        }
    }
    pthread_mutex_destroy(&t->lock);
    free(t->bucket);
    free(t);
}

static size_t slot_of(const struct tokens *t, const uint8_t *token)
{
    uint64_t a, b;
    memcpy(&a, token, sizeof a);
    memcpy(&b, token + sizeof a, sizeof b);
    return random_mix(random_mix(a ^ t->key) ^ b) & (t->buckets - 1);
}

/* In the same time whatever differs. */
static bool same(const uint8_t *a, const uint8_t *b)
{
    unsigned differ = 0;
    for (size_t i = 0; i < EVENTS_TOKEN_BYTES; i++)
        differ |= a[i] ^ b[i];
    return !differ;
}

static struct entry **find(const struct tokens *t, const uint8_t *token)
{
    struct entry **p = &t->bucket[slot_of(t, token)];
    while (*p && !same((*p)->token, token))
        p = &(*p)->next;
    return p;
}

static void grow(struct tokens *t)
{
    if (t->count < t->buckets)
        return;
    size_t old = t->buckets;
    struct entry **from = t->bucket, **bucket = calloc(old * 2, sizeof *bucket);
    if (!bucket)
        return; /* slower, and right */
    t->bucket = bucket;
    t->buckets = old * 2;
    for (size_t i = 0; i < old; i++) {
        for (struct entry *at = from[i], *next; at; at = next) {
            struct entry **to = &t->bucket[slot_of(t, at->token)];
            next = at->next;
            at->next = *to;
            *to = at;
        }
    }
    free(from);
}

int tokens_expect(struct tokens *t, const uint8_t token[EVENTS_TOKEN_BYTES], uint32_t conversation,
        uint8_t protocol, struct err *e)
{
    struct entry *at = calloc(1, sizeof *at);
    int r = at ? token_make(at->cookie, e) : err_sys(e, ENOMEM, "cannot hold tokens");
    if (r < 0) {
        free(at);
        return r;
    }
    memcpy(at->token, token, sizeof at->token);
    at->conversation = conversation;
    at->protocol = protocol;
    pthread_mutex_lock(&t->lock);
    struct entry **p = find(t, token);
    bool twice = *p;
    if (!twice) {
        at->next = NULL;
        *p = at;
        t->count++;
        grow(t);
    }
    pthread_mutex_unlock(&t->lock);
    if (twice)
        free(at);
    return twice ? err_set(e, EPROTO, "a token is used for two conversations") : 0;
}

bool tokens_redeem(struct tokens *t, const uint8_t token[EVENTS_TOKEN_BYTES], uint8_t protocol,
        const uint8_t *cookie, uint32_t *conversation)
{
    pthread_mutex_lock(&t->lock);
    struct entry **p = find(t, token), *at = *p;
    bool found = at && at->protocol == protocol && !cookie == (protocol == NET_TCP);
    if (found && cookie)
        found = same(at->cookie, cookie);
    if (found) {
        *conversation = at->conversation;
        *p = at->next;
        t->count--;
    }
    pthread_mutex_unlock(&t->lock);
    if (found)
        free(at);
    return found;
}

bool tokens_cookie(
        struct tokens *t, const uint8_t token[EVENTS_TOKEN_BYTES], uint8_t cookie[EVENTS_TOKEN_BYTES])
{
    pthread_mutex_lock(&t->lock);
    const struct entry *at = *find(t, token);
    bool found = at && at->protocol == NET_UDP;
    if (found)
        memcpy(cookie, at->cookie, sizeof at->cookie);
    pthread_mutex_unlock(&t->lock);
    return found;
}
