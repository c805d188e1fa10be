/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What can be compared, and how its value follows from what one repetition measured. Tapes and runs have the
 * metrics of the table in metrics.c; a foreign result brings a list of its own (foreign.h), whose values
 * it states by itself.
 */
#ifndef IOTAPE_METRICS_H
#define IOTAPE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/block.h"
#include "formats/run.h"

enum timing { TIMING_CLOSED, TIMING_RECORDED, TIMING_ASAP, TIMINGS };
/* -1 for an unknown name. */
int timing_parse(const char *name);

/* Percentiles that are taken of each operation. */
enum quantile { QUANTILE_P50, QUANTILE_P95, QUANTILE_P99, QUANTILE_P999, QUANTILES };
extern const double quantile_fractions[QUANTILES];

/* One operation in one repetition: I/Os that succeeded. Times are latencies, or response times where the
 * timing is `recorded` (run.h). */
struct op_result {
    uint64_t count, bytes;
    double sum_ns;
    uint64_t max_ns;
    uint64_t quantile_ns[QUANTILES];
};

/* What one repetition measured. For a tape, `summary` holds what the tape itself says; of a foreign result
 * only `complete` and `errors` are set. */
struct result {
    struct run_repetition summary;
    struct op_result ops[BLOCK_OPS];
    struct op_result exchanges[RUN_EXCHANGE_KINDS]; /* `bytes`: of answers */
    const double *stated; /* by metric.index, in the metric's unit; NAN where not measured, INFINITY for a
                             percentile with too few I/Os behind it; NULL but for foreign results */
};

enum quantity {
    QUANTITY_IO_TIME, /* elapsed less what a target of zero latency takes */
    QUANTITY_ELAPSED,
    QUANTITY_RATE, /* I/Os a second */
    QUANTITY_BANDWIDTH,
    QUANTITY_MEAN,
    QUANTITY_MEAN_ALL, /* of all operations */
    QUANTITY_QUANTILE,
    QUANTITY_MAX,
    QUANTITY_CPU,    /* the host's busy time an I/O, less what pacing spun away */
    QUANTITY_STATED, /* result.stated[index] */
    /* Of conversations, both ends: metrics_net.c. */
    QUANTITY_NET_ELAPSED,
    QUANTITY_NET_BANDWIDTH, /* received at both ends, at the responders', at the initiators' */
    QUANTITY_NET_BANDWIDTH_THERE,
    QUANTITY_NET_BANDWIDTH_HERE,
    QUANTITY_NET_CONVERSATIONS,
    QUANTITY_NET_MESSAGES,
    QUANTITY_NET_CPU_HERE, /* of each process, for a GB received at both ends; of both, for a message */
    QUANTITY_NET_CPU_THERE,
    QUANTITY_NET_CPU_MESSAGE,
};

struct metric {
    const char *name, *response_name; /* the second in `recorded`, where it counts from the scheduled time */
    const char *unit;
    enum quantity quantity;
    enum block_op op; /* see metric_op */
    enum quantile quantile;
    bool net; /* of conversations; MEAN, QUANTILE and MAX are then of `exchange` in place of `op` */
    enum run_exchange_kind exchange;
    size_t index;        /* of QUANTITY_STATED */
    bool more_is_better; /* a rate; else a time or a cost */
    unsigned timings;    /* bits of 1 << enum timing: where it is a result and not an input */
    unsigned primary;    /* where it is the primary metric */
    bool tail;           /* p99 or beyond: twice the margin */
};

/* Which metrics sources have. */
struct metrics {
    const struct metric *list;
    size_t count;
};
extern const struct metrics metrics_own; /* of tapes and runs */

/* Every timing, for a metric that does not depend on it. */
#define METRIC_TIMINGS_ALL ((1U << TIMINGS) - 1)

/* The operation that it is of; BLOCK_OPS for one of all or none. */
enum block_op metric_op(const struct metric *m);

/* What the candidate's work costs more, in percent, for a ratio candidate / base of the metric. */
double metric_overhead_pct(const struct metric *m, double ratio);

/* Whether one stream of several has it: not what is of the repetition as a whole. */
bool metric_of_stream(const struct metric *m);

const char *metric_name(const struct metric *m, enum timing timing);

enum metric_state {
    METRIC_OK,
    METRIC_ABSENT,  /* there is no such operation, or it was not measured */
    METRIC_TOO_FEW, /* a percentile with too few I/Os behind it (select_least) */
};
/* The value in the metric's unit. *value is set only with METRIC_OK. */
enum metric_state metric_value(const struct metric *m, const struct result *r, double *value);

#endif
