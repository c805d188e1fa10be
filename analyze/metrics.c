/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/metrics.h"

#include <math.h>
#include <string.h>

#include "analyze/metrics_net.h"
#include "analyze/metrics_net_list.h"
#include "analyze/select.h"

const double quantile_fractions[QUANTILES] = {0.5, 0.95, 0.99, 0.999};

#define CLOSED   (1U << TIMING_CLOSED)
#define RECORDED (1U << TIMING_RECORDED)
#define ASAP     (1U << TIMING_ASAP)
#define ALL      METRIC_TIMINGS_ALL
/* Where disks are replayed, too, their metric is the primary one. */
#define NET_PRIMARY      0
#define NET_PRIMARY_MEAN 0

/* Latency or response time of one operation: what, of which operation, which percentile, p99 or beyond. */
#define TIME(op_name, stat, op_number, quantity_, quantile_, tail_)                                          \
    {                                                                                                        \
        .name = op_name "_latency_" stat, .response_name = op_name "_response_" stat, .unit = "us",          \
        .quantity = quantity_, .op = op_number, .quantile = quantile_, .timings = ALL, .tail = tail_         \
    }
#define TIMES(op_name, op_number)                                                                            \
    TIME(op_name, "mean", op_number, QUANTITY_MEAN, 0, false),                                               \
            TIME(op_name, "p50", op_number, QUANTITY_QUANTILE, QUANTILE_P50, false),                         \
            TIME(op_name, "p95", op_number, QUANTITY_QUANTILE, QUANTILE_P95, false),                         \
            TIME(op_name, "p99", op_number, QUANTITY_QUANTILE, QUANTILE_P99, true),                          \
            TIME(op_name, "p99.9", op_number, QUANTITY_QUANTILE, QUANTILE_P999, true),                       \
            TIME(op_name, "max", op_number, QUANTITY_MAX, 0, true)
#define RATE(name_, unit_, op_number, quantity_)                                                             \
    {                                                                                                        \
        .name = name_, .unit = unit_, .quantity = quantity_, .op = op_number, .more_is_better = true,        \
        .timings = CLOSED | ASAP                                                                             \
    }

static const struct metric own[] = {
        {.name = "io_time", .unit = "s", .quantity = QUANTITY_IO_TIME, .timings = CLOSED, .primary = CLOSED},
        {.name = "elapsed",
                .unit = "s",
                .quantity = QUANTITY_ELAPSED,
                .timings = CLOSED | ASAP,
                .primary = ASAP},
        {.name = "latency_mean",
                .response_name = "response_mean",
                .unit = "us",
                .quantity = QUANTITY_MEAN_ALL,
                .timings = ALL,
                .primary = RECORDED},
        RATE("read_iops", "1/s", BLOCK_READ, QUANTITY_RATE),
        RATE("write_iops", "1/s", BLOCK_WRITE, QUANTITY_RATE),
        RATE("read_bandwidth", "MB/s", BLOCK_READ, QUANTITY_BANDWIDTH),
        RATE("write_bandwidth", "MB/s", BLOCK_WRITE, QUANTITY_BANDWIDTH),
        TIMES("read", BLOCK_READ),
        TIMES("write", BLOCK_WRITE),
        TIME("flush", "mean", BLOCK_FLUSH, QUANTITY_MEAN, 0, false),
        TIME("flush", "p99", BLOCK_FLUSH, QUANTITY_QUANTILE, QUANTILE_P99, true),
        {.name = "host_cpu_per_io", .unit = "us", .quantity = QUANTITY_CPU, .timings = ALL},
        NET_METRICS,
};
const struct metrics metrics_own = {own, sizeof own / sizeof *own};

int timing_parse(const char *name)
{
    static const char *const names[TIMINGS] = {"closed", "recorded", "asap"};
    for (int i = 0; i < TIMINGS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *metric_name(const struct metric *m, enum timing timing)
{
    return timing == TIMING_RECORDED && m->response_name ? m->response_name : m->name;
}

enum block_op metric_op(const struct metric *m)
{
    if (m->net)
        return BLOCK_OPS;
    switch (m->quantity) {
    case QUANTITY_IO_TIME:
    case QUANTITY_ELAPSED:
    case QUANTITY_MEAN_ALL:
    case QUANTITY_CPU:
        return BLOCK_OPS;
    default:
        return m->op;
    }
}

double metric_overhead_pct(const struct metric *m, double ratio)
{
    return 100 * ((m->more_is_better ? 1 / ratio : ratio) - 1);
}

bool metric_of_stream(const struct metric *m)
{
    switch (m->quantity) {
    case QUANTITY_IO_TIME:
    case QUANTITY_ELAPSED:
    case QUANTITY_CPU:
    case QUANTITY_STATED:
        return false;
    default:
        return true;
    }
}

static enum metric_state mean_all(const struct result *r, double *value)
{
    double sum_ns = 0, count = 0;
    for (int op = 0; op < BLOCK_OPS; op++) {
        sum_ns += r->ops[op].sum_ns;
        count += (double)r->ops[op].count;
    }
    if (count == 0)
        return METRIC_ABSENT;
    *value = sum_ns / count / 1e3;
    return METRIC_OK;
}

/* What follows from the repetition's summary alone; unsigned differences as signed ones, so that a clock's
 * grain cannot make them huge. */
static enum metric_state summary_value(enum quantity quantity, const struct run_repetition *s, double *value)
{
    switch (quantity) {
    case QUANTITY_IO_TIME:
        *value = (double)(int64_t)(s->elapsed_ns - s->zero_latency_ns) / 1e9;
        return METRIC_OK;
    case QUANTITY_ELAPSED:
        *value = (double)s->elapsed_ns / 1e9;
        return METRIC_OK;
    default:
        if (!s->cpu_busy_ns || !s->records)
            return METRIC_ABSENT;
        *value = (double)(int64_t)(s->cpu_busy_ns - s->cpu_spun_ns) / (double)s->records / 1e3;
        return METRIC_OK;
    }
}

static enum metric_state stated_value(double stated, double *value)
{
    if (!isfinite(stated))
        return isnan(stated) ? METRIC_ABSENT : METRIC_TOO_FEW;
    *value = stated;
    return METRIC_OK;
}

enum metric_state metric_value(const struct metric *m, const struct result *r, double *value)
{
    if (m->quantity == QUANTITY_STATED)
        return stated_value(r->stated[m->index], value);
    if (m->quantity >= QUANTITY_NET_ELAPSED)
        return metrics_net_value(m, &r->summary, value);
    const struct op_result *op = m->net ? &r->exchanges[m->exchange] : &r->ops[m->op];
    double elapsed_s = (double)r->summary.elapsed_ns / 1e9;
    switch (m->quantity) {
    case QUANTITY_IO_TIME:
    case QUANTITY_ELAPSED:
    case QUANTITY_CPU:
        return summary_value(m->quantity, &r->summary, value);
    case QUANTITY_MEAN_ALL:
        return mean_all(r, value);
    default:
        break;
    }
    if (!op->count)
        return METRIC_ABSENT;
    switch (m->quantity) {
    case QUANTITY_RATE:
    case QUANTITY_BANDWIDTH:
        if (elapsed_s == 0)
            return METRIC_ABSENT;
        *value = (m->quantity == QUANTITY_RATE ? (double)op->count : (double)op->bytes / 1e6) / elapsed_s;
        return METRIC_OK;
    case QUANTITY_MEAN:
        *value = op->sum_ns / (double)op->count / 1e3;
        return METRIC_OK;
    case QUANTITY_QUANTILE:
        if (op->count < select_least(quantile_fractions[m->quantile]))
            return METRIC_TOO_FEW;
        *value = (double)op->quantile_ns[m->quantile] / 1e3;
        return METRIC_OK;
    default:
        *value = (double)op->max_ns / 1e3;
        return METRIC_OK;
    }
}
