/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct net_writer {
    struct net_check *check;
    struct net_chunk chunk;                  /* the one being filled */
    struct conversation_chunk conversations; /* that begin with it */
    unsigned chunk_count, conversation_chunk_count;
};

int net_writer_open(struct net_writer **out, struct err *e)
{
    struct net_writer *n = calloc(1, sizeof *n);
    int r = n ? net_check_open(&n->check, e) : err_sys(e, ENOMEM, "cannot write conversations");
    if (!r)
        r = chunk_net_alloc(&n->chunk, COLUMNS_COUNT_MAX, e);
    if (!r)
        r = chunk_conversation_alloc(&n->conversations, COLUMNS_COUNT_MAX, e);
    if (r < 0) {
        net_writer_close(n);
        return r;
    }
    *out = n;
    return 0;
}

void net_writer_close(struct net_writer *n)
{
    if (!n)
        return;
    net_check_close(n->check);
    chunk_net_release(&n->chunk);
    chunk_conversation_release(&n->conversations);
    free(n);
}

bool net_writer_is_due(const struct net_writer *n, uint64_t t_ns)
{
    const struct net_chunk *c = &n->chunk;
    return c->count == TAPE_CHUNK_RECORDS ||
           (c->count && t_ns >= c->t_ns[0] && t_ns - c->t_ns[0] >= TAPE_CHUNK_NS);
}

int net_writer_add(struct net_writer *n, const struct net_event *ev, const struct net_conversation *c,
        size_t host_count, struct tape_totals *t, struct err *e)
{
    struct net_chunk *k = &n->chunk;
    int r = net_check_event(n->check, ev, c, host_count, t, e);
    if (r < 0)
        return r;
    if (ev->kind == NET_CONNECT)
        chunk_conversation_set(&n->conversations, n->conversations.count++, c);
    uint32_t i = k->count++;
    k->t_ns[i] = ev->t_ns;
    k->bytes[i] = ev->bytes;
    k->watermark[i] = ev->watermark;
    k->think_ns[i] = ev->think_ns;
    k->conversation[i] = ev->conversation;
    k->flags[i] = ev->flags;
    k->side[i] = ev->side;
    k->kind[i] = ev->kind;
    return 0;
}

static int flush_conversations(
        struct net_writer *n, struct chunk_encoder *encoder, struct container_writer *w, struct err *e)
{
    struct conversation_chunk *c = &n->conversations;
    const struct bytes *body;
    void *arrays[COLUMNS_MAX];
    char name[ARCHIVE_NAME_BYTES];
    if (!c->count)
        return 0;
    chunk_conversation_arrays(c, arrays);
    int r = chunk_encode(encoder, &chunk_spec_conversation, arrays, c->first, c->count, &body, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "conversation/%08u.msgpack.zst", n->conversation_chunk_count++);
    struct member_extent extent = {c->first, c->count, 0, 0};
    r = container_add(w, name, body, &extent, e);
    c->first += c->count;
    c->count = 0;
    return r;
}

int net_writer_flush(
        struct net_writer *n, struct chunk_encoder *encoder, struct container_writer *w, struct err *e)
{
    struct net_chunk *c = &n->chunk;
    const struct bytes *body;
    void *arrays[COLUMNS_MAX];
    char name[ARCHIVE_NAME_BYTES];
    if (!c->count)
        return 0;
    int r = flush_conversations(n, encoder, w, e);
    if (r < 0)
        return r;
    chunk_net_arrays(c, arrays);
    r = chunk_encode(encoder, &chunk_spec_net, arrays, c->first, c->count, &body, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "net/%08u.msgpack.zst", n->chunk_count++);
    struct member_extent extent = {c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
    r = container_add(w, name, body, &extent, e);
    c->first += c->count;
    c->count = 0;
    return r;
}
