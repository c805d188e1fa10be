/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/tape_reader.h"

#include "formats/totals.h"

const struct tape_info *tape_reader_info(const struct tape_reader *r)
{
    return &r->info;
}

const struct tape_totals *tape_reader_totals(const struct tape_reader *r)
{
    return &r->totals;
}

size_t tape_reader_stream_count(const struct tape_reader *r)
{
    return r->dict.stream_count;
}

const struct tape_stream *tape_reader_stream(const struct tape_reader *r, uint32_t id)
{
    return &r->dict.streams[id];
}

size_t tape_reader_issuer_count(const struct tape_reader *r)
{
    return r->dict.issuer_count;
}

const char *tape_reader_issuer(const struct tape_reader *r, uint32_t id)
{
    return r->dict.issuers[id];
}

int tape_reader_next(struct tape_reader *r, const struct block_chunk **c, struct err *e)
{
    if (r->next == r->chunks.count)
        return 0;
    int bad = tape_load_chunk(r, r->next, e);
    if (bad)
        return bad;
    r->next++;
    *c = &r->chunk;
    return 1;
}

int tape_reader_seek(struct tape_reader *r, uint64_t t_ns, struct err *e)
{
    (void)e;
    size_t low = 0, high = r->chunks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tape_chunk_member(r, middle)->extent.end_ns < t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    r->next = low;
    return 0;
}

/* Adds what was counted of the events to what was counted of the block records. */
static void add_net(struct tape_totals *t, const struct tape_totals *net)
{
    uint64_t low = t->identity.work[0] + net->identity.work[0];
    t->identity.work[1] += net->identity.work[1] + (low < t->identity.work[0]);
    t->identity.work[0] = low;
    t->net = net->net;
    for (size_t i = 0; i < net->stream_count; i++) {
        t->streams[i].records += net->streams[i].records;
        t->streams[i].read_bytes += net->streams[i].read_bytes;
        t->streams[i].written_bytes += net->streams[i].written_bytes;
        t->streams[i].open += net->streams[i].open;
    }
}

static int verify_records(struct tape_reader *r, struct tape_totals *counted, struct err *e)
{
    const struct block_chunk *c = NULL;
    const struct net_chunk *n = NULL;
    int more = totals_streams(counted, r->dict.stream_count, e);
    if (more < 0)
        return more;
    r->next = 0;
    tape_reader_net_rewind(r);
    while ((more = tape_reader_next(r, &c, e)) == 1)
        totals_add_chunk(counted, c);
    while (more == 0 && (more = tape_reader_net_next(r, &n, e)) == 1)
        more = 0;
    if (more < 0)
        return more;
    add_net(counted, &r->net.counted);
    return totals_compare(counted, &r->totals, e) < 0 ? err_prefix(e, "%s", container_path(r->container)) : 0;
}

int tape_reader_verify(struct tape_reader *r, struct err *e)
{
    struct tape_totals counted = {0};
    const uint8_t *body;
    int bad = container_finished(r->container) ? container_verify_end(r->container, e) : 0;
    for (size_t m = 0; !bad && m < container_count(r->container); m++)
        bad = container_read(r->container, m, &r->buf, &body, e);
    if (!bad)
        bad = verify_records(r, &counted, e);
    tape_totals_release(&counted);
    r->next = 0;
    tape_reader_net_rewind(r);
    return bad;
}
