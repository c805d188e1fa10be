/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/results_wire.h"

#include <errno.h>

#include "replay/peer/le64.h"

#define PAIR_BYTES 16

void results_wire_counts(struct message *m, const struct flow_counts *c)
{
    m->n[RESULTS_CONVERSATIONS] = c->conversations;
    m->n[RESULTS_RECEIVED_BYTES] = c->received_bytes;
    m->n[RESULTS_SENT_BYTES] = c->sent_bytes;
    m->n[RESULTS_MESSAGES] = c->messages;
    m->n[RESULTS_DATAGRAMS_RECEIVED] = c->datagrams_received;
    m->n[RESULTS_DATAGRAMS_SENT] = c->datagrams_sent;
    m->n[RESULTS_RETRANSMITS] = c->retransmits;
    m->n[RESULTS_ELAPSED_NS] = c->elapsed_ns;
    m->n[RESULTS_SPUN_NS] = c->spun_ns;
    m->n[RESULTS_BEHIND] = c->behind;
    m->n[RESULTS_OPEN_MAX] = c->open_max;
    m->n[RESULTS_LATENESS_MAX_NS] = c->lateness.max_ns;
}

void results_wire_usage(
        struct message *m, const struct process_usage *before, const struct process_usage *after)
{
    m->n[RESULTS_CPU_NS] = after->cpu_ns - before->cpu_ns;
    m->n[RESULTS_BUSY_NS] = after->host.busy_ns - before->host.busy_ns;
    m->n[RESULTS_STEAL_NS] = after->host.steal_ns - before->host.steal_ns;
}

int results_wire_lateness(struct message *m, const struct lateness *l, struct bytes *room, struct err *e)
{
    for (uint64_t i = 0; i < LATENESS_BUCKETS; i++) {
        uint8_t pair[PAIR_BYTES];
        le64_put(pair, i);
        le64_put(pair + 8, l->bucket[i]);
        int r = l->bucket[i] ? bytes_append(room, pair, sizeof pair, e) : 0;
        if (r < 0)
            return r;
    }
    m->bin[0] = room->data;
    m->bin_len[0] = room->len;
    return 0;
}

int results_wire_add_lateness(const struct message *m, struct lateness *l, struct err *e)
{
    if (m->bin_len[0] % PAIR_BYTES)
        return err_set(e, EPROTO, "a malformed histogram");
    for (size_t i = 0; i < m->bin_len[0]; i += PAIR_BYTES) {
        uint64_t bucket = le64_get(m->bin[0] + i), count = le64_get(m->bin[0] + i + 8);
        if (bucket >= LATENESS_BUCKETS || count > INT64_MAX - l->count)
            return err_set(e, EPROTO, "a malformed histogram");
        l->bucket[bucket] += count;
        l->count += count;
    }
    if (m->n[RESULTS_LATENESS_MAX_NS] > l->max_ns)
        l->max_ns = m->n[RESULTS_LATENESS_MAX_NS];
    return 0;
}
