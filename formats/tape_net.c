/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The part of the tape reader that reads conversations.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tape_reader.h"
#include "formats/totals.h"

void tape_net_release(struct tape_net *n)
{
    net_check_close(n->check);
    tape_totals_release(&n->counted);
    chunk_net_release(&n->chunk);
    chunk_conversation_release(&n->table);
    free(n->conversations);
    free(n->places.list);
}

/* ---- one chunk ---- */

static int keep_conversations(struct tape_net *n, struct err *e)
{
    uint32_t count = n->table.count;
    if (count > n->conversation_room) {
        struct net_conversation *list = reallocarray(n->conversations, count, sizeof *list);
        if (!list)
            return err_sys(e, ENOMEM, "cannot hold %" PRIu32 " conversations", count);
        n->conversations = list;
        n->conversation_room = count;
    }
    for (uint32_t i = 0; i < count; i++)
        n->conversations[i] = chunk_conversation_get(&n->table, i);
    return 0;
}

static int decode_conversations(struct tape_reader *r, const uint8_t *body, size_t len, struct err *e)
{
    struct tape_net *n = &r->net;
    void *arrays[COLUMNS_MAX];
    uint64_t first;
    uint32_t count;
    int bad = chunk_decode(r->decoder, &chunk_spec_conversation, body, len, &first, &count, e);
    if (!bad && first > NET_CONVERSATIONS_MAX)
        bad = err_set(e, EBADMSG, "has more than %d conversations", NET_CONVERSATIONS_MAX);
    if (!bad)
        bad = chunk_conversation_room(&n->table, &n->table_room, count, e);
    if (bad)
        return bad;
    chunk_conversation_arrays(&n->table, arrays);
    n->table.first = (uint32_t)first;
    n->table.count = count;
    bad = chunk_decode_columns(r->decoder, &chunk_spec_conversation, arrays, e);
    for (uint32_t i = 0; !bad && i < count; i++) {
        uint32_t stream = n->table.stream[i];
        if (stream >= r->dict.stream_count || r->dict.streams[stream].kind != TAPE_STREAM_NET)
            bad = err_set(e, EBADMSG, "has a conversation on no interface");
    }
    return bad ? bad : keep_conversations(n, e);
}

static int decode_net(struct tape_reader *r, const uint8_t *body, size_t len, struct err *e)
{
    struct net_chunk *c = &r->net.chunk;
    void *arrays[COLUMNS_MAX];
    uint64_t first;
    uint32_t count;
    int bad = chunk_decode(r->decoder, &chunk_spec_net, body, len, &first, &count, e);
    if (!bad)
        bad = chunk_net_room(c, &r->net.room, count, e);
    if (bad)
        return bad;
    chunk_net_arrays(c, arrays);
    c->first = first;
    c->count = count;
    return chunk_decode_columns(r->decoder, &chunk_spec_net, arrays, e);
}

/* Counts the events of the chunk that was loaded in `t`, by the rules of net.h. */
static int check_events(struct tape_reader *r, struct tape_totals *t, struct err *e)
{
    struct net_chunk *c = &r->net.chunk;
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct net_event ev = net_chunk_get(c, i);
        const struct net_conversation *v = NULL;
        if (ev.kind == NET_CONNECT && next < c->conversation_count)
            v = &c->conversations[next++];
        int bad = net_check_event(r->net.check, &ev, v, r->dict.host_count, t, e);
        if (bad == -EINVAL && e)
            e->code = EBADMSG;
        if (bad)
            return bad == -EINVAL ? -EBADMSG : bad;
    }
    if (next != c->conversation_count)
        return err_set(e, EBADMSG, "has %" PRIu32 " connects for %" PRIu32 " conversations", next,
                c->conversation_count);
    return 0;
}

/* Member `m` with the conversations of member `table` (0: none begins in it). */
static int load(struct tape_reader *r, size_t m, size_t table, struct tape_totals *t, struct err *e)
{
    struct tape_net *n = &r->net;
    n->table.count = 0;
    int bad = table ? tape_load_member(r, table, decode_conversations, e) : 0;
    if (!bad)
        bad = tape_load_member(r, m, decode_net, e);
    if (bad)
        return bad;
    n->chunk.conversations = n->conversations;
    n->chunk.conversation_count = n->table.count;
    n->chunk.conversation_first = (uint32_t)t->net.conversations;
    if (n->table.count && n->table.first != t->net.conversations) {
        err_set(e, EBADMSG, "does not continue the conversations before it");
        return container_blame(r->container, table, e);
    }
    if (n->chunk.first != t->net.events)
        bad = err_set(e, EBADMSG, "does not continue the chunk before it");
    if (!bad)
        bad = check_events(r, t, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

/* ---- opening ---- */

static int begin(struct tape_net *n, struct err *e)
{
    return n->check ? 0 : net_check_open(&n->check, e);
}

int tape_net_open_conversations(struct tape_reader *r, size_t m, struct err *e)
{
    if (r->net.pending) {
        err_set(e, EBADMSG, "holds conversations where events should follow");
        return container_blame(r->container, m, e);
    }
    r->net.pending = m;
    return 0;
}

int tape_net_open_events(struct tape_reader *r, size_t m, struct err *e)
{
    struct tape_net *n = &r->net;
    size_t table = n->pending;
    n->pending = 0;
    if (!r->totals.finished) {
        int bad = begin(n, e);
        if (!bad)
            bad = load(r, m, table, &r->totals, e);
        if (bad)
            return bad;
        const struct net_chunk *c = &n->chunk;
        struct member_extent found = {c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
        struct member_extent begun = {n->table.first, n->table.count, 0, 0};
        container_set_extent(r->container, m, &found);
        if (table)
            container_set_extent(r->container, table, &begun);
    }
    return tape_places_add(&n->places, m, table, e);
}

int tape_net_open_end(struct tape_reader *r, struct err *e)
{
    uint64_t events = 0;
    for (size_t i = 0; i < r->net.places.count; i++)
        events += container_member(r->container, r->net.places.list[i].member)->extent.count;
    if (events != r->totals.net.events)
        return err_set(
                e, EBADMSG, "%s: index: totals do not match the members", container_path(r->container));
    if (r->totals.finished && r->net.pending) {
        err_set(e, EBADMSG, "holds conversations without events");
        return container_blame(r->container, r->net.pending, e);
    }
    tape_reader_net_rewind(r);
    return 0;
}

/* ---- reading ---- */

size_t tape_reader_host_count(const struct tape_reader *r)
{
    return r->dict.host_count;
}

const char *tape_reader_host(const struct tape_reader *r, uint32_t id)
{
    return r->dict.hosts[id];
}

void tape_reader_net_rewind(struct tape_reader *r)
{
    struct tape_net *n = &r->net;
    net_check_close(n->check);
    n->check = NULL;
    tape_totals_release(&n->counted);
    n->next = 0;
}

static int check_extents(struct tape_reader *r, size_t m, size_t table, struct err *e)
{
    const struct tape_net *n = &r->net;
    const struct net_chunk *c = &n->chunk;
    const struct member_extent *x = &container_member(r->container, m)->extent;
    if (x->first != c->first || x->count != c->count || x->begin_ns != c->t_ns[0] ||
            x->end_ns != c->t_ns[c->count - 1]) {
        err_set(e, EBADMSG, "holds other events than the index says");
        return container_blame(r->container, m, e);
    }
    x = &container_member(r->container, table)->extent;
    if (table && (x->first != n->table.first || x->count != n->table.count || x->begin_ns || x->end_ns)) {
        err_set(e, EBADMSG, "holds other conversations than the index says");
        return container_blame(r->container, table, e);
    }
    return 0;
}

int tape_reader_net_next(struct tape_reader *r, const struct net_chunk **c, struct err *e)
{
    struct tape_net *n = &r->net;
    if (n->next == n->places.count)
        return 0;
    struct place p = n->places.list[n->next];
    int bad = begin(n, e);
    if (!bad)
        bad = totals_streams(&n->counted, r->dict.stream_count, e);
    if (!bad)
        bad = load(r, p.member, p.chunk, &n->counted, e);
    if (!bad)
        bad = check_extents(r, p.member, p.chunk, e);
    if (bad)
        return bad;
    n->next++;
    *c = &n->chunk;
    return 1;
}
