/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/tape_reader.h"

#include <errno.h>
#include <inttypes.h>

static bool uses(const struct block_chunk *c, uint32_t stream)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->stream[i] == stream)
            return true;
    return false;
}

static bool known_values(const struct tape_reader *r, const struct block_chunk *c)
{
    uint32_t stream = 0, issuer = 0;
    unsigned op = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        stream = c->stream[i] > stream ? c->stream[i] : stream;
        issuer = c->issuer[i] > issuer ? c->issuer[i] : issuer;
        op = c->op[i] > op ? c->op[i] : op;
    }
    for (uint32_t i = 0; i < r->dict.stream_count; i++) /* few, and mostly none is an interface */
        if (r->dict.streams[i].kind != TAPE_STREAM_DISK && uses(c, i))
            return false;
    return stream < r->dict.stream_count && issuer < r->dict.issuer_count && op < BLOCK_OPS;
}

/* The records of member `m` as they were written, without late completions. */
static int decode_block(struct tape_reader *r, const uint8_t *body, size_t len, struct err *e)
{
    void *arrays[COLUMNS_MAX];
    uint64_t first;
    uint32_t count;
    int bad = chunk_decode(r->decoder, &chunk_spec_block, body, len, &first, &count, e);
    if (!bad)
        bad = chunk_block_room(&r->chunk, &r->chunk_room, count, e);
    if (bad)
        return bad;
    chunk_block_arrays(&r->chunk, arrays);
    r->chunk.first = first;
    r->chunk.count = count;
    bad = chunk_decode_columns(r->decoder, &chunk_spec_block, arrays, e);
    if (!bad && !known_values(r, &r->chunk))
        bad = err_set(e, EBADMSG, "has a record of an unknown stream, issuer or operation");
    return bad;
}

static int decode_late(struct tape_reader *r, const uint8_t *body, size_t len, struct err *e)
{
    void *arrays[COLUMNS_MAX];
    uint64_t first;
    uint32_t count;
    int bad = chunk_decode(r->decoder, &chunk_spec_late, body, len, &first, &count, e);
    if (!bad)
        bad = chunk_late_room(&r->late_chunk, &r->late_room, count, e);
    if (bad)
        return bad;
    chunk_late_arrays(&r->late_chunk, arrays);
    r->late_chunk.first = first;
    r->late_chunk.count = count;
    return chunk_decode_columns(r->decoder, &chunk_spec_late, arrays, e);
}

int tape_load_member(struct tape_reader *r, size_t m, tape_decode *decode, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    bad = decode(r, body, container_member(r->container, m)->size_bytes, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

int tape_load_block(struct tape_reader *r, size_t m, struct err *e)
{
    return tape_load_member(r, m, decode_block, e);
}

int tape_load_late(struct tape_reader *r, size_t m, struct err *e)
{
    return tape_load_member(r, m, decode_late, e);
}

static bool extent_equal(const struct member_extent *a, const struct member_extent *b)
{
    return a->first == b->first && a->count == b->count && a->begin_ns == b->begin_ns &&
           a->end_ns == b->end_ns;
}

struct member_extent tape_block_extent(const struct block_chunk *c)
{
    return (struct member_extent){c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
}

struct member_extent tape_late_extent(const struct late_chunk *c)
{
    return (struct member_extent){c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
}

static int patch(struct block_chunk *c, const struct late_chunk *l, struct err *e)
{
    for (uint32_t k = 0; k < l->count; k++) {
        uint64_t i = l->record[k] - c->first;
        if (l->record[k] < c->first || i >= c->count || c->latency_ns[i] != TAPE_UNKNOWN ||
                c->stream[i] != l->stream[k] || c->t_ns[i] != l->t_ns[k])
            return err_set(
                    e, EBADMSG, "completes record %" PRIu64 ", which does not wait for it", l->record[k]);
        c->latency_ns[i] = l->latency_ns[k];
        c->error[i] = l->error[k];
    }
    return 0;
}

/* The first late member of a chunk or of a later one. */
static size_t late_begin(const struct tape_reader *r, size_t chunk)
{
    size_t low = 0, high = r->late.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->late.list[middle].chunk < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int tape_load_chunk(struct tape_reader *r, size_t chunk, struct err *e)
{
    size_t m = r->chunks.list[chunk].member;
    int bad = tape_load_block(r, m, e);
    if (bad)
        return bad;
    struct member_extent found = tape_block_extent(&r->chunk);
    if (!extent_equal(&found, &container_member(r->container, m)->extent)) {
        err_set(e, EBADMSG, "holds other records than the index says");
        return container_blame(r->container, m, e);
    }
    for (size_t i = late_begin(r, chunk); i < r->late.count && r->late.list[i].chunk == chunk; i++) {
        m = r->late.list[i].member;
        bad = tape_load_late(r, m, e);
        if (bad)
            return bad;
        if (patch(&r->chunk, &r->late_chunk, e) < 0)
            return container_blame(r->container, m, e);
    }
    return 0;
}
