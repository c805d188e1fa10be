/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_samples.h"

#include "formats/base/cleanup.h"

static void close_tape(struct tape_reader **r)
{
    tape_reader_close(*r);
}
static void close_run(struct run_reader **r)
{
    run_reader_close(*r);
}

static int each_of_tape(const char *path, void (*take)(void *context, const struct sample *sample),
        void *context, struct err *e)
{
    struct tape_reader *r CLEANUP(close_tape) = NULL;
    const struct block_chunk *c;
    int rc = tape_reader_open(&r, path, e);
    while (rc >= 0 && (rc = tape_reader_next(r, &c, e)) > 0)
        for (uint32_t i = 0; i < c->count; i++)
            if (c->latency_ns[i] != TAPE_UNKNOWN && !c->error[i] && c->op[i] < BLOCK_OPS)
                take(context, &(struct sample){c->t_ns[i], c->latency_ns[i], c->latency_ns[i],
                                      c->offset_bytes[i], c->len_bytes[i], c->stream[i], c->op[i]});
    return rc;
}

static int each_of_run(const char *path, uint32_t repetition, enum timing timing,
        void (*take)(void *context, const struct sample *sample), void *context, struct err *e)
{
    struct run_reader *r CLEANUP(close_run) = NULL;
    const struct run_chunk *c;
    int rc = run_reader_open(&r, path, e);
    if (rc == 0)
        rc = run_reader_seek(r, repetition, e);
    while (rc >= 0 && (rc = run_reader_next(r, &c, e)) > 0 && c->repetition == repetition)
        for (uint32_t i = 0; i < c->count; i++) {
            if (c->latency_ns[i] == TAPE_UNKNOWN || c->error[i] || c->op[i] >= BLOCK_OPS)
                continue;
            uint64_t late_ns = timing == TIMING_RECORDED ? c->issued_ns[i] - c->scheduled_ns[i] : 0;
            take(context, &(struct sample){c->issued_ns[i], c->latency_ns[i], c->latency_ns[i] + late_ns,
                                  c->offset_bytes[i], c->len_bytes[i], c->stream[i], c->op[i]});
        }
    return rc < 0 ? rc : 0;
}

static int each_exchange(const char *path, uint32_t repetition, enum timing timing,
        void (*take)(void *context, const struct sample *sample), void *context, struct err *e)
{
    struct run_reader *r CLEANUP(close_run) = NULL;
    const struct run_exchanges *c;
    int rc = run_reader_open(&r, path, e);
    if (rc == 0)
        rc = run_reader_seek(r, repetition, e);
    while (rc >= 0 && (rc = run_reader_next_exchanges(r, &c, e)) > 0 && c->repetition == repetition)
        for (uint32_t i = 0; i < c->count; i++) {
            if (c->latency_ns[i] == TAPE_UNKNOWN || c->error[i])
                continue;
            uint64_t late_ns = timing == TIMING_RECORDED ? c->issued_ns[i] - c->scheduled_ns[i] : 0;
            take(context, &(struct sample){.issued_ns = c->issued_ns[i],
                                  .latency_ns = c->latency_ns[i],
                                  .time_ns = c->latency_ns[i] + late_ns,
                                  .len_bytes = c->sent_bytes[i] + c->received_bytes[i],
                                  .op = c->kind[i] == RUN_CONNECT ? SAMPLE_CONNECT : SAMPLE_EXCHANGE});
        }
    return rc < 0 ? rc : 0;
}

int samples_each(const struct source *s, uint32_t repetition, enum timing timing, bool exchanges,
        void (*take)(void *context, const struct sample *sample), void *context, struct err *e)
{
    if (exchanges)
        return s->kind == TAPE_KIND_RUN ? each_exchange(s->path, repetition, timing, take, context, e) : 0;
    return s->kind == TAPE_KIND_RUN ? each_of_run(s->path, repetition, timing, take, context, e)
                                    : each_of_tape(s->path, take, context, e);
}
