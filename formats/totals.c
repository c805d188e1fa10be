/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/describe.h"
#include "formats/identity.h"

int totals_streams(struct tape_totals *t, size_t count, struct err *e)
{
    if (count <= t->stream_count)
        return 0;
    struct tape_stream_totals *streams = reallocarray(t->streams, count, sizeof *streams);
    if (!streams)
        return err_sys(e, ENOMEM, "cannot count for %zu streams", count);
    memset(streams + t->stream_count, 0, (count - t->stream_count) * sizeof *streams);
    t->streams = streams;
    t->stream_count = count;
    return 0;
}

void totals_add(struct tape_totals *t, const struct block_record *r)
{
    struct tape_stream_totals *s = &t->streams[r->stream];
    identity_add(&t->identity, t->records++, r);
    s->records++;
    if (r->op == BLOCK_READ)
        s->read_bytes += r->len_bytes;
    else if (r->op == BLOCK_WRITE)
        s->written_bytes += r->len_bytes;
    if (r->latency_ns == TAPE_UNKNOWN)
        s->open++;
    if (r->t_ns > t->elapsed_ns)
        t->elapsed_ns = r->t_ns;
}

void totals_add_chunk(struct tape_totals *t, const struct block_chunk *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct block_record r = block_chunk_get(c, i);
        totals_add(t, &r);
    }
}

void totals_late(
        struct tape_totals *t, uint32_t stream, uint64_t ordinal, uint64_t latency_ns, uint16_t error)
{
    t->streams[stream].open--;
    identity_add_latency(&t->identity, ordinal, latency_ns, error);
}

static void pack_streams(struct packer *p, const struct tape_totals *t)
{
    pack_array(p, t->stream_count);
    for (size_t i = 0; i < t->stream_count; i++) {
        const struct tape_stream_totals *s = &t->streams[i];
        pack_array(p, 5);
        pack_uint(p, s->records);
        pack_uint(p, s->read_bytes);
        pack_uint(p, s->written_bytes);
        pack_uint(p, s->lost);
        pack_uint(p, s->open);
    }
}

static void pack_net(struct packer *p, const struct net_totals *n)
{
    pack_str(p, "net");
    pack_array(p, 6);
    pack_uint(p, n->conversations);
    pack_uint(p, n->events);
    pack_uint(p, n->sent_bytes[NET_INITIATOR]);
    pack_uint(p, n->sent_bytes[NET_RESPONDER]);
    pack_uint(p, n->open);
    pack_uint(p, n->exchanges);
}

int totals_pack(const struct tape_totals *t, const struct totals_count *counts, size_t count_count,
        struct bytes *out, struct err *e)
{
    struct packer p = {.out = out};
    bool net = t->net.events > 0;
    pack_map(&p, net ? 8 : 7);
    pack_str(&p, "ended");
    pack_str(&p, t->ended);
    pack_str(&p, "records");
    pack_uint(&p, t->records);
    pack_str(&p, "elapsed_ns");
    pack_uint(&p, t->elapsed_ns);
    pack_str(&p, "lost");
    pack_uint(&p, t->lost);
    pack_str(&p, "identity");
    describe_pack_identity(&p, &t->identity);
    pack_str(&p, "streams");
    pack_streams(&p, t);
    if (net)
        pack_net(&p, &t->net);
    pack_str(&p, "counts");
    pack_map(&p, count_count);
    for (size_t i = 0; i < count_count; i++) {
        pack_str(&p, counts[i].name);
        pack_uint(&p, counts[i].count);
    }
    return packer_end(&p, e);
}

static int read_streams(struct value list, struct tape_totals *t, struct err *e)
{
    size_t n = value_count(list);
    if (!value_is_array(list) || n > TAPE_STREAMS_MAX)
        return err_set(e, EBADMSG, "'streams' of the totals is malformed");
    int r = totals_streams(t, n, e);
    for (size_t i = 0; !r && i < n; i++) {
        struct value v = value_at(list, i);
        struct tape_stream_totals *s = &t->streams[i];
        if (!value_uint(value_at(v, 0), &s->records) || !value_uint(value_at(v, 1), &s->read_bytes) ||
                !value_uint(value_at(v, 2), &s->written_bytes) || !value_uint(value_at(v, 3), &s->lost) ||
                !value_uint(value_at(v, 4), &s->open))
            r = err_set(e, EBADMSG, "totals of stream %zu are malformed", i);
    }
    return r;
}

static int read_counts(struct value map, struct tape_totals *t, struct err *e)
{
    if (value_count(map) > FACTS_MAX)
        return err_set(e, EBADMSG, "has more than %d counts", FACTS_MAX);
    for (size_t i = 0; i < value_count(map); i++) {
        CLEANUP_FREE char *name = NULL;
        struct value k, v;
        uint64_t n;
        value_pair(map, i, &k, &v);
        int r = describe_read_text(k, FACTS_TEXT_MAX, &name, e);
        if (!r)
            r = value_uint(v, &n) ? facts_set(&t->counts, e, name, "%" PRIu64, n)
                                  : err_set(e, EBADMSG, "a count is no number");
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_net(struct value v, struct net_totals *n, struct err *e)
{
    if (!v.node)
        return 0;
    if (!value_uint(value_at(v, 0), &n->conversations) || !value_uint(value_at(v, 1), &n->events) ||
            !value_uint(value_at(v, 2), &n->sent_bytes[NET_INITIATOR]) ||
            !value_uint(value_at(v, 3), &n->sent_bytes[NET_RESPONDER]) ||
            !value_uint(value_at(v, 4), &n->open) || !value_uint(value_at(v, 5), &n->exchanges))
        return err_set(e, EBADMSG, "'net' of the totals is malformed");
    return 0;
}

static int read_totals(struct value v, struct tape_totals *t, struct err *e)
{
    int r = describe_read_text(value_get(v, "ended"), FACTS_TEXT_MAX, &t->ended, e);
    if (!r)
        r = describe_read_identity(value_get(v, "identity"), &t->identity, e);
    if (!r)
        r = read_streams(value_get(v, "streams"), t, e);
    if (!r)
        r = read_net(value_get(v, "net"), &t->net, e);
    if (!r)
        r = read_counts(value_get(v, "counts"), t, e);
    if (r < 0)
        return r;
    if (!value_uint(value_get(v, "records"), &t->records) ||
            !value_uint(value_get(v, "elapsed_ns"), &t->elapsed_ns) ||
            !value_uint(value_get(v, "lost"), &t->lost))
        return err_set(e, EBADMSG, "a number of the totals is malformed");
    t->finished = true;
    return 0;
}

int totals_read(struct value v, struct tape_totals *t, struct err *e)
{
    *t = (struct tape_totals){0};
    int r = value_is_map(v) ? read_totals(v, t, e) : err_set(e, EBADMSG, "has no totals");
    if (r < 0)
        tape_totals_release(t);
    return r;
}

int totals_compare(const struct tape_totals *counted, const struct tape_totals *stored, struct err *e)
{
    if (counted->records != stored->records || counted->stream_count != stored->stream_count)
        return err_set(e, EBADMSG, "has %" PRIu64 " records where the totals say %" PRIu64, counted->records,
                stored->records);
    for (size_t i = 0; i < counted->stream_count; i++) {
        const struct tape_stream_totals *a = &counted->streams[i], *b = &stored->streams[i];
        if (a->records != b->records || a->read_bytes != b->read_bytes ||
                a->written_bytes != b->written_bytes || a->open != b->open)
            return err_set(e, EBADMSG, "totals of stream %zu do not match its records", i);
    }
    const struct net_totals *n = &counted->net, *m = &stored->net;
    if (n->conversations != m->conversations || n->events != m->events ||
            n->sent_bytes[NET_INITIATOR] != m->sent_bytes[NET_INITIATOR] ||
            n->sent_bytes[NET_RESPONDER] != m->sent_bytes[NET_RESPONDER] || n->open != m->open ||
            n->exchanges != m->exchanges)
        return err_set(e, EBADMSG, "totals of conversations do not match their events");
    if (!tape_identity_equal(&counted->identity, &stored->identity))
        return err_set(e, EBADMSG, "identity does not match the records");
    return 0;
}
