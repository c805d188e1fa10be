/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/foreign.h"
#include "analyze/select.h"
#include "formats/base/cleanup.h"

static void close_tape(struct tape_reader **r)
{
    tape_reader_close(*r);
}
static void close_run(struct run_reader **r)
{
    run_reader_close(*r);
}
static void close_depend(struct depend **d)
{
    depend_close(*d);
}

/* ---- what a file says about itself ---- */

static int copy_text(char **to, const char *from, struct err *e)
{
    *to = strdup(from ? from : "");
    return *to ? 0 : err_sys(e, ENOMEM, "cannot hold a name");
}

static int open_tape(struct source *s, struct err *e)
{
    struct tape_reader *r CLEANUP(close_tape) = NULL;
    int rc = tape_reader_open(&r, s->path, e);
    if (rc < 0)
        return rc;
    const struct tape_info *info = tape_reader_info(r);
    const struct tape_totals *totals = tape_reader_totals(r);
    s->finished = totals->finished;
    s->identity = totals->identity;
    s->lost = totals->lost;
    rc = copy_text(&s->label, info->label, e);
    return rc < 0 ? rc : facts_merge(&s->host, &info->host, "", e);
}

static int open_run(struct source *s, struct err *e)
{
    struct run_reader *r CLEANUP(close_run) = NULL;
    int rc = run_reader_open(&r, s->path, e);
    if (rc < 0)
        return rc;
    const struct run_info *info = run_reader_info(r);
    s->finished = run_reader_finished(r);
    s->identity = info->identity;
    s->lost = info->tape_lost;
    s->working_set_bytes = info->working_set_bytes;
    if ((rc = copy_text(&s->label, info->tape.label, e)) < 0 ||
            (rc = copy_text(&s->target_name, info->target_name, e)) < 0 ||
            (rc = facts_merge(&s->host, &info->host, "", e)) < 0 ||
            (rc = facts_merge(&s->options, &info->options, "", e)) < 0)
        return rc;
    return facts_merge(&s->target, &info->target, "", e);
}

struct source *source_list_add(struct source_list *l, struct err *e)
{
    struct source *list = reallocarray(l->list, l->count + 1, sizeof *list);
    if (!list) {
        err_sys(e, ENOMEM, "cannot hold %zu files", l->count + 1);
        return NULL;
    }
    l->list = list;
    list[l->count] = (struct source){0};
    return &list[l->count++];
}

int source_open(struct source_list *l, const char *path, struct err *e)
{
    enum tape_kind kind;
    int rc = tape_file_kind(path, &kind, e);
    if (rc < 0)
        return rc;
    if (kind == TAPE_KIND_NONE)
        return foreign_open(l, path, e);
    struct source *s = source_list_add(l, e);
    if (!s)
        return -ENOMEM;
    s->kind = kind;
    rc = copy_text(&s->path, path, e);
    if (rc < 0)
        return rc;
    return kind == TAPE_KIND_RUN ? open_run(s, e) : open_tape(s, e);
}

static void source_release(struct source *s)
{
    free(s->path);
    free(s->label);
    free(s->target_name);
    facts_release(&s->host);
    facts_release(&s->options);
    facts_release(&s->target);
    free(s->results);
    foreign_release(s->foreign);
    free(s->stated);
}

void source_list_release(struct source_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        source_release(&l->list[i]);
    free(l->list);
    *l = (struct source_list){0};
}

const char *source_workload(const struct source *s, char buf[TAPE_IDENTITY_TEXT_BYTES])
{
    if (*s->label)
        return s->label;
    tape_identity_name(&s->identity, buf);
    buf[12] = 0;
    return buf;
}

/* ---- measuring ---- */

/* Operations that have percentiles. */
#define MEASURED_OPS (BLOCK_FLUSH + 1)

struct measure {
    struct select *select[MEASURED_OPS];
    bool first_pass;
    struct result *result;
};

int measure_open(struct measure **out, struct err *e)
{
    struct measure *m = calloc(1, sizeof *m);
    if (!m)
        return err_sys(e, ENOMEM, "cannot measure");
    for (int op = 0; op < MEASURED_OPS; op++) {
        int rc = select_open(&m->select[op], quantile_fractions, QUANTILES, e);
        if (rc < 0) {
            measure_close(m);
            return rc;
        }
    }
    *out = m;
    return 0;
}

void measure_close(struct measure *m)
{
    for (int op = 0; m && op < MEASURED_OPS; op++)
        select_close(m->select[op]);
    free(m);
}

static void measure_begin(struct measure *m, struct result *result)
{
    m->result = result;
    m->first_pass = true;
    for (int op = 0; op < MEASURED_OPS; op++)
        select_reset(m->select[op]);
}

/* An I/O that succeeded and took `time_ns`. */
static void measure_add(struct measure *m, unsigned op, uint64_t len_bytes, uint64_t time_ns)
{
    if (m->first_pass) {
        struct op_result *o = &m->result->ops[op];
        o->count++;
        o->bytes += len_bytes;
        o->sum_ns += (double)time_ns;
        if (time_ns > o->max_ns)
            o->max_ns = time_ns;
    }
    if (op < MEASURED_OPS)
        select_add(m->select[op], time_ns);
}

/* Ends a pass; true where all must be shown once more. */
static bool measure_next(struct measure *m)
{
    bool more = false;
    for (int op = 0; op < MEASURED_OPS; op++)
        more |= select_next(m->select[op]);
    m->first_pass = false;
    for (int op = 0; op < MEASURED_OPS && !more; op++)
        for (size_t q = 0; q < QUANTILES; q++)
            m->result->ops[op].quantile_ns[q] = select_value(m->select[op], q);
    return more;
}

static int tape_pass(struct tape_reader *r, struct measure *m, struct depend *d, struct err *e)
{
    struct run_repetition *sum = &m->result->summary;
    const struct block_chunk *c;
    int rc = tape_reader_seek(r, 0, e);
    while (rc >= 0 && (rc = tape_reader_next(r, &c, e)) > 0) {
        for (uint32_t i = 0; i < c->count; i++) {
            struct block_record b = block_chunk_get(c, i);
            bool known = b.latency_ns != TAPE_UNKNOWN;
            if (m->first_pass) {
                struct depend_wait wait;
                if ((rc = depend_next(d, &b, &wait, e)) < 0)
                    return rc;
                sum->records++;
                sum->errors += b.error != 0;
                uint64_t end_ns = b.t_ns + (known ? b.latency_ns : 0);
                if (end_ns > sum->elapsed_ns)
                    sum->elapsed_ns = end_ns;
            }
            if (known && !b.error && b.op < BLOCK_OPS)
                measure_add(m, b.op, b.len_bytes, b.latency_ns);
        }
    }
    return rc;
}

static int measure_tape(struct source *s, struct measure *m, enum depend_group group, struct err *e)
{
    struct tape_reader *r CLEANUP(close_tape) = NULL;
    struct depend *d CLEANUP(close_depend) = NULL;
    int rc = tape_reader_open(&r, s->path, e);
    if (rc == 0)
        rc = depend_open(&d, group, 0, e);
    if (rc < 0)
        return rc;
    s->results = calloc(1, sizeof *s->results);
    if (!s->results)
        return err_sys(e, ENOMEM, "cannot measure '%s'", s->path);
    s->result_count = 1;
    measure_begin(m, s->results);
    do
        if ((rc = tape_pass(r, m, d, e)) < 0)
            return rc;
    while (measure_next(m));
    struct run_repetition *sum = &s->results->summary;
    sum->repetition = sum->complete = 1;
    sum->zero_latency_ns = depend_zero_latency_ns(d);
    sum->depth_max = sum->depth_recorded = depend_depth_max(d);
    return 0;
}

static void run_chunk_add(struct measure *m, const struct run_chunk *c, enum timing timing)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->latency_ns[i] == TAPE_UNKNOWN || c->error[i] || c->op[i] >= BLOCK_OPS)
            continue;
        uint64_t ns = c->latency_ns[i];
        if (timing == TIMING_RECORDED)
            ns += c->issued_ns[i] - c->scheduled_ns[i];
        measure_add(m, c->op[i], c->len_bytes[i], ns);
    }
}

static int run_pass(struct run_reader *r, struct measure *m, enum timing timing, struct err *e)
{
    uint32_t repetition = (uint32_t)m->result->summary.repetition;
    const struct run_chunk *c;
    int rc = run_reader_seek(r, repetition, e);
    while (rc >= 0 && (rc = run_reader_next(r, &c, e)) > 0 && c->repetition == repetition)
        run_chunk_add(m, c, timing);
    return rc;
}

static int measure_run(struct source *s, struct measure *m, enum timing timing, struct err *e)
{
    struct run_reader *r CLEANUP(close_run) = NULL;
    int rc = run_reader_open(&r, s->path, e);
    if (rc < 0)
        return rc;
    size_t count = run_reader_repetition_count(r);
    s->results = calloc(count + 1, sizeof *s->results);
    if (!s->results)
        return err_sys(e, ENOMEM, "cannot measure '%s'", s->path);
    for (; s->result_count < count; s->result_count++) {
        struct result *result = &s->results[s->result_count];
        result->summary = *run_reader_repetition(r, s->result_count);
        if (result->summary.warmup)
            continue;
        measure_begin(m, result);
        do
            if ((rc = run_pass(r, m, timing, e)) < 0)
                return rc;
        while (measure_next(m));
    }
    return 0;
}

int source_measure(
        struct source *s, struct measure *m, enum timing timing, enum depend_group group, struct err *e)
{
    if (s->kind == TAPE_KIND_NONE)
        return 0;
    free(s->results);
    s->results = NULL;
    s->result_count = 0;
    return s->kind == TAPE_KIND_RUN ? measure_run(s, m, timing, e) : measure_tape(s, m, group, e);
}
