/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What chunks of conversations and of their events consist of.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/chunk.h"
#include "formats/chunk_arrays.h"

/* ---- events ---- */

static const struct column_spec net_columns[] = {
        {"conversation", 4, COLUMN_VALUE, false},
        {"side", 1, COLUMN_VALUE, false},
        {"kind", 1, COLUMN_VALUE, false},
        {"flags", 2, COLUMN_VALUE, false},
        {"t_ns", 8, COLUMN_DELTA, true},
        {"bytes", 8, COLUMN_VALUE, false},
        {"watermark", 8, COLUMN_VALUE, false},
        {"think_ns", 8, COLUMN_VALUE, false},
};
const struct chunk_spec chunk_spec_net = {"first", net_columns, COUNT(net_columns)};

void chunk_net_arrays(const struct net_chunk *c, void *arrays[COLUMNS_MAX])
{
    void *list[] = {
            c->conversation, c->side, c->kind, c->flags, c->t_ns, c->bytes, c->watermark, c->think_ns};
    memcpy(arrays, list, sizeof list);
}

int chunk_net_alloc(struct net_chunk *c, uint32_t count, struct err *e)
{
    const struct array a[] = {ARRAY(c->t_ns), ARRAY(c->bytes), ARRAY(c->watermark), ARRAY(c->think_ns),
            ARRAY(c->conversation), ARRAY(c->flags), ARRAY(c->side), ARRAY(c->kind)};
    *c = (struct net_chunk){0};
    return arrays_alloc(a, COUNT(a), count, e);
}

void chunk_net_release(struct net_chunk *c)
{
    void *list[COLUMNS_MAX];
    chunk_net_arrays(c, list);
    for (size_t i = 0; i < COUNT(net_columns); i++)
        free(list[i]);
    *c = (struct net_chunk){0};
}

int chunk_net_room(struct net_chunk *c, uint32_t *cap, uint32_t count, struct err *e)
{
    if (count <= *cap)
        return 0;
    chunk_net_release(c);
    *cap = 0;
    uint32_t room = arrays_room_for(count);
    int r = chunk_net_alloc(c, room, e);
    if (!r)
        *cap = room;
    return r;
}

/* ---- conversations ---- */

static const struct column_spec conversation_columns[] = {
        {"stream", 4, COLUMN_VALUE, false},
        {"client", 4, COLUMN_VALUE, false},
        {"server", 4, COLUMN_VALUE, false},
        {"client_port", 2, COLUMN_VALUE, false},
        {"server_port", 2, COLUMN_VALUE, false},
        {"protocol", 1, COLUMN_VALUE, false},
        {"marks", 1, COLUMN_VALUE, false},
};
const struct chunk_spec chunk_spec_conversation = {
        "first", conversation_columns, COUNT(conversation_columns)};

void chunk_conversation_arrays(const struct conversation_chunk *c, void *arrays[COLUMNS_MAX])
{
    void *list[] = {c->stream, c->client, c->server, c->client_port, c->server_port, c->protocol, c->marks};
    memcpy(arrays, list, sizeof list);
}

int chunk_conversation_alloc(struct conversation_chunk *c, uint32_t count, struct err *e)
{
    const struct array a[] = {ARRAY(c->stream), ARRAY(c->client), ARRAY(c->server), ARRAY(c->client_port),
            ARRAY(c->server_port), ARRAY(c->protocol), ARRAY(c->marks)};
    *c = (struct conversation_chunk){0};
    return arrays_alloc(a, COUNT(a), count, e);
}

void chunk_conversation_release(struct conversation_chunk *c)
{
    void *list[COLUMNS_MAX];
    chunk_conversation_arrays(c, list);
    for (size_t i = 0; i < COUNT(conversation_columns); i++)
        free(list[i]);
    *c = (struct conversation_chunk){0};
}

int chunk_conversation_room(struct conversation_chunk *c, uint32_t *cap, uint32_t count, struct err *e)
{
    if (count <= *cap)
        return 0;
    chunk_conversation_release(c);
    *cap = 0;
    uint32_t room = arrays_room_for(count);
    int r = chunk_conversation_alloc(c, room, e);
    if (!r)
        *cap = room;
    return r;
}

void chunk_conversation_set(struct conversation_chunk *c, uint32_t i, const struct net_conversation *v)
{
    c->stream[i] = v->stream;
    c->client[i] = v->client;
    c->server[i] = v->server;
    c->client_port[i] = v->client_port;
    c->server_port[i] = v->server_port;
    c->protocol[i] = v->protocol;
    c->marks[i] = v->marks;
}

struct net_conversation chunk_conversation_get(const struct conversation_chunk *c, uint32_t i)
{
    return (struct net_conversation){c->stream[i], c->client[i], c->server[i], c->client_port[i],
            c->server_port[i], c->protocol[i], c->marks[i]};
}
