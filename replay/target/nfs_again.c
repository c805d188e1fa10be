/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A server that restarts may lose what it has not committed. It then answers with another write verifier, and
 * all uncommitted writes have to be sent again (RFC 1813, 4.8). So that an old write never lands on a newer
 * one: nothing else is in flight meanwhile, all go out in the order of their replies, and overlapping ones
 * one after the other. After a reconnection the newest one is sent again before anything else: its reply
 * tells whether the server is another instance.
 */
#include <errno.h>
#include <string.h>

#include "replay/target/nfs.h"

/* A server whose verifier changes all the time is broken: what it has, nobody knows. */
#define ROUNDS_MAX 3

void nfs_verifier_seen(struct nfs_target *t, const char *verifier)
{
    if (t->fickle || (t->verifier_known && memcmp(t->verifier, verifier, NFS_VERIFIER_BYTES) == 0))
        return;
    t->instance += t->verifier_known;
    t->lost = t->lost || (t->verifier_known && t->log.first);
    t->verifier_known = true;
    memcpy(t->verifier, verifier, NFS_VERIFIER_BYTES);
}

void nfs_again_check(struct nfs_target *t)
{
    t->check = t->log.first != NULL;
}

bool nfs_again_busy(const struct nfs_target *t)
{
    return t->check || t->lost;
}

static bool overlap(const struct nfs_log_entry *a, const struct nfs_log_entry *b)
{
    return a->offset_bytes < b->offset_bytes + b->len_bytes &&
           b->offset_bytes < a->offset_bytes + a->len_bytes;
}

/* Sends an entry, or not yet: false. */
static bool send_entry(struct nfs_target *t, struct nfs_log_entry *entry)
{
    if (t->again_in_flight == NFS_AGAIN_MAX)
        return false;
    for (unsigned i = 0; i < t->again_in_flight; i++)
        if (overlap(entry, t->again[i]))
            return false;
    struct nfs_conn *c = nfs_conn_next(t);
    struct nfs_piece *p = c ? nfs_piece_new(t) : NULL;
    if (!p)
        return false;
    p->entry = entry;
    p->op = BLOCK_WRITE;
    p->offset_bytes = entry->offset_bytes;
    p->len_bytes = entry->len_bytes;
    p->data = entry->data;
    p->stable = entry->stable;
    t->again[t->again_in_flight++] = entry;
    t->events.reissued++;
    nfs_piece_issue(c, p);
    return true;
}

static void finish(struct nfs_target *t)
{
    t->again_begun = false;
    if (t->instance != t->again_instance) { /* yet another instance */
        if (++t->again_rounds < ROUNDS_MAX)
            return;
        t->fickle = true;
        nfs_log_release(&t->log);
    }
    t->again_rounds = 0;
    t->lost = t->check = false;
}

void nfs_again_step(struct nfs_target *t)
{
    if (t->in_flight > t->again_in_flight)
        return;
    if (!t->lost) {
        if (!t->log.first)
            t->check = false;
        else if (t->again_in_flight == 0)
            send_entry(t, t->log.last);
        return;
    }
    if (!t->again_begun) {
        if (t->again_in_flight)
            return;
        t->again_begun = true;
        t->again_instance = t->instance;
        t->again_next = t->log.first;
    }
    while (t->again_next && send_entry(t, t->again_next))
        t->again_next = t->again_next->next;
    if (!t->again_next && t->again_in_flight == 0)
        finish(t);
}

void nfs_again_done(struct nfs_piece *p, int error, bool gone)
{
    struct nfs_target *t = p->target;
    unsigned i = 0;
    while (i < t->again_in_flight && t->again[i] != p->entry)
        i++;
    if (i < t->again_in_flight)
        t->again[i] = t->again[--t->again_in_flight];
    if (gone)
        t->again_begun = false;
    else if (!t->lost)
        t->check = false;
    if (error)
        t->failed = error;
    nfs_piece_free(p);
}
