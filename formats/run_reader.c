/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/chunk.h"
#include "formats/container.h"
#include "formats/describe.h"
#include "formats/dict.h"
#include "formats/member_kind.h"
#include "formats/run.h"

struct run_reader {
    struct container *container;
    struct run_info info;
    struct dict dict;
    char *ended;
    uint64_t results, results_expected, repetitions_expected, exchanges_count, exchanges_expected;
    struct run_repetition *repetitions;
    size_t repetition_count, repetition_cap;
    size_t *chunks; /* members */
    size_t chunk_count, chunk_cap, next;
    size_t *exchange_chunks; /* members */
    size_t exchange_chunk_count, exchange_chunk_cap, next_exchange;
    struct chunk_decoder *decoder;
    struct run_chunk chunk;
    struct run_exchanges exchanges;
    uint32_t room, exchange_room;
    struct bytes buf;
};

/* Room for one element more. */
static int grow(void **list, size_t count, size_t *cap, size_t elem_bytes, struct err *e)
{
    if (count < *cap)
        return 0;
    size_t more = *cap ? *cap * 2 : 64;
    void *p = reallocarray(*list, more, elem_bytes);
    if (!p)
        return err_sys(e, ENOMEM, "cannot hold the index");
    *list = p;
    *cap = more;
    return 0;
}

/* ---- one member ---- */

static bool known_values(const struct run_reader *r, const struct run_chunk *c)
{
    uint32_t stream = 0;
    unsigned op = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        stream = c->stream[i] > stream ? c->stream[i] : stream;
        op = c->op[i] > op ? c->op[i] : op;
    }
    return stream < r->dict.stream_count && op < BLOCK_OPS;
}

static int decode_results(struct run_reader *r, const uint8_t *body, size_t len, struct err *e)
{
    void *arrays[COLUMNS_MAX];
    uint64_t repetition;
    uint32_t count;
    int bad = chunk_decode(r->decoder, &chunk_spec_result, body, len, &repetition, &count, e);
    if (!bad)
        bad = chunk_result_room(&r->chunk, &r->room, count, e);
    if (bad)
        return bad;
    chunk_result_arrays(&r->chunk, arrays);
    r->chunk.repetition = (uint32_t)repetition;
    r->chunk.count = count;
    bad = chunk_decode_columns(r->decoder, &chunk_spec_result, arrays, e);
    if (!bad && (!repetition || repetition > UINT32_MAX || !known_values(r, &r->chunk)))
        bad = err_set(e, EBADMSG, "has a result of an unknown repetition, stream or operation");
    return bad;
}

static int load_results(struct run_reader *r, size_t m, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    bad = decode_results(r, body, container_member(r->container, m)->size_bytes, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

static int decode_exchanges(struct run_reader *r, const uint8_t *body, size_t len, struct err *e)
{
    void *arrays[COLUMNS_MAX];
    uint64_t repetition;
    uint32_t count;
    struct run_exchanges *x = &r->exchanges;
    int bad = chunk_decode(r->decoder, &chunk_spec_exchange, body, len, &repetition, &count, e);
    if (!bad)
        bad = chunk_exchange_room(x, &r->exchange_room, count, e);
    if (bad)
        return bad;
    chunk_exchange_arrays(x, arrays);
    x->repetition = (uint32_t)repetition;
    x->count = count;
    bad = chunk_decode_columns(r->decoder, &chunk_spec_exchange, arrays, e);
    bool known = repetition && repetition <= UINT32_MAX;
    for (uint32_t i = 0; !bad && i < count; i++)
        known = known && x->kind[i] < RUN_EXCHANGE_KINDS;
    return bad || known ? bad : err_set(e, EBADMSG, "has an exchange of an unknown repetition or kind");
}

static int load_exchanges(struct run_reader *r, size_t m, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    bad = decode_exchanges(r, body, container_member(r->container, m)->size_bytes, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

/* The content of a member that is plain msgpack: 0 and a tree that refers to r->buf. */
static int load_plain(struct run_reader *r, size_t m, struct unpacked **u, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    size_t len = container_member(r->container, m)->size_bytes;
    bad = unpack_check_seal(body, len, e);
    if (!bad)
        bad = unpack(u, body, len, PACK_OBJECTS_FEW, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

/* ---- opening ---- */

static int open_info(struct run_reader *r, struct err *e)
{
    CLEANUP(unpacked_release) struct unpacked *u = NULL;
    enum tape_kind kind;
    int bad = load_plain(r, 0, &u, e);
    if (bad)
        return bad;
    bad = describe_read_head(unpacked_root(u), &kind, e);
    if (!bad && kind != TAPE_KIND_RUN)
        return err_set(e, EINVAL, "'%s' is a tape, not a run (what a replay measured)",
                container_path(r->container));
    if (!bad)
        bad = describe_read_run(unpacked_root(u), &r->info, e);
    return bad ? container_blame(r->container, 0, e) : 0;
}

static int open_dict(struct run_reader *r, size_t m, struct err *e)
{
    const uint8_t *body;
    int bad = container_read(r->container, m, &r->buf, &body, e);
    if (bad)
        return bad;
    bad = dict_read(&r->dict, body, container_member(r->container, m)->size_bytes, e);
    return bad ? container_blame(r->container, m, e) : 0;
}

static int open_results(struct run_reader *r, size_t m, struct err *e)
{
    int bad = grow((void **)&r->chunks, r->chunk_count, &r->chunk_cap, sizeof *r->chunks, e);
    if (!bad && !container_finished(r->container) && !(bad = load_results(r, m, e))) {
        struct member_extent found = {.first = r->chunk.repetition, .count = r->chunk.count};
        container_set_extent(r->container, m, &found);
    }
    if (bad)
        return bad;
    const struct member_extent *x = &container_member(r->container, m)->extent;
    if (!x->count || x->count > RUN_CHUNK_RECORDS || !x->first || x->first > UINT32_MAX) {
        err_set(e, EBADMSG, "cannot hold %" PRIu64 " results", x->count);
        return container_blame(r->container, m, e);
    }
    r->results += x->count;
    r->chunks[r->chunk_count++] = m;
    return 0;
}

static int open_exchanges(struct run_reader *r, size_t m, struct err *e)
{
    int bad = grow((void **)&r->exchange_chunks, r->exchange_chunk_count, &r->exchange_chunk_cap,
            sizeof *r->exchange_chunks, e);
    if (!bad && !container_finished(r->container) && !(bad = load_exchanges(r, m, e))) {
        struct member_extent found = {.first = r->exchanges.repetition, .count = r->exchanges.count};
        container_set_extent(r->container, m, &found);
    }
    if (bad)
        return bad;
    const struct member_extent *x = &container_member(r->container, m)->extent;
    if (!x->count || x->count > RUN_CHUNK_RECORDS || !x->first || x->first > UINT32_MAX) {
        err_set(e, EBADMSG, "cannot hold %" PRIu64 " exchanges", x->count);
        return container_blame(r->container, m, e);
    }
    r->exchanges_count += x->count;
    r->exchange_chunks[r->exchange_chunk_count++] = m;
    return 0;
}

static int read_repetition(struct value map, struct run_repetition *rep, struct err *e)
{
    if (!value_is_map(map))
        return err_set(e, EBADMSG, "is no summary of a repetition");
#define FIELD(field)                                                                                         \
    if (!value_get_uint(map, #field, &rep->field))                                                           \
        return err_set(e, EBADMSG, "'" #field "' is malformed");
    RUN_REPETITION_FIELDS(FIELD)
#undef FIELD
    return 0;
}

static int open_repetition(struct run_reader *r, size_t m, struct err *e)
{
    CLEANUP(unpacked_release) struct unpacked *u = NULL;
    struct run_repetition rep = {0};
    int bad = grow(
            (void **)&r->repetitions, r->repetition_count, &r->repetition_cap, sizeof *r->repetitions, e);
    if (!bad)
        bad = load_plain(r, m, &u, e);
    if (bad)
        return bad;
    if (read_repetition(unpacked_root(u), &rep, e) < 0)
        return container_blame(r->container, m, e);
    r->repetitions[r->repetition_count++] = rep;
    return 0;
}

static int open_member(struct run_reader *r, size_t m, struct err *e)
{
    switch (member_kind(container_member(r->container, m)->name)) {
    case MEMBER_DICT:
        return open_dict(r, m, e);
    case MEMBER_RESULT:
        return open_results(r, m, e);
    case MEMBER_EXCHANGE:
        return open_exchanges(r, m, e);
    case MEMBER_REPETITION:
        return open_repetition(r, m, e);
    default:
        return 0;
    }
}

static int open_totals(struct run_reader *r, struct err *e)
{
    struct value t = container_totals(r->container);
    int bad = 0;
    if (!container_finished(r->container)) {
        r->ended = strdup("unfinished");
        return r->ended ? 0 : err_sys(e, ENOMEM, "cannot open '%s'", container_path(r->container));
    }
    if (!value_uint(value_get(t, "results"), &r->results_expected) ||
            !value_uint(value_get(t, "repetitions"), &r->repetitions_expected) ||
            !value_get_uint(t, "exchanges", &r->exchanges_expected))
        bad = err_set(e, EBADMSG, "totals are malformed");
    if (!bad)
        bad = describe_read_text(value_get(t, "ended"), FACTS_TEXT_MAX, &r->ended, e);
    container_drop_totals(r->container);
    return bad ? err_prefix(e, "%s: index", container_path(r->container)) : 0;
}

static int open_all(struct run_reader *r, struct err *e)
{
    int bad = open_info(r, e);
    if (!bad)
        bad = open_totals(r, e);
    for (size_t m = 1; !bad && m < container_count(r->container); m++)
        bad = open_member(r, m, e);
    if (!bad && container_finished(r->container) &&
            (r->results != r->results_expected || r->repetition_count != r->repetitions_expected ||
                    r->exchanges_count != r->exchanges_expected))
        bad = err_set(e, EBADMSG, "%s: index: totals do not match the members", container_path(r->container));
    return bad;
}

int run_reader_open(struct run_reader **out, const char *path, struct err *e)
{
    struct run_reader *r = calloc(1, sizeof *r);
    int bad = r ? container_open(&r->container, path, e) : err_sys(e, ENOMEM, "cannot open '%s'", path);
    if (!bad)
        bad = chunk_decoder_open(&r->decoder, e);
    if (!bad)
        bad = open_all(r, e);
    if (bad) {
        run_reader_close(r);
        return bad;
    }
    *out = r;
    return 0;
}

void run_reader_close(struct run_reader *r)
{
    if (!r)
        return;
    container_close(r->container);
    chunk_decoder_close(r->decoder);
    chunk_result_release(&r->chunk);
    chunk_exchange_release(&r->exchanges);
    bytes_release(&r->buf);
    dict_release(&r->dict);
    run_info_release(&r->info);
    free(r->ended);
    free(r->repetitions);
    free(r->chunks);
    free(r->exchange_chunks);
    free(r);
}

/* ---- using ---- */

const struct run_info *run_reader_info(const struct run_reader *r)
{
    return &r->info;
}

bool run_reader_finished(const struct run_reader *r)
{
    return container_finished(r->container);
}

const char *run_reader_ended(const struct run_reader *r)
{
    return r->ended;
}

size_t run_reader_stream_count(const struct run_reader *r)
{
    return r->dict.stream_count;
}

const struct tape_stream *run_reader_stream(const struct run_reader *r, uint32_t id)
{
    return &r->dict.streams[id];
}

size_t run_reader_repetition_count(const struct run_reader *r)
{
    return r->repetition_count;
}

const struct run_repetition *run_reader_repetition(const struct run_reader *r, size_t i)
{
    return &r->repetitions[i];
}

int run_reader_next(struct run_reader *r, const struct run_chunk **c, struct err *e)
{
    if (r->next == r->chunk_count)
        return 0;
    size_t m = r->chunks[r->next];
    int bad = load_results(r, m, e);
    if (bad)
        return bad;
    const struct member_extent *x = &container_member(r->container, m)->extent;
    if (r->chunk.count != x->count || r->chunk.repetition != x->first) {
        err_set(e, EBADMSG, "holds other results than the index says");
        return container_blame(r->container, m, e);
    }
    r->next++;
    *c = &r->chunk;
    return 1;
}

int run_reader_next_exchanges(struct run_reader *r, const struct run_exchanges **c, struct err *e)
{
    if (r->next_exchange == r->exchange_chunk_count)
        return 0;
    size_t m = r->exchange_chunks[r->next_exchange];
    int bad = load_exchanges(r, m, e);
    if (bad)
        return bad;
    const struct member_extent *x = &container_member(r->container, m)->extent;
    if (r->exchanges.count != x->count || r->exchanges.repetition != x->first) {
        err_set(e, EBADMSG, "holds other exchanges than the index says");
        return container_blame(r->container, m, e);
    }
    r->next_exchange++;
    *c = &r->exchanges;
    return 1;
}

int run_reader_rewind(struct run_reader *r, struct err *e)
{
    (void)e;
    r->next = r->next_exchange = 0;
    return 0;
}

int run_reader_seek(struct run_reader *r, uint32_t repetition, struct err *e)
{
    (void)e;
    for (r->next = 0; r->next < r->chunk_count; r->next++)
        if (container_member(r->container, r->chunks[r->next])->extent.first == repetition)
            break;
    for (r->next_exchange = 0; r->next_exchange < r->exchange_chunk_count; r->next_exchange++)
        if (container_member(r->container, r->exchange_chunks[r->next_exchange])->extent.first == repetition)
            break;
    return 0;
}

int run_reader_verify(struct run_reader *r, struct err *e)
{
    const uint8_t *body;
    const struct run_chunk *c = NULL;
    const struct run_exchanges *x = NULL;
    int bad = container_finished(r->container) ? container_verify_end(r->container, e) : 0;
    for (size_t m = 0; !bad && m < container_count(r->container); m++)
        bad = container_read(r->container, m, &r->buf, &body, e);
    r->next = r->next_exchange = 0;
    if (!bad)
        while ((bad = run_reader_next(r, &c, e)) == 1)
            continue;
    if (!bad)
        while ((bad = run_reader_next_exchanges(r, &x, e)) == 1)
            continue;
    r->next = r->next_exchange = 0;
    return bad;
}
