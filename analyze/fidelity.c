/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/fidelity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

#define BEHIND_SHARE 0.01
#define LATE_NS                                                                                              \
    (100 * NS_PER_US) /* p99 of lateness: above this, and above LATE_SHARE of the mean latency               \
                       */
#define LATE_SHARE            0.1
#define STEAL_SHARE           0.01 /* of all CPUs' time */
#define CPU_PRESSURE_SHARE    0.1
#define MEMORY_PRESSURE_SHARE 0.01
#define IO_PRESSURE_SHARE     0.25 /* waiting for the replay's own I/O counts, too */
#define DEPTH_SHARE           0.9

const char *left_out(const struct result *r, enum tape_kind kind)
{
    const struct run_repetition *s = &r->summary;
    if (kind == TAPE_KIND_RECORDING) /* errors of production are production's */
        return NULL;
    if (s->warmup)
        return "warmup";
    if (!s->complete)
        return "cut_short";
    if (s->errors || s->short_io || s->wrong_data)
        return "errors";
    return NULL;
}

bool fidelity_behind(const struct run_repetition *r)
{
    return (double)r->behind > BEHIND_SHARE * (double)(r->records + r->net_messages);
}

/* ---- sums and extremes over the counted repetitions of a side ---- */

/* Counts that are said by their own name wherever they are not 0. */
#define SAID_COUNTS(X)                                                                                       \
    X(starved)                                                                                               \
    X(depth_capped)                                                                                          \
    X(unsupported)                                                                                           \
    X(two_step)                                                                                              \
    X(fit_wrapped)                                                                                           \
    X(fit_skipped)                                                                                           \
    X(fit_widened)                                                                                           \
    X(readonly_skipped)                                                                                      \
    X(path_changes)                                                                                          \
    X(reissued)                                                                                              \
    X(serialised)

struct summary {
    uint64_t left_warmup, left_cut_short, left_errors, tape_errors;
    uint64_t records, behind, unfinished, small_set;
    bool throttled, is_behind, is_late, cpu_pressure, io_pressure, memory_pressure;
    double steal_worst;
    uint64_t depth_least, depth_recorded;
#define COUNT_FIELD(name) uint64_t name;
    SAID_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
};

static uint64_t number_fact(const struct facts *f, const char *key)
{
    uint64_t value;
    const char *text = facts_get(f, key);
    return text && units_parse_u64(text, &value, NULL) == 0 ? value : 0;
}

static double mean_ns(const struct result *r)
{
    double sum = 0, count = 0;
    for (int op = 0; op < BLOCK_OPS; op++) {
        sum += r->ops[op].sum_ns;
        count += (double)r->ops[op].count;
    }
    return count > 0 ? sum / count : 0;
}

static void add_disturbance(struct summary *s, const struct run_repetition *r, uint64_t cpus)
{
    double elapsed_ns = (double)r->elapsed_ns, elapsed_us = elapsed_ns / 1e3;
    double steal = elapsed_ns > 0 ? (double)r->steal_ns / (elapsed_ns * (double)(cpus ? cpus : 1)) : 0;
    if (steal > s->steal_worst)
        s->steal_worst = steal;
    s->cpu_pressure |= (double)r->pressure_cpu_us > CPU_PRESSURE_SHARE * elapsed_us;
    s->io_pressure |= (double)r->pressure_io_us > IO_PRESSURE_SHARE * elapsed_us;
    s->memory_pressure |= (double)r->pressure_memory_us > MEMORY_PRESSURE_SHARE * elapsed_us;
}

static void add_repetition(struct summary *s, const struct result *result, uint64_t cpus)
{
    const struct run_repetition *r = &result->summary;
    double late_ns = (double)r->lateness_p99_ns;
    s->records += r->records + r->net_messages;
    s->behind += r->behind;
    s->is_behind |= fidelity_behind(r);
    s->is_late |= late_ns > (double)LATE_NS && late_ns > LATE_SHARE * mean_ns(result);
    add_disturbance(s, r, cpus);
    if (!s->depth_recorded || r->depth_max < s->depth_least) {
        s->depth_least = r->depth_max;
        s->depth_recorded = r->depth_recorded;
    }
#define ADD_COUNT(name) s->name += r->name;
    SAID_COUNTS(ADD_COUNT)
#undef ADD_COUNT
}

/* What the target of a run may hold in memory. */
static uint64_t likely_cache(const struct source *source)
{
    static const char *const servers[] = {"nfs", "iscsi", "nbd"};
    uint64_t memory = number_fact(&source->host, "memory_bytes");
    const char *kind = facts_get(&source->target, "kind");
    for (size_t i = 0; kind && i < sizeof servers / sizeof *servers; i++)
        if (strcmp(kind, servers[i]) == 0 && memory < FIDELITY_SERVER_CACHE_BYTES)
            return FIDELITY_SERVER_CACHE_BYTES;
    return memory;
}

/* Rules that a control group had for the target's disk (host_sys.h). */
static bool is_throttled(const struct facts *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (strstr(f->list[i].key, "throttle"))
            return true;
    return false;
}

static void add_source(struct summary *s, const struct source *source, uint64_t cache_bytes)
{
    uint64_t cache = cache_bytes ? cache_bytes : likely_cache(source);
    s->unfinished += !source->finished;
    s->throttled |= is_throttled(&source->target);
    if (source->working_set_bytes && source->working_set_bytes < cache)
        s->small_set = source->working_set_bytes;
    for (size_t i = 0; i < source->result_count; i++) {
        const struct result *r = &source->results[i];
        const char *why = left_out(r, source->kind);
        s->left_warmup += why && strcmp(why, "warmup") == 0;
        s->left_cut_short += why && strcmp(why, "cut_short") == 0;
        s->left_errors += why && strcmp(why, "errors") == 0;
        if (source->kind == TAPE_KIND_RECORDING)
            s->tape_errors += r->summary.errors;
        else if (!why && source->kind == TAPE_KIND_RUN)
            add_repetition(s, r, number_fact(&source->host, "cpus"));
    }
}

/* ---- in words ---- */

static int say_count(struct flags *f, const char *side, const char *name, uint64_t count, struct err *e)
{
    return count ? flags_add(f, e, "%s:%s=%" PRIu64, side, name, count) : 0;
}

static int say_fact(struct flags *f, const char *side, const char *name, bool holds, struct err *e)
{
    return holds ? flags_add(f, e, "%s:%s", side, name) : 0;
}

static int say_pacing(
        struct flags *f, const char *side, const struct summary *s, enum timing timing, struct err *e)
{
    int rc = 0;
    if (timing == TIMING_ASAP) /* which has no schedule, and a depth of its own */
        return 0;
    if (s->is_behind)
        rc = flags_add(f, e, "%s:behind=%.1f%%", side,
                100.0 * (double)s->behind / (double)(s->records ? s->records : 1));
    if (rc == 0)
        rc = say_fact(f, side, "late", s->is_late, e);
    if (rc == 0 && (double)s->depth_least < DEPTH_SHARE * (double)s->depth_recorded)
        rc = flags_add(f, e, "%s:depth=%" PRIu64 "/%" PRIu64, side, s->depth_least, s->depth_recorded);
    return rc;
}

static int say_disturbance(struct flags *f, const char *side, const struct summary *s, struct err *e)
{
    int rc = 0;
    if (s->steal_worst > STEAL_SHARE)
        rc = flags_add(f, e, "%s:steal=%.1f%%", side, 100 * s->steal_worst);
    if (rc == 0)
        rc = say_fact(f, side, "pressure_cpu", s->cpu_pressure, e);
    if (rc == 0)
        rc = say_fact(f, side, "pressure_io", s->io_pressure, e);
    if (rc == 0)
        rc = say_fact(f, side, "pressure_memory", s->memory_pressure, e);
    return rc;
}

int fidelity_flags(struct flags *f, const char *side, const struct source *const *sources, size_t count,
        enum timing timing, uint64_t cache_bytes, struct err *e)
{
    struct summary s = {0};
    for (size_t i = 0; i < count; i++)
        add_source(&s, sources[i], cache_bytes);
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"left_out_warmup", s.left_warmup}, {"left_out_cut_short", s.left_cut_short},
            {"left_out_errors", s.left_errors}, {"tape_errors", s.tape_errors}, {"unfinished", s.unfinished},
            {"small_working_set", s.small_set},
#define COUNT_ENTRY(name) {#name, s.name},
            SAID_COUNTS(COUNT_ENTRY)
#undef COUNT_ENTRY
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts && rc == 0; i++)
        rc = say_count(f, side, counts[i].name, counts[i].count, e);
    if (rc == 0)
        rc = say_fact(f, side, "throttled", s.throttled, e);
    if (rc == 0)
        rc = say_pacing(f, side, &s, timing, e);
    return rc < 0 ? rc : say_disturbance(f, side, &s, e);
}
