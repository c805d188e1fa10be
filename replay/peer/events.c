/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/events.h"

#include <errno.h>
#include <string.h>

#include "replay/peer/le64.h"

int events_pack(const struct peer_event *pe, struct bytes *records, struct bytes *tokens, struct err *e)
{
    const struct net_event *ev = &pe->ev;
    int r = bytes_reserve(records, EVENTS_RECORD_BYTES, e);
    if (r == 0 && ev->kind == NET_CONNECT)
        r = bytes_append(tokens, pe->token, sizeof pe->token, e);
    if (r < 0)
        return r;
    uint8_t *p = records->data + records->len;
    *p++ = ev->kind;
    *p++ = ev->side;
    *p++ = pe->protocol;
    *p++ = pe->marks;
    for (int i = 0; i < 4; i++)
        *p++ = (uint8_t)(ev->conversation >> (8 * i));
    p = le64_put(p, ev->t_ns);
    p = le64_put(p, ev->bytes);
    p = le64_put(p, ev->watermark);
    le64_put(p, ev->think_ns);
    records->len += EVENTS_RECORD_BYTES;
    return 0;
}

static void unpack_one(struct peer_event *pe, const uint8_t *p)
{
    *pe = (struct peer_event){.protocol = p[2], .marks = p[3]};
    pe->ev = (struct net_event){.kind = p[0],
            .side = p[1],
            .conversation =
                    (uint32_t)p[4] | (uint32_t)p[5] << 8 | (uint32_t)p[6] << 16 | (uint32_t)p[7] << 24,
            .t_ns = le64_get(p + 8),
            .bytes = le64_get(p + 16),
            .watermark = le64_get(p + 24),
            .think_ns = le64_get(p + 32)};
}

int events_unpack(struct peer_event *list, uint64_t first, uint32_t count, const uint8_t *records,
        size_t records_len, const uint8_t *tokens, size_t tokens_len, struct err *e)
{
    size_t connects = 0;
    if (!count || count > EVENTS_BATCH_MAX || records_len != (size_t)count * EVENTS_RECORD_BYTES)
        return err_set(e, EPROTO, "%u events in %zu bytes", count, records_len);
    for (uint32_t i = 0; i < count; i++) {
        unpack_one(&list[i], records + (size_t)i * EVENTS_RECORD_BYTES);
        list[i].number = list[i].source_event = first + i;
        list[i].source_conversation = list[i].ev.conversation;
        if (list[i].ev.kind != NET_CONNECT)
            continue;
        if ((connects + 1) * EVENTS_TOKEN_BYTES > tokens_len)
            return err_set(e, EPROTO, "a connect without a token");
        memcpy(list[i].token, tokens + connects * EVENTS_TOKEN_BYTES, EVENTS_TOKEN_BYTES);
        connects++;
    }
    if (connects * EVENTS_TOKEN_BYTES != tokens_len)
        return err_set(e, EPROTO, "%zu bytes of tokens for %zu connects", tokens_len, connects);
    return 0;
}
