/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the kinds of chunks with block I/O consist of. Order matters only within this file: a `lag` column
 * follows the one that it refers to, and `stream` and `len` stand first for an `end` column.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/chunk.h"
#include "formats/chunk_arrays.h"
#include "formats/run.h"

/* ---- block records ---- */

static const struct column_spec block_columns[] = {
        {"stream", 4, COLUMN_VALUE, false},
        {"len_bytes", 8, COLUMN_VALUE, false},
        {"op", 1, COLUMN_VALUE, false},
        {"flags", 2, COLUMN_VALUE, false},
        {"issuer", 4, COLUMN_VALUE, false},
        {"error", 2, COLUMN_VALUE, false},
        {"t_ns", 8, COLUMN_DELTA, true},
        {"offset_bytes", 8, COLUMN_END, false},
        {"latency_ns", 8, COLUMN_VALUE, false},
};
const struct chunk_spec chunk_spec_block = {"first", block_columns, COUNT(block_columns)};

void chunk_block_arrays(const struct block_chunk *c, void *arrays[COLUMNS_MAX])
{
    void *list[] = {c->stream, c->len_bytes, c->op, c->flags, c->issuer, c->error, c->t_ns, c->offset_bytes,
            c->latency_ns};
    memcpy(arrays, list, sizeof list);
}

int chunk_block_alloc(struct block_chunk *c, uint32_t count, struct err *e)
{
    const struct array a[] = {ARRAY(c->t_ns), ARRAY(c->offset_bytes), ARRAY(c->len_bytes),
            ARRAY(c->latency_ns), ARRAY(c->stream), ARRAY(c->issuer), ARRAY(c->flags), ARRAY(c->error),
            ARRAY(c->op)};
    *c = (struct block_chunk){0};
    return arrays_alloc(a, COUNT(a), count, e);
}

void chunk_block_release(struct block_chunk *c)
{
    void *list[COLUMNS_MAX];
    chunk_block_arrays(c, list);
    for (size_t i = 0; i < COUNT(block_columns); i++)
        free(list[i]);
    *c = (struct block_chunk){0};
}

int chunk_block_room(struct block_chunk *c, uint32_t *cap, uint32_t count, struct err *e)
{
    if (count <= *cap)
        return 0;
    chunk_block_release(c);
    *cap = 0;
    uint32_t room = arrays_room_for(count);
    int r = chunk_block_alloc(c, room, e);
    if (!r)
        *cap = room;
    return r;
}

/* ---- late completions ---- */

static const struct column_spec late_columns[] = {
        {"stream", 4, COLUMN_VALUE, false},
        {"error", 2, COLUMN_VALUE, false},
        {"record", 8, COLUMN_DELTA, true},
        {"t_ns", 8, COLUMN_DELTA, true},
        {"latency_ns", 8, COLUMN_VALUE, false},
};
const struct chunk_spec chunk_spec_late = {"first", late_columns, COUNT(late_columns)};

void chunk_late_arrays(const struct late_chunk *c, void *arrays[COLUMNS_MAX])
{
    void *list[] = {c->stream, c->error, c->record, c->t_ns, c->latency_ns};
    memcpy(arrays, list, sizeof list);
}

int chunk_late_alloc(struct late_chunk *c, uint32_t count, struct err *e)
{
    const struct array a[] = {
            ARRAY(c->record), ARRAY(c->t_ns), ARRAY(c->latency_ns), ARRAY(c->stream), ARRAY(c->error)};
    *c = (struct late_chunk){0};
    return arrays_alloc(a, COUNT(a), count, e);
}

void chunk_late_release(struct late_chunk *c)
{
    void *list[COLUMNS_MAX];
    chunk_late_arrays(c, list);
    for (size_t i = 0; i < COUNT(late_columns); i++)
        free(list[i]);
    *c = (struct late_chunk){0};
}

int chunk_late_room(struct late_chunk *c, uint32_t *cap, uint32_t count, struct err *e)
{
    if (count <= *cap)
        return 0;
    chunk_late_release(c);
    *cap = 0;
    uint32_t room = arrays_room_for(count);
    int r = chunk_late_alloc(c, room, e);
    if (!r)
        *cap = room;
    return r;
}

/* ---- results of a replay ---- */

static const struct column_spec result_columns[] = {
        {"stream", 4, COLUMN_VALUE, false},
        {"len_bytes", 8, COLUMN_VALUE, false},
        {"op", 1, COLUMN_VALUE, false},
        {"error", 2, COLUMN_VALUE, false},
        {"record", 8, COLUMN_DELTA, false},
        {"offset_bytes", 8, COLUMN_END, false},
        {"issued_ns", 8, COLUMN_DELTA, false},
        {"scheduled_ns", 8, COLUMN_LAG, false},
        {"latency_ns", 8, COLUMN_VALUE, false},
};
const struct chunk_spec chunk_spec_result = {"repetition", result_columns, COUNT(result_columns)};

void chunk_result_arrays(const struct run_chunk *c, void *arrays[COLUMNS_MAX])
{
    void *list[] = {c->stream, c->len_bytes, c->op, c->error, c->record, c->offset_bytes, c->issued_ns,
            c->scheduled_ns, c->latency_ns};
    memcpy(arrays, list, sizeof list);
}

int chunk_result_alloc(struct run_chunk *c, uint32_t count, struct err *e)
{
    const struct array a[] = {ARRAY(c->record), ARRAY(c->offset_bytes), ARRAY(c->len_bytes),
            ARRAY(c->scheduled_ns), ARRAY(c->issued_ns), ARRAY(c->latency_ns), ARRAY(c->stream),
            ARRAY(c->error), ARRAY(c->op)};
    *c = (struct run_chunk){0};
    return arrays_alloc(a, COUNT(a), count, e);
}

void chunk_result_release(struct run_chunk *c)
{
    void *list[COLUMNS_MAX];
    chunk_result_arrays(c, list);
    for (size_t i = 0; i < COUNT(result_columns); i++)
        free(list[i]);
    *c = (struct run_chunk){0};
}

int chunk_result_room(struct run_chunk *c, uint32_t *cap, uint32_t count, struct err *e)
{
    if (count <= *cap)
        return 0;
    chunk_result_release(c);
    *cap = 0;
    uint32_t room = arrays_room_for(count);
    int r = chunk_result_alloc(c, room, e);
    if (!r)
        *cap = room;
    return r;
}

/* ---- exchanges of a replay ---- */

static const struct column_spec exchange_columns[] = {
        {"conversation", 4, COLUMN_VALUE, false},
        {"kind", 1, COLUMN_VALUE, false},
        {"error", 2, COLUMN_VALUE, false},
        {"event", 8, COLUMN_DELTA, false},
        {"sent_bytes", 8, COLUMN_VALUE, false},
        {"received_bytes", 8, COLUMN_VALUE, false},
        {"issued_ns", 8, COLUMN_DELTA, false},
        {"scheduled_ns", 8, COLUMN_LAG, false},
        {"latency_ns", 8, COLUMN_VALUE, false},
};
const struct chunk_spec chunk_spec_exchange = {"repetition", exchange_columns, COUNT(exchange_columns)};

void chunk_exchange_arrays(const struct run_exchanges *c, void *arrays[COLUMNS_MAX])
{
    void *list[] = {c->conversation, c->kind, c->error, c->event, c->sent_bytes, c->received_bytes,
            c->issued_ns, c->scheduled_ns, c->latency_ns};
    memcpy(arrays, list, sizeof list);
}

int chunk_exchange_alloc(struct run_exchanges *c, uint32_t count, struct err *e)
{
    const struct array a[] = {ARRAY(c->event), ARRAY(c->scheduled_ns), ARRAY(c->issued_ns),
            ARRAY(c->latency_ns), ARRAY(c->sent_bytes), ARRAY(c->received_bytes), ARRAY(c->conversation),
            ARRAY(c->error), ARRAY(c->kind)};
    *c = (struct run_exchanges){0};
    return arrays_alloc(a, COUNT(a), count, e);
}

void chunk_exchange_release(struct run_exchanges *c)
{
    void *list[COLUMNS_MAX];
    chunk_exchange_arrays(c, list);
    for (size_t i = 0; i < COUNT(exchange_columns); i++)
        free(list[i]);
    *c = (struct run_exchanges){0};
}

int chunk_exchange_room(struct run_exchanges *c, uint32_t *cap, uint32_t count, struct err *e)
{
    if (count <= *cap)
        return 0;
    chunk_exchange_release(c);
    *cap = 0;
    uint32_t room = arrays_room_for(count);
    int r = chunk_exchange_alloc(c, room, e);
    if (!r)
        *cap = room;
    return r;
}
