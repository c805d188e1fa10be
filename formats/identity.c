/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/identity.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/digest.h"

static uint8_t *put16(uint8_t *p, uint16_t v)
{
    v = htole16(v);
    return memcpy(p, &v, sizeof v), p + sizeof v;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    return memcpy(p, &v, sizeof v), p + sizeof v;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    return memcpy(p, &v, sizeof v), p + sizeof v;
}

void identity_add_latency(struct tape_identity *id, uint64_t ordinal, uint64_t latency_ns, uint16_t error)
{
    uint8_t packed[8 + 8 + 2], *p = packed;
    p = put64(p, ordinal);
    p = put64(p, latency_ns);
    p = put16(p, error);
    digest128_add(id->timed, packed, (size_t)(p - packed));
}

void identity_add(struct tape_identity *id, uint64_t ordinal, const struct block_record *r)
{
    uint8_t packed[8 + 8 + 4 + 1 + 2 + 8 + 8], *p = packed;
    p = put64(p, ordinal);
    p = put64(p, r->t_ns);
    p = put32(p, r->stream);
    *p++ = r->op;
    p = put16(p, r->flags);
    p = put64(p, r->offset_bytes);
    p = put64(p, r->len_bytes);
    digest128_add(id->work, packed, (size_t)(p - packed));
    if (r->latency_ns != TAPE_UNKNOWN)
        identity_add_latency(id, ordinal, r->latency_ns, r->error);
}

void identity_add_conversation(struct tape_identity *id, uint64_t number, const struct net_conversation *c)
{
    uint8_t packed[8 + 3 * 4 + 2 * 2 + 2], *p = packed;
    p = put64(p, number);
    p = put32(p, c->stream);
    p = put32(p, c->client);
    p = put32(p, c->server);
    p = put16(p, c->client_port);
    p = put16(p, c->server_port);
    *p++ = c->protocol;
    *p++ = c->marks;
    digest128_add(id->work, packed, (size_t)(p - packed));
}

void identity_add_event(struct tape_identity *id, uint64_t number, const struct net_event *ev)
{
    uint8_t packed[2 * 8 + 4 + 2 + 2 + 3 * 8], *p = packed;
    p = put64(p, number);
    p = put64(p, ev->t_ns);
    p = put32(p, ev->conversation);
    *p++ = ev->side;
    *p++ = ev->kind;
    p = put16(p, ev->flags);
    p = put64(p, ev->bytes);
    p = put64(p, ev->watermark);
    p = put64(p, ev->think_ns);
    digest128_add(id->work, packed, (size_t)(p - packed));
}

const char *tape_identity_name(const struct tape_identity *id, char buf[TAPE_IDENTITY_TEXT_BYTES])
{
    snprintf(buf, TAPE_IDENTITY_TEXT_BYTES, "%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "%016" PRIx64,
            id->work[1], id->work[0], id->timed[1], id->timed[0]);
    return buf;
}

bool tape_identity_equal(const struct tape_identity *a, const struct tape_identity *b)
{
    return memcmp(a->work, b->work, sizeof a->work) == 0 && memcmp(a->timed, b->timed, sizeof a->timed) == 0;
}
