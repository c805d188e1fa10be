/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/chunk.h"
#include "formats/container.h"
#include "formats/container_end.h"
#include "formats/describe.h"
#include "formats/dict.h"
#include "formats/run.h"

/* Of zstd. A replay at full speed writes millions of results a second; see tests/bench/bench_tape.c. */
#define LEVEL 1

struct run_writer {
    pthread_mutex_t lock; /* of all */
    struct container_writer *container;
    struct chunk_encoder *encoder;
    size_t stream_count;
    unsigned chunk_count, exchange_chunks, repetition_count;
    uint64_t results, exchanges;
};

static int write_streams(struct run_writer *w, const struct tape_stream *streams, size_t count, struct err *e)
{
    CLEANUP(dict_pending_release) struct dict_pending pending = {0};
    CLEANUP(bytes_release) struct bytes body = {0};
    unsigned members = 0;
    int r = 0;
    for (size_t i = 0; !r && i < count; i++) {
        r = dict_add_stream(&pending, &streams[i], e);
        if (r < 0 || (i + 1 < count && !dict_is_large(&pending)))
            continue;
        char name[ARCHIVE_NAME_BYTES];
        snprintf(name, sizeof name, "dict/%06u.msgpack", members++);
        body.len = 0;
        r = dict_pack(&pending, NULL, &body, e);
        if (!r)
            r = container_add(w->container, name, &body, NULL, e);
    }
    w->stream_count = count;
    return r;
}

static int begin(struct run_writer *w, const struct run_info *info, const struct tape_stream *streams,
        size_t count, struct err *e)
{
    CLEANUP(bytes_release) struct bytes body = {0};
    if (count > TAPE_STREAMS_MAX)
        return err_set(e, E2BIG, "more than %d streams", TAPE_STREAMS_MAX);
    int r = describe_pack_run(info, &body, e);
    if (!r)
        r = container_add(w->container, CONTAINER_FIRST, &body, NULL, e);
    return r < 0 ? r : write_streams(w, streams, count, e);
}

int run_writer_open(struct run_writer **out, const char *path, const struct run_info *info,
        const struct tape_stream *streams, size_t stream_count, struct err *e)
{
    struct run_writer *w = calloc(1, sizeof *w);
    int r = w ? chunk_encoder_open(&w->encoder, LEVEL, e) : err_sys(e, ENOMEM, "cannot create '%s'", path);
    if (w)
        pthread_mutex_init(&w->lock, NULL);
    if (!r)
        r = container_create(&w->container, path, e);
    if (!r)
        r = begin(w, info, streams, stream_count, e);
    if (r < 0) {
        run_writer_close(w, true);
        return r;
    }
    *out = w;
    return 0;
}

void run_writer_close(struct run_writer *w, bool discard)
{
    if (!w)
        return;
    container_writer_close(w->container, discard);
    chunk_encoder_close(w->encoder);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static int check_results(const struct run_writer *w, const struct run_chunk *c, struct err *e)
{
    uint32_t stream = 0;
    unsigned op = 0;
    if (!c->count || c->count > RUN_CHUNK_RECORDS || !c->repetition)
        return err_set(e, EINVAL, "a chunk of %u results of repetition %u", c->count, c->repetition);
    for (uint32_t i = 0; i < c->count; i++) {
        stream = c->stream[i] > stream ? c->stream[i] : stream;
        op = c->op[i] > op ? c->op[i] : op;
    }
    if (stream >= w->stream_count || op >= BLOCK_OPS)
        return err_set(e, EINVAL, "a result is of an unknown stream or operation");
    return 0;
}

static int add_results(struct run_writer *w, const struct run_chunk *c, struct err *e)
{
    const struct bytes *body;
    void *arrays[COLUMNS_MAX];
    char name[ARCHIVE_NAME_BYTES];
    int r = check_results(w, c, e);
    if (r < 0)
        return r;
    chunk_result_arrays(c, arrays);
    r = chunk_encode(w->encoder, &chunk_spec_result, arrays, c->repetition, c->count, &body, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "result/%08u.msgpack.zst", w->chunk_count++);
    struct member_extent extent = {c->repetition, c->count, c->issued_ns[0], c->issued_ns[c->count - 1]};
    r = container_add(w->container, name, body, &extent, e);
    if (!r)
        w->results += c->count;
    return r;
}

int run_writer_add(struct run_writer *w, const struct run_chunk *c, struct err *e)
{
    pthread_mutex_lock(&w->lock);
    int r = add_results(w, c, e);
    pthread_mutex_unlock(&w->lock);
    return r;
}

static int add_exchanges(struct run_writer *w, const struct run_exchanges *c, struct err *e)
{
    const struct bytes *body;
    void *arrays[COLUMNS_MAX];
    char name[ARCHIVE_NAME_BYTES];
    if (!c->count || c->count > RUN_CHUNK_RECORDS || !c->repetition)
        return err_set(e, EINVAL, "a chunk of %u exchanges of repetition %u", c->count, c->repetition);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->kind[i] >= RUN_EXCHANGE_KINDS)
            return err_set(e, EINVAL, "an exchange of unknown kind");
    chunk_exchange_arrays(c, arrays);
    int r = chunk_encode(w->encoder, &chunk_spec_exchange, arrays, c->repetition, c->count, &body, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "exchange/%08u.msgpack.zst", w->exchange_chunks++);
    struct member_extent extent = {c->repetition, c->count, c->issued_ns[0], c->issued_ns[c->count - 1]};
    r = container_add(w->container, name, body, &extent, e);
    if (!r)
        w->exchanges += c->count;
    return r;
}

int run_writer_add_exchanges(struct run_writer *w, const struct run_exchanges *c, struct err *e)
{
    pthread_mutex_lock(&w->lock);
    int r = add_exchanges(w, c, e);
    pthread_mutex_unlock(&w->lock);
    return r;
}

int run_writer_repetition(struct run_writer *w, const struct run_repetition *rep, struct err *e)
{
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {
#define FIELD(field) {#field, offsetof(struct run_repetition, field)},
            RUN_REPETITION_FIELDS(FIELD)
#undef FIELD
    };
    CLEANUP(bytes_release) struct bytes body = {0};
    struct packer p = {.out = &body};
    char name[ARCHIVE_NAME_BYTES];
    size_t n = sizeof fields / sizeof *fields;
    pack_map(&p, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        memcpy(&v, (const char *)rep + fields[i].offset, sizeof v);
        pack_str(&p, fields[i].name);
        pack_uint(&p, v);
    }
    pack_seal(&p);
    int r = packer_end(&p, e);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "repetition/%06u.msgpack", w->repetition_count++);
    return container_add(w->container, name, &body, NULL, e);
}

int run_writer_finish(struct run_writer *w, const char *ended, struct err *e)
{
    CLEANUP(bytes_release) struct bytes totals = {0};
    struct packer p = {.out = &totals};
    pack_map(&p, w->exchanges ? 4 : 3);
    pack_str(&p, "ended");
    pack_str(&p, ended);
    pack_str(&p, "results");
    pack_uint(&p, w->results);
    pack_str(&p, "repetitions");
    pack_uint(&p, w->repetition_count);
    if (w->exchanges) {
        pack_str(&p, "exchanges");
        pack_uint(&p, w->exchanges);
    }
    int r = packer_end(&p, e);
    return r < 0 ? r : container_finish(w->container, &totals, e);
}
