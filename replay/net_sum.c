/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "formats/base/units.h"
#include "formats/chunk.h"
#include "replay/net_parts.h"
#include "replay/peer/results_wire.h"

_Static_assert(FLOW_RESULTS_MAX <= RUN_CHUNK_RECORDS, "results make one chunk");
_Static_assert((int)FLOW_CONNECT == (int)RUN_CONNECT && (int)FLOW_EXCHANGE == (int)RUN_EXCHANGE, "kinds");

int net_store(void *context, const struct flow_result *list, uint32_t count, struct err *e)
{
    struct net *n = context;
    struct run_exchanges *x = &n->exchanges;
    int r = chunk_exchange_room(x, &n->exchange_room, count, e);
    if (r < 0)
        return r;
    x->repetition = n->repetition;
    x->count = count;
    for (uint32_t i = 0; i < count; i++) {
        x->event[i] = list[i].event;
        x->scheduled_ns[i] = list[i].scheduled_ns;
        x->issued_ns[i] = list[i].issued_ns;
        x->latency_ns[i] = list[i].latency_ns;
        x->sent_bytes[i] = list[i].sent_bytes;
        x->received_bytes[i] = list[i].received_bytes;
        x->conversation[i] = list[i].conversation;
        x->error[i] = list[i].error;
        x->kind[i] = list[i].kind;
    }
    return run_writer_add_exchanges(n->run, x, e);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void net_sum_store(const struct net_sum *sum, struct run_repetition *r)
{
    const struct flow_counts *here = &sum->here;
    const uint64_t *there = sum->there;
    r->net_conversations = here->conversations;
    r->net_messages = here->messages + there[RESULTS_MESSAGES];
    r->net_there_bytes = there[RESULTS_RECEIVED_BYTES];
    r->net_here_bytes = here->received_bytes;
    r->net_elapsed_ns = larger(here->elapsed_ns, there[RESULTS_ELAPSED_NS]);
    r->net_errors = sum->errors;
    r->net_open_max = here->open_max;
    r->net_retransmits = here->retransmits + there[RESULTS_RETRANSMITS];
    r->net_datagrams_lost = less(here->datagrams_sent, there[RESULTS_DATAGRAMS_RECEIVED]) +
                            less(there[RESULTS_DATAGRAMS_SENT], here->datagrams_received);
    r->net_cpu_here_ns = less(sum->after.cpu_ns - sum->before.cpu_ns, here->spun_ns);
    r->net_cpu_there_ns = less(there[RESULTS_CPU_NS], there[RESULTS_SPUN_NS]);
    r->net_busy_there_ns = there[RESULTS_BUSY_NS];
    r->net_steal_there_ns = there[RESULTS_STEAL_NS];
    r->net_strangers = there[RESULTS_STRANGERS];
}

void net_sum_print(const char *name, const struct run_repetition *r, const struct net_sum *sum)
{
    char elapsed[UNITS_TEXT_BYTES], late[UNITS_TEXT_BYTES];
    double seconds = r->net_elapsed_ns ? (double)r->net_elapsed_ns / 1e9 : 1e-9;
    double bytes = (double)(r->net_there_bytes + r->net_here_bytes);
    fprintf(stderr, "%s: %s %llu%s: %s, %llu conversations, %.0f messages/s, %.1f MB/s, lateness p50 %s",
            name, r->warmup ? "warmup" : "repetition", (unsigned long long)r->repetition,
            sum->complete ? "" : " (cut short)", units_duration(r->net_elapsed_ns, elapsed),
            (unsigned long long)r->net_conversations, (double)r->net_messages / seconds,
            bytes / 1e6 / seconds, units_duration(lateness_percentile_ns(&sum->here.lateness, 0.5), late));
    if (r->net_errors)
        fprintf(stderr, ", %llu failed", (unsigned long long)r->net_errors);
    if (r->net_retransmits)
        fprintf(stderr, ", %llu segments sent again", (unsigned long long)r->net_retransmits);
    if (r->net_datagrams_lost)
        fprintf(stderr, ", %llu datagrams lost", (unsigned long long)r->net_datagrams_lost);
    if (r->net_strangers)
        fprintf(stderr, ", %llu strangers turned away", (unsigned long long)r->net_strangers);
    fputc('\n', stderr);
}
