/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/chunk.h"
#include "formats/container.h"
#include "formats/container_end.h"
#include "formats/describe.h"
#include "formats/dict.h"
#include "formats/late.h"
#include "formats/net_writer.h"
#include "formats/tape.h"
#include "formats/totals.h"

#define LEVEL    3     /* of zstd; see tests/bench/bench_tape.c */
#define LATE_MAX 65536 /* held back at most */

struct tape_writer {
    struct container_writer *container;
    struct chunk_encoder *encoder;
    struct block_chunk chunk; /* the one being filled */
    struct late_chunk late_chunk;
    struct late_pending late;
    uint64_t *chunk_first; /* number of the first record of each chunk written */
    size_t chunk_count, chunk_cap;
    unsigned dict_count, late_count;
    struct dict_pending dict;
    size_t issuer_count, host_count;
    enum tape_stream_kind *kinds; /* of the streams */
    struct net_writer *net;       /* made for the first event */
    uint64_t last_t_ns;
    struct tape_totals totals; /* its stream_count is that of the dictionary */
    struct totals_count *counts;
    size_t count_count;
    bool uncounted;   /* a count could not be kept */
    bool untold_loss; /* events were lost since the last dictionary member */
};

static int write_info(struct tape_writer *w, const struct tape_info *info, struct err *e)
{
    CLEANUP(bytes_release) struct bytes body = {0};
    struct packer p = {.out = &body};
    if (info->label && strlen(info->label) >= FACTS_TEXT_MAX)
        return err_set(e, EINVAL, "the label is longer than %d bytes", FACTS_TEXT_MAX - 1);
    pack_map(&p, DESCRIBE_HEAD_PAIRS + DESCRIBE_INFO_PAIRS + 1);
    describe_pack_head(&p, TAPE_KIND_RECORDING);
    describe_pack_info(&p, info);
    pack_seal(&p);
    int r = packer_end(&p, e);
    return r < 0 ? r : container_add(w->container, CONTAINER_FIRST, &body, NULL, e);
}

int tape_writer_open(struct tape_writer **out, const char *path, const struct tape_info *info, struct err *e)
{
    struct tape_writer *w = calloc(1, sizeof *w);
    int r = w ? chunk_encoder_open(&w->encoder, LEVEL, e) : err_sys(e, ENOMEM, "cannot create '%s'", path);
    if (!r)
        r = chunk_block_alloc(&w->chunk, COLUMNS_COUNT_MAX, e);
    if (!r)
        r = chunk_late_alloc(&w->late_chunk, COLUMNS_COUNT_MAX, e);
    if (!r)
        r = container_create(&w->container, path, e);
    if (!r)
        r = write_info(w, info, e);
    if (r < 0) {
        tape_writer_close(w, true);
        return r;
    }
    *out = w;
    return 0;
}

void tape_writer_close(struct tape_writer *w, bool discard)
{
    if (!w)
        return;
    container_writer_close(w->container, discard);
    chunk_encoder_close(w->encoder);
    chunk_block_release(&w->chunk);
    chunk_late_release(&w->late_chunk);
    late_release(&w->late);
    net_writer_close(w->net);
    free(w->kinds);
    free(w->chunk_first);
    dict_pending_release(&w->dict);
    tape_totals_release(&w->totals);
    for (size_t i = 0; i < w->count_count; i++)
        free(w->counts[i].name);
    free(w->counts);
    free(w);
}

/* ---- dictionary ---- */

static int write_dict(struct tape_writer *w, struct err *e)
{
    CLEANUP(bytes_release) struct bytes body = {0};
    char name[ARCHIVE_NAME_BYTES];
    if (!dict_is_pending(&w->dict) && !w->untold_loss)
        return 0;
    int r = dict_pack(&w->dict, w->untold_loss ? &w->totals : NULL, &body, e);
    if (r < 0)
        return r;
    w->untold_loss = false;
    snprintf(name, sizeof name, "dict/%06u.msgpack", w->dict_count++);
    return container_add(w->container, name, &body, NULL, e);
}

int tape_writer_stream(struct tape_writer *w, const struct tape_stream *s, uint32_t *id, struct err *e)
{
    size_t n = w->totals.stream_count;
    if (n == TAPE_STREAMS_MAX)
        return err_set(e, E2BIG, "more than %d streams", TAPE_STREAMS_MAX);
    if (s->name && strlen(s->name) >= FACTS_TEXT_MAX)
        return err_set(e, EINVAL, "a stream's name is longer than %d bytes", FACTS_TEXT_MAX - 1);
    enum tape_stream_kind *kinds = reallocarray(w->kinds, n + 1, sizeof *kinds);
    if (!kinds)
        return err_sys(e, ENOMEM, "cannot keep a stream");
    w->kinds = kinds;
    kinds[n] = s->kind;
    int r = totals_streams(&w->totals, n + 1, e);
    if (!r)
        r = dict_add_stream(&w->dict, s, e);
    if (!r && dict_is_large(&w->dict))
        r = write_dict(w, e);
    if (r < 0)
        return r;
    *id = (uint32_t)n;
    return 0;
}

/* `add`: an issuer or a host, of which *count of at most `max` are there. */
static int add_name(struct tape_writer *w, int (*add)(struct dict_pending *, const char *, struct err *),
        const char *name, size_t *count, size_t max, uint32_t *id, struct err *e)
{
    if (*count == max)
        return err_set(e, E2BIG, "more than %zu issuers or hosts", max);
    if (strlen(name) >= DESCRIBE_ISSUER_MAX)
        return err_set(
                e, EINVAL, "the name of an issuer or host is longer than %d bytes", DESCRIBE_ISSUER_MAX - 1);
    int r = add(&w->dict, name, e);
    if (!r && dict_is_large(&w->dict))
        r = write_dict(w, e);
    if (r < 0)
        return r;
    *id = (uint32_t)(*count)++;
    return 0;
}

int tape_writer_issuer(struct tape_writer *w, const char *name, uint32_t *id, struct err *e)
{
    return add_name(w, dict_add_issuer, name, &w->issuer_count, TAPE_ISSUERS_MAX, id, e);
}

int tape_writer_host(struct tape_writer *w, const char *name, uint32_t *id, struct err *e)
{
    return add_name(w, dict_add_host, name, &w->host_count, NET_HOSTS_MAX, id, e);
}

/* ---- late completions ---- */

/* The chunk that a record was written with. */
static size_t chunk_of(const struct tape_writer *w, uint64_t record)
{
    size_t low = 0, high = w->chunk_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (w->chunk_first[middle] <= record)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int write_late_chunk(struct tape_writer *w, struct err *e)
{
    const struct late_chunk *c = &w->late_chunk;
    const struct bytes *body;
    void *arrays[COLUMNS_MAX];
    char name[ARCHIVE_NAME_BYTES];
    chunk_late_arrays(c, arrays);
    int r = chunk_encode(w->encoder, &chunk_spec_late, arrays, c->first, c->count, &body, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "late/%06u.msgpack.zst", w->late_count++);
    struct member_extent extent = {c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
    return container_add(w->container, name, body, &extent, e);
}

/* Those that completed up to `until_ns`; all where too many wait. */
static int write_late(struct tape_writer *w, uint64_t until_ns, struct err *e)
{
    size_t due = late_due(&w->late, w->late.count > LATE_MAX ? UINT64_MAX : until_ns);
    for (size_t done = 0; done < due;) {
        size_t at = chunk_of(w, w->late.list[done].record);
        uint64_t end = at + 1 < w->chunk_count ? w->chunk_first[at + 1] : w->totals.records;
        int r = late_take(w->late.list + done, due - done, w->chunk_first[at], end, &w->late_chunk, e);
        if (!r)
            r = write_late_chunk(w, e);
        if (r < 0)
            return r;
        done += w->late_chunk.count;
    }
    late_drop(&w->late, due);
    return 0;
}

/* A record that has not been written yet is completed where it stands. */
static int complete_in_chunk(
        struct tape_writer *w, uint64_t ordinal, uint64_t latency_ns, uint16_t error, struct err *e)
{
    size_t i = (size_t)(ordinal - w->chunk.first);
    if (w->chunk.latency_ns[i] != TAPE_UNKNOWN)
        return err_set(e, EINVAL, "record %" PRIu64 " completes twice", ordinal);
    w->chunk.latency_ns[i] = latency_ns;
    w->chunk.error[i] = error;
    return 0;
}

int tape_writer_late(struct tape_writer *w, uint64_t ordinal, uint32_t stream, uint64_t t_ns,
        uint64_t latency_ns, uint16_t error, struct err *e)
{
    int r;
    if (ordinal >= w->totals.records || stream >= w->totals.stream_count || latency_ns == TAPE_UNKNOWN ||
            !w->totals.streams[stream].open)
        return err_set(e, EINVAL, "record %" PRIu64 " waits for no completion", ordinal);
    if (ordinal >= w->chunk.first) {
        r = complete_in_chunk(w, ordinal, latency_ns, error, e);
    } else {
        struct late l = {ordinal, t_ns, latency_ns, stream, error};
        r = late_add(&w->late, &l, e);
    }
    if (!r)
        totals_late(&w->totals, stream, ordinal, latency_ns, error);
    return r;
}

/* ---- chunks ---- */

static int remember_chunk(struct tape_writer *w, struct err *e)
{
    if (w->chunk_count == w->chunk_cap) {
        size_t cap = w->chunk_cap ? w->chunk_cap * 2 : 64;
        uint64_t *first = reallocarray(w->chunk_first, cap, sizeof *first);
        if (!first)
            return err_sys(e, ENOMEM, "cannot hold the index");
        w->chunk_first = first;
        w->chunk_cap = cap;
    }
    w->chunk_first[w->chunk_count++] = w->chunk.first;
    return 0;
}

static int write_chunk(struct tape_writer *w, struct err *e)
{
    struct block_chunk *c = &w->chunk;
    const struct bytes *body;
    void *arrays[COLUMNS_MAX];
    char name[ARCHIVE_NAME_BYTES];
    chunk_block_arrays(c, arrays);
    int r = chunk_encode(w->encoder, &chunk_spec_block, arrays, c->first, c->count, &body, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "block/%08zu.msgpack.zst", w->chunk_count);
    struct member_extent extent = {c->first, c->count, c->t_ns[0], c->t_ns[c->count - 1]};
    r = container_add(w->container, name, body, &extent, e);
    if (!r)
        r = remember_chunk(w, e);
    if (r < 0)
        return r;
    c->first += c->count;
    c->count = 0;
    return 0;
}

/* Everything known so far; the next chunk begins at `next_ns`. */
static int flush(struct tape_writer *w, uint64_t next_ns, struct err *e)
{
    int r = write_dict(w, e);
    if (!r && w->chunk.count)
        r = write_chunk(w, e);
    if (!r && w->late.count)
        r = write_late(w, next_ns, e);
    return r;
}

static int check_record(const struct tape_writer *w, const struct block_record *r, struct err *e)
{
    if (r->t_ns < w->last_t_ns)
        return err_set(e, EINVAL, "record %" PRIu64 " arrived at %" PRIu64 " ns, before the one before it",
                w->totals.records, r->t_ns);
    if (r->stream >= w->totals.stream_count || w->kinds[r->stream] != TAPE_STREAM_DISK ||
            r->issuer >= w->issuer_count)
        return err_set(e, EINVAL, "record %" PRIu64 " is of an unknown stream or issuer", w->totals.records);
    if (r->op >= BLOCK_OPS || r->flags >> BLOCK_FLAGS)
        return err_set(e, EINVAL, "record %" PRIu64 " has an unknown operation or flag", w->totals.records);
    return 0;
}

int tape_writer_add(struct tape_writer *w, const struct block_record *r, uint64_t *ordinal, struct err *e)
{
    struct block_chunk *c = &w->chunk;
    int bad = check_record(w, r, e);
    if (!bad && c->count && (c->count == TAPE_CHUNK_RECORDS || r->t_ns - c->t_ns[0] >= TAPE_CHUNK_NS))
        bad = flush(w, r->t_ns, e);
    if (bad)
        return bad;
    uint32_t i = c->count++;
    c->t_ns[i] = r->t_ns;
    c->offset_bytes[i] = r->offset_bytes;
    c->len_bytes[i] = r->len_bytes;
    c->latency_ns[i] = r->latency_ns;
    c->stream[i] = r->stream;
    c->issuer[i] = r->issuer;
    c->flags[i] = r->flags;
    c->error[i] = r->error;
    c->op[i] = r->op;
    if (ordinal)
        *ordinal = w->totals.records;
    w->last_t_ns = r->t_ns;
    totals_add(&w->totals, r);
    return 0;
}

/* ---- conversations ---- */

static int flush_net(struct tape_writer *w, struct err *e)
{
    int r = write_dict(w, e);
    return r < 0 ? r : net_writer_flush(w->net, w->encoder, w->container, e);
}

int tape_writer_net(
        struct tape_writer *w, const struct net_event *ev, const struct net_conversation *c, struct err *e)
{
    int r = w->net ? 0 : net_writer_open(&w->net, e);
    if (c && (c->stream >= w->totals.stream_count || w->kinds[c->stream] != TAPE_STREAM_NET))
        return err_set(e, EINVAL, "conversation %" PRIu32 " is on no interface", ev->conversation);
    if (!r && net_writer_is_due(w->net, ev->t_ns))
        r = flush_net(w, e);
    return r < 0 ? r : net_writer_add(w->net, ev, c, w->host_count, &w->totals, e);
}

uint32_t tape_writer_conversations(const struct tape_writer *w)
{
    return (uint32_t)w->totals.net.conversations;
}

/* ---- counts and the end ---- */

void tape_writer_lost(struct tape_writer *w, uint32_t stream, uint64_t count)
{
    w->totals.lost += count;
    w->untold_loss = w->untold_loss || count;
    if (stream < w->totals.stream_count)
        w->totals.streams[stream].lost += count;
}

void tape_writer_count(struct tape_writer *w, const char *name, uint64_t count)
{
    for (size_t i = 0; i < w->count_count; i++) {
        if (strcmp(w->counts[i].name, name) == 0) {
            w->counts[i].count += count;
            return;
        }
    }
    char *copy = w->count_count < FACTS_MAX ? strdup(name) : NULL;
    struct totals_count *counts = copy ? reallocarray(w->counts, w->count_count + 1, sizeof *counts) : NULL;
    if (!counts) {
        free(copy);
        w->uncounted = true;
        return;
    }
    w->counts = counts;
    w->counts[w->count_count++] = (struct totals_count){copy, count};
}

uint64_t tape_writer_records(const struct tape_writer *w)
{
    return w->totals.records;
}

uint64_t tape_writer_bytes(const struct tape_writer *w)
{
    return container_bytes(w->container);
}

int tape_writer_finish(struct tape_writer *w, const char *ended, uint64_t elapsed_ns, struct err *e)
{
    CLEANUP(bytes_release) struct bytes totals = {0};
    if (w->uncounted)
        return err_set(e, ENOMEM, "a count could not be kept");
    if (elapsed_ns > w->totals.elapsed_ns)
        w->totals.elapsed_ns = elapsed_ns;
    free(w->totals.ended);
    w->totals.ended = strdup(ended);
    if (!w->totals.ended)
        return err_sys(e, ENOMEM, "cannot finish the tape");
    int r = flush(w, UINT64_MAX, e);
    if (!r && w->net)
        r = flush_net(w, e);
    if (!r)
        r = totals_pack(&w->totals, w->counts, w->count_count, &totals, e);
    return r < 0 ? r : container_finish(w->container, &totals, e);
}
