/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Control messages of a replay of conversations: frames one after the other, as a client or a server (by the
 * first byte) gets them. What is accepted must have been in turn, and events must add up.
 */
#include <stdint.h>
#include <stdlib.h>

#include "formats/pack.h"
#include "replay/peer/events.h"
#include "replay/peer/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take_events(struct ledger *l, const struct message *m, struct peer_event *list)
{
    uint32_t count = m->n[EVENTS_COUNT] <= EVENTS_BATCH_MAX ? (uint32_t)m->n[EVENTS_COUNT] : 0;
    int r = events_unpack(
            list, m->n[EVENTS_FIRST], count, m->bin[0], m->bin_len[0], m->bin[1], m->bin_len[1], NULL);
    for (uint32_t i = 0; r == 0 && i < count; i++)
        r = ledger_add(l, &list[i], NULL);
    if (ledger_bytes(l) > 1 << 20)
        abort(); /* beyond the limit */
    return r;
}

/* What one end says and the other end answers share the input: the type decides whose turn it would be. */
static enum message_end speaker(const struct message *m, enum message_end self)
{
    bool servers = m->type == MESSAGE_READY || m->type == MESSAGE_TAKEN || m->type == MESSAGE_RESULTS;
    return servers ? MESSAGE_SERVER : self;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct message m;
    struct ledger_limits limits = {100, 1 << 20};
    struct message_order order = {0};
    struct unpacked *u = NULL;
    struct ledger *l;
    struct peer_event *list = calloc(EVENTS_BATCH_MAX, sizeof *list);
    if (!list || ledger_open(&l, &limits, NULL) < 0)
        abort();
    enum message_end self = size && data[0] & 1 ? MESSAGE_SERVER : MESSAGE_CLIENT;
    for (size_t at = 1; at + 4 <= size;) {
        size_t len = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 |
                     data[at + 3];
        at += 4;
        if (len == 0 || len > size - at || message_unpack(&m, &u, data + at, len, NULL) < 0)
            break;
        at += len;
        if (message_in_order(&order, speaker(&m, self), m.type, NULL) < 0)
            break;
        if (m.type == MESSAGE_EVENTS && take_events(l, &m, list) < 0)
            break;
    }
    ledger_close(l);
    unpacked_release(&u);
    free(list);
    return 0;
}
