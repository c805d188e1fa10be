/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "replay/peer/flow_conv.h"

/* Sends that nobody answers are forgotten, the oldest first. */
#define REQUESTS_MAX 4096

void exchange_flush(struct flow_thread *t)
{
    struct flow *f = t->flow;
    struct err e = {0};
    uint32_t count = t->results;
    t->results = 0;
    if (!count)
        return;
    pthread_mutex_lock(&f->lock);
    int r = f->o.results(f->o.context, t->result, count, &e);
    pthread_mutex_unlock(&f->lock);
    if (r < 0)
        flow_fail(f, &e);
}

static uint64_t since_start(const struct flow *f, uint64_t at_ns)
{
    uint64_t start_ns = atomic_load(&f->start_ns);
    return at_ns > start_ns ? at_ns - start_ns : 0;
}

static void emit(struct flow_thread *t, const struct flow_result *r)
{
    if (!t->result)
        return;
    t->result[t->results++] = *r;
    if (t->results == FLOW_RESULTS_MAX)
        exchange_flush(t);
}

void exchange_connected(struct flow_thread *t, struct conv *c, int code, uint64_t at_ns)
{
    struct flow_result r = {.event = c->connect_source,
            .conversation = c->source,
            .kind = FLOW_CONNECT,
            .error = (uint16_t)code,
            .scheduled_ns = since_start(t->flow, c->connect_scheduled_ns),
            .issued_ns = since_start(t->flow, c->connect_issued_ns),
            .latency_ns = at_ns > c->connect_issued_ns ? at_ns - c->connect_issued_ns : 0};
    emit(t, &r);
}

void exchange_request(struct flow_thread *t, struct conv *c, const struct step *s)
{
    if (!t->result)
        return;
    if (c->request_count == c->request_room) {
        uint32_t room = c->request_room ? c->request_room * 2 : 4;
        struct request *list = room <= REQUESTS_MAX ? malloc(room * sizeof *list) : NULL;
        if (!list && !c->request_room)
            return;
        for (uint32_t i = 0; list && i < c->request_count; i++)
            list[i] = c->request[(c->request_first + i) % c->request_room];
        if (list) {
            free(c->request);
            c->request = list;
            c->request_room = room;
            c->request_first = 0;
        } else { /* the oldest makes room */
            c->request_first = (c->request_first + 1) % c->request_room;
            c->request_count--;
        }
    }
    c->request[(c->request_first + c->request_count++) % c->request_room] =
            (struct request){s->source, s->end_units, c->scheduled_ns, c->issued_ns, s->bytes};
}

/* The send that holds the byte which the answer waited for; those before it are answered or never will be. */
static bool find_request(struct conv *c, uint64_t watermark, struct request *found)
{
    bool any = false;
    while (c->request_count) {
        *found = c->request[c->request_first];
        any = true;
        c->request_first = (c->request_first + 1) % c->request_room;
        c->request_count--;
        if (found->end_units >= watermark)
            break;
    }
    return any;
}

void exchange_over(struct flow_thread *t, struct conv *c)
{
    if (!c->answering)
        return;
    const struct request *q = &c->answered;
    struct flow_result r = {.event = q->source,
            .conversation = c->source,
            .kind = FLOW_EXCHANGE,
            .scheduled_ns = since_start(t->flow, q->scheduled_ns),
            .issued_ns = since_start(t->flow, q->issued_ns),
            .latency_ns = c->answer_ns > q->issued_ns ? c->answer_ns - q->issued_ns : 0,
            .sent_bytes = q->bytes,
            .received_bytes = c->answer_bytes};
    c->answering = false;
    emit(t, &r);
}

void exchange_answer(struct flow_thread *t, struct conv *c, const struct step *s, uint64_t at_ns)
{
    if (!t->result || s->kind != NET_DATA)
        return;
    if (s->watermark > c->answer_watermark) {
        exchange_over(t, c);
        c->answer_watermark = s->watermark;
        c->answering = find_request(c, s->watermark, &c->answered);
        c->answer_bytes = 0;
    }
    c->answer_ns = at_ns;
    c->answer_bytes += s->bytes;
}
