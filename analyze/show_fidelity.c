/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/show.h"

#include "analyze/fidelity.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add(struct show_fidelity *f, const struct run_repetition *s)
{
    f->lateness_p50_ns = larger(f->lateness_p50_ns, s->lateness_p50_ns);
    f->lateness_p99_ns = larger(f->lateness_p99_ns, s->lateness_p99_ns);
    f->lateness_max_ns = larger(f->lateness_max_ns, s->lateness_max_ns);
    f->behind += s->behind;
    f->depth_reached = f->repetitions && f->depth_reached < s->depth_max ? f->depth_reached : s->depth_max;
    f->depth_recorded = larger(f->depth_recorded, s->depth_recorded);
    f->depth_capped += s->depth_capped;
    f->starved += s->starved;
    f->steal_ns += s->steal_ns;
    f->pressure_cpu_us += s->pressure_cpu_us;
    f->pressure_io_us += s->pressure_io_us;
    f->pressure_memory_us += s->pressure_memory_us;
    f->repetitions++;
}

struct show_fidelity show_fidelity_of(const struct run_reader *r)
{
    struct show_fidelity f = {0};
    for (size_t i = 0; i < run_reader_repetition_count(r); i++) {
        struct result result = {.summary = *run_reader_repetition(r, i)};
        f.errors += result.summary.warmup ? 0 : result.summary.errors;
        if (!left_out(&result, TAPE_KIND_RUN))
            add(&f, &result.summary);
    }
    return f;
}

uint64_t show_run_records(const struct run_reader *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < run_reader_repetition_count(r); i++)
        sum += run_reader_repetition(r, i)->records;
    return sum;
}

uint64_t show_run_elapsed_ns(const struct run_reader *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < run_reader_repetition_count(r); i++)
        sum += run_reader_repetition(r, i)->elapsed_ns;
    return sum;
}
