/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/tape_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/describe.h"
#include "formats/member_kind.h"
#include "formats/totals.h"

int tape_places_add(struct places *p, size_t member, size_t chunk, struct err *e)
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
        int bad = tape_load_block(r, m, e);
        if (bad)
            return bad;
        struct member_extent found = tape_block_extent(&r->chunk);
        container_set_extent(r->container, m, &found);
        if (found.first == r->records)
            totals_add_chunk(&r->totals, &r->chunk);
    }
    const struct member_extent *x = &container_member(r->container, m)->extent;
    uint64_t last_ns = r->chunks.count ? tape_chunk_member(r, r->chunks.count - 1)->extent.end_ns : 0;
    if (x->first != r->records || !x->count || x->count > TAPE_CHUNK_RECORDS || x->begin_ns < last_ns ||
            x->end_ns < x->begin_ns) {
        err_set(e, EBADMSG, "does not continue the chunk before it");
        return container_blame(r->container, m, e);
    }
    r->records += x->count;
    return tape_places_add(&r->chunks, m, r->chunks.count, e);
}

/* The chunk that begins with record `first`; chunks.count where there is none. */
static size_t find_chunk(const struct tape_reader *r, uint64_t first)
{
    size_t low = 0, high = r->chunks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tape_chunk_member(r, middle)->extent.first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->chunks.count && tape_chunk_member(r, low)->extent.first == first ? low : r->chunks.count;
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
        int bad = tape_load_late(r, m, e);
        if (bad)
            return bad;
        struct member_extent found = tape_late_extent(&r->late_chunk);
        container_set_extent(r->container, m, &found);
        if (count_late(r, e) < 0)
            return container_blame(r->container, m, e);
    }
    size_t chunk = find_chunk(r, container_member(r->container, m)->extent.first);
    if (chunk == r->chunks.count) {
        err_set(e, EBADMSG, "completes records of a chunk that is not there");
        return container_blame(r->container, m, e);
    }
    return tape_places_add(&r->late, m, chunk, e);
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
    case MEMBER_CONVERSATION:
        return tape_net_open_conversations(r, m, e);
    case MEMBER_NET:
        return tape_net_open_events(r, m, e);
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
        bad = tape_net_open_end(r, e);
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
    tape_net_release(&r->net);
    bytes_release(&r->buf);
    dict_release(&r->dict);
    tape_info_release(&r->info);
    tape_totals_release(&r->totals);
    free(r->chunks.list);
    free(r->late.list);
    free(r);
}
