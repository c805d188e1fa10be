/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/chunk.h"
#include "formats/container.h"
#include "formats/describe.h"
#include "formats/dict.h"
#include "formats/member_kind.h"
#include "formats/tape.h"
#include "formats/totals.h"

/* A member, and the chunk that it is or completes. */
struct place {
    size_t member, chunk;
};

struct places {
    struct place *list;
    size_t count, cap;
};

struct tape_reader {
    struct container *container;
    struct tape_info info;
    struct dict dict;
    struct tape_totals totals;
    struct places chunks; /* in file order */
    struct places late;   /* by chunk, then in file order */
    struct chunk_decoder *decoder;
    struct block_chunk chunk;
    struct late_chunk late_chunk;
    uint32_t chunk_room, late_room;
    struct bytes buf;
    size_t next;
    uint64_t records; /* that the chunks found so far say they hold */
};

static int places_add(struct places *p, size_t member, size_t chunk, struct err *e)
{
    if (p->count == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 64;
        struct place *list = reallocarray(p->list, cap, sizeof *list);
        if (!list)
            return err_sys(e, ENOMEM, "cannot hold the index");
        p->list = list;
        p->cap = cap;
    }
    p->list[p->count++] = (struct place){member, chunk};
    return 0;
}

static const struct member *chunk_member(const struct tape_reader *r, size_t chunk)
{
    return container_member(r->container, r->chunks.list[chunk].member);
}

/* ---- decoding one member ---- */

static bool known_values(const struct tape_reader *r, const struct block_chunk *c)
{
    uint32_t stream = 0, issuer = 0;
    unsigned op = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        stream = c->stream[i] > stream ? c->stream[i] : stream;
        issuer = c->issuer[i] > issuer ? c->issuer[i] : issuer;
        op = c->op[i] > op ? c->op[i] : op;
    }
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

typedef int decode_member(struct tape_reader *r, const uint8_t *body, size_t len, struct err *e);

static int load(struct tape_reader *r, size_t m, decode_member *decode, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    bad = decode(r, body, container_member(r->container, m)->size_bytes, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

static bool extent_equal(const struct member_extent *a, const struct member_extent *b)
{
    return a->first == b->first && a->count == b->count && a->begin_ns == b->begin_ns &&
           a->end_ns == b->end_ns;
}

static struct member_extent block_extent(const struct block_chunk *c)
{
    return (struct member_extent){c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
}

static struct member_extent late_extent(const struct late_chunk *c)
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

static int load_chunk(struct tape_reader *r, size_t chunk, struct err *e)
{
    size_t m = r->chunks.list[chunk].member;
    int bad = load(r, m, decode_block, e);
    if (bad)
        return bad;
    struct member_extent found = block_extent(&r->chunk);
    if (!extent_equal(&found, &container_member(r->container, m)->extent)) {
        err_set(e, EBADMSG, "holds other records than the index says");
        return container_blame(r->container, m, e);
    }
    for (size_t i = late_begin(r, chunk); i < r->late.count && r->late.list[i].chunk == chunk; i++) {
        m = r->late.list[i].member;
        bad = load(r, m, decode_late, e);
        if (bad)
            return bad;
        if (patch(&r->chunk, &r->late_chunk, e) < 0)
            return container_blame(r->container, m, e);
    }
    return 0;
}

/* ---- opening ---- */

static int open_info(struct tape_reader *r, struct err *e)
{
    const uint8_t *body;
    struct unpacked *u = NULL;
    enum tape_kind kind;
    int bad = container_read(r->container, 0, &r->buf, &body, e);
    if (bad)
        return bad;
    size_t len = container_member(r->container, 0)->size_bytes;
    bad = unpack_check_seal(body, len, e);
    if (!bad)
        bad = unpack(&u, body, len, PACK_OBJECTS_FEW, e);
    if (!bad)
        bad = describe_read_head(unpacked_root(u), &kind, e);
    if (!bad && kind == TAPE_KIND_RECORDING)
        bad = describe_read_info(unpacked_root(u), &r->info, e);
    unpacked_release(&u);
    if (bad)
        return container_blame(r->container, 0, e);
    if (kind != TAPE_KIND_RECORDING)
        return err_set(e, EINVAL, "'%s' is a run (what a replay measured), not a tape",
                container_path(r->container));
    return 0;
}

static int open_dict(struct tape_reader *r, size_t m, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    bad = dict_read(&r->dict, body, container_member(r->container, m)->size_bytes, e);
    if (!bad && !r->totals.finished)
        bad = totals_streams(&r->totals, r->dict.stream_count, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

static int open_block(struct tape_reader *r, size_t m, struct err *e)
{
    if (!r->totals.finished) {
        int bad = load(r, m, decode_block, e);
        if (bad)
            return bad;
        struct member_extent found = block_extent(&r->chunk);
        container_set_extent(r->container, m, &found);
        if (found.first == r->records)
            totals_add_chunk(&r->totals, &r->chunk);
    }
    const struct member_extent *x = &container_member(r->container, m)->extent;
    uint64_t last_ns = r->chunks.count ? chunk_member(r, r->chunks.count - 1)->extent.end_ns : 0;
    if (x->first != r->records || !x->count || x->count > TAPE_CHUNK_RECORDS || x->begin_ns < last_ns ||
            x->end_ns < x->begin_ns) {
        err_set(e, EBADMSG, "does not continue the chunk before it");
        return container_blame(r->container, m, e);
    }
    r->records += x->count;
    return places_add(&r->chunks, m, r->chunks.count, e);
}

/* The chunk that begins with record `first`; chunks.count where there is none. */
static size_t find_chunk(const struct tape_reader *r, uint64_t first)
{
    size_t low = 0, high = r->chunks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chunk_member(r, middle)->extent.first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->chunks.count && chunk_member(r, low)->extent.first == first ? low : r->chunks.count;
}

static int count_late(struct tape_reader *r, struct err *e)
{
    const struct late_chunk *c = &r->late_chunk;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->stream[i] >= r->totals.stream_count || !r->totals.streams[c->stream[i]].open)
            return err_set(
                    e, EBADMSG, "completes record %" PRIu64 ", which does not wait for it", c->record[i]);
        totals_late(&r->totals, c->stream[i], c->record[i], c->latency_ns[i], c->error[i]);
    }
    return 0;
}

static int open_late(struct tape_reader *r, size_t m, struct err *e)
{
    if (!r->totals.finished) {
        int bad = load(r, m, decode_late, e);
        if (bad)
            return bad;
        struct member_extent found = late_extent(&r->late_chunk);
        container_set_extent(r->container, m, &found);
        if (count_late(r, e) < 0)
            return container_blame(r->container, m, e);
    }
    size_t chunk = find_chunk(r, container_member(r->container, m)->extent.first);
    if (chunk == r->chunks.count) {
        err_set(e, EBADMSG, "completes records of a chunk that is not there");
        return container_blame(r->container, m, e);
    }
    return places_add(&r->late, m, chunk, e);
}

static int open_member(struct tape_reader *r, size_t m, struct err *e)
{
    switch (member_kind(container_member(r->container, m)->name)) {
    case MEMBER_DICT:
        return open_dict(r, m, e);
    case MEMBER_BLOCK:
        return open_block(r, m, e);
    case MEMBER_LATE:
        return open_late(r, m, e);
    default:
        return 0;
    }
}

static int by_chunk(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static int open_totals(struct tape_reader *r, struct err *e)
{
    int bad = totals_read(container_totals(r->container), &r->totals, e);
    container_drop_totals(r->container);
    return bad ? err_prefix(e, "%s: index", container_path(r->container)) : 0;
}

static int close_totals(struct tape_reader *r, struct err *e)
{
    if (!r->totals.finished) {
        r->totals.lost = r->dict.lost;
        for (size_t i = 0; i < r->dict.lost_count; i++)
            r->totals.streams[i].lost = r->dict.lost_stream[i];
        r->totals.ended = strdup("unfinished");
        return r->totals.ended ? 0 : err_sys(e, ENOMEM, "cannot open '%s'", container_path(r->container));
    }
    if (r->totals.records != r->records || r->totals.stream_count != r->dict.stream_count)
        return err_set(
                e, EBADMSG, "%s: index: totals do not match the members", container_path(r->container));
    return 0;
}

static int open_all(struct tape_reader *r, struct err *e)
{
    int bad = open_info(r, e);
    if (!bad && container_finished(r->container))
        bad = open_totals(r, e);
    for (size_t m = 1; !bad && m < container_count(r->container); m++)
        bad = open_member(r, m, e);
    if (!bad)
        bad = close_totals(r, e);
    if (!bad && r->late.count)
        qsort(r->late.list, r->late.count, sizeof *r->late.list, by_chunk);
    return bad;
}

int tape_reader_open(struct tape_reader **out, const char *path, struct err *e)
{
    struct tape_reader *r = calloc(1, sizeof *r);
    int bad = r ? container_open(&r->container, path, e) : err_sys(e, ENOMEM, "cannot open '%s'", path);
    if (!bad)
        bad = chunk_decoder_open(&r->decoder, e);
    if (!bad)
        bad = open_all(r, e);
    if (bad) {
        tape_reader_close(r);
        return bad;
    }
    *out = r;
    return 0;
}

void tape_reader_close(struct tape_reader *r)
{
    if (!r)
        return;
    container_close(r->container);
    chunk_decoder_close(r->decoder);
    chunk_block_release(&r->chunk);
    chunk_late_release(&r->late_chunk);
    bytes_release(&r->buf);
    dict_release(&r->dict);
    tape_info_release(&r->info);
    tape_totals_release(&r->totals);
    free(r->chunks.list);
    free(r->late.list);
    free(r);
}

/* ---- using ---- */

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
    int bad = load_chunk(r, r->next, e);
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
        if (chunk_member(r, middle)->extent.end_ns < t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    r->next = low;
    return 0;
}

static int verify_records(struct tape_reader *r, struct tape_totals *counted, struct err *e)
{
    const struct block_chunk *c = NULL;
    int more = totals_streams(counted, r->dict.stream_count, e);
    if (more < 0)
        return more;
    r->next = 0;
    while ((more = tape_reader_next(r, &c, e)) == 1)
        totals_add_chunk(counted, c);
    if (more < 0)
        return more;
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
    return bad;
}
