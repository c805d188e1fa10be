/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Members that hold records: a zstd frame of a msgpack map {KEY: number, "count": records, "columns": {...}}.
 * KEY is "first" (number of the first record) for block records and late completions, "repetition" for
 * results; of conversations and events of sockets it is "first" too.
 */
#ifndef IOTAPE_CHUNK_H
#define IOTAPE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/bytes.h"
#include "formats/columns.h"
#include "formats/net.h"

/* Above what any chunk of COLUMNS_COUNT_MAX records needs uncompressed. */
#define CHUNK_CONTENT_MAX (6 << 20)

/* A kind of chunk. */
struct chunk_spec {
    const char *key;
    const struct column_spec *columns;
    size_t column_count;
};

extern const struct chunk_spec chunk_spec_block;  /* arrays as chunk_block_arrays gives them */
extern const struct chunk_spec chunk_spec_late;   /* struct late_chunk */
extern const struct chunk_spec chunk_spec_result; /* struct run_chunk */
extern const struct chunk_spec chunk_spec_net;    /* struct net_chunk, without its conversations */
extern const struct chunk_spec chunk_spec_conversation;
extern const struct chunk_spec chunk_spec_exchange; /* struct run_exchanges */

/* Completions that came long after their arrival was written: element i completes record `record[i]`, all of
 * them in the one chunk that begins with record `first`. */
struct late_chunk {
    uint64_t first;
    uint32_t count;
    uint64_t *record, *t_ns, *latency_ns; /* t_ns: arrival of the record */
    uint32_t *stream;
    uint16_t *error;
};

struct run_chunk;
struct run_exchanges;

/* Conversations `first` and following. */
struct conversation_chunk {
    uint32_t first, count;
    uint32_t *stream, *client, *server;
    uint16_t *client_port, *server_port;
    uint8_t *protocol, *marks;
};
void chunk_conversation_set(struct conversation_chunk *c, uint32_t i, const struct net_conversation *v);
struct net_conversation chunk_conversation_get(const struct conversation_chunk *c, uint32_t i);

/* Arrays for `count` records, to be freed by the matching release, which also takes what is zero. */
int chunk_block_alloc(struct block_chunk *c, uint32_t count, struct err *e);
void chunk_block_release(struct block_chunk *c);
int chunk_late_alloc(struct late_chunk *c, uint32_t count, struct err *e);
void chunk_late_release(struct late_chunk *c);
int chunk_result_alloc(struct run_chunk *c, uint32_t count, struct err *e);
void chunk_result_release(struct run_chunk *c);
int chunk_net_alloc(struct net_chunk *c, uint32_t count, struct err *e);
void chunk_net_release(struct net_chunk *c); /* leaves its conversations alone */
int chunk_conversation_alloc(struct conversation_chunk *c, uint32_t count, struct err *e);
void chunk_conversation_release(struct conversation_chunk *c);
int chunk_exchange_alloc(struct run_exchanges *c, uint32_t count, struct err *e);
void chunk_exchange_release(struct run_exchanges *c);

/* The same for arrays that have room for *cap records (0: none, and *c is zero) and shall have it for
 * `count`. What they held is lost. */
int chunk_block_room(struct block_chunk *c, uint32_t *cap, uint32_t count, struct err *e);
int chunk_late_room(struct late_chunk *c, uint32_t *cap, uint32_t count, struct err *e);
int chunk_result_room(struct run_chunk *c, uint32_t *cap, uint32_t count, struct err *e);
int chunk_net_room(struct net_chunk *c, uint32_t *cap, uint32_t count, struct err *e);
int chunk_conversation_room(struct conversation_chunk *c, uint32_t *cap, uint32_t count, struct err *e);
int chunk_exchange_room(struct run_exchanges *c, uint32_t *cap, uint32_t count, struct err *e);

/* The arrays in the order of the columns. */
void chunk_block_arrays(const struct block_chunk *c, void *arrays[COLUMNS_MAX]);
void chunk_late_arrays(const struct late_chunk *c, void *arrays[COLUMNS_MAX]);
void chunk_result_arrays(const struct run_chunk *c, void *arrays[COLUMNS_MAX]);
void chunk_net_arrays(const struct net_chunk *c, void *arrays[COLUMNS_MAX]);
void chunk_conversation_arrays(const struct conversation_chunk *c, void *arrays[COLUMNS_MAX]);
void chunk_exchange_arrays(const struct run_exchanges *c, void *arrays[COLUMNS_MAX]);

struct chunk_encoder;

/* `level`: of zstd. */
int chunk_encoder_open(struct chunk_encoder **c, int level, struct err *e);
void chunk_encoder_close(struct chunk_encoder *c);

/* *body is owned by the encoder until the next call. */
int chunk_encode(struct chunk_encoder *c, const struct chunk_spec *spec, void *const *arrays, uint64_t number,
        uint32_t count, const struct bytes **body, struct err *e);

struct chunk_decoder;

int chunk_decoder_open(struct chunk_decoder **c, struct err *e);
void chunk_decoder_close(struct chunk_decoder *c);

/* Decoding takes two steps, so that a caller makes room between them. First the number and the count, which
 * is 1 to COLUMNS_COUNT_MAX; then the columns, into arrays that have room. -EBADMSG for what is damaged or
 * malformed. */
int chunk_decode(struct chunk_decoder *c, const struct chunk_spec *spec, const uint8_t *body, size_t len,
        uint64_t *number, uint32_t *count, struct err *e);
int chunk_decode_columns(
        struct chunk_decoder *c, const struct chunk_spec *spec, void *const *arrays, struct err *e);

/* The first step for the content of the frame: what is left when zstd and digests are taken away (for
 * fuzzing). It must live until the second step. */
int chunk_decode_content(struct chunk_decoder *c, const struct chunk_spec *spec, const uint8_t *content,
        size_t len, uint64_t *number, uint32_t *count, struct err *e);

#endif
