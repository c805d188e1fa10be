/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/metrics_net.h"

#include "analyze/metrics_net_list.h"

#define CLOSED      (1U << TIMING_CLOSED)
#define ASAP        (1U << TIMING_ASAP)
#define ALL         METRIC_TIMINGS_ALL
#define NET_PRIMARY (CLOSED | ASAP)
/* With `recorded` elapsed is no result. */
#define NET_PRIMARY_MEAN (1U << TIMING_RECORDED)

static const struct metric list[] = {
        NET_METRICS,
};
const struct metrics metrics_net = {list, sizeof list / sizeof *list};

static enum metric_state ratio(double amount, double by, double *value)
{
    if (by <= 0 || amount <= 0)
        return METRIC_ABSENT;
    *value = amount / by;
    return METRIC_OK;
}

enum metric_state metrics_net_value(const struct metric *m, const struct run_repetition *s, double *value)
{
    double elapsed_s = (double)s->net_elapsed_ns / 1e9, there = (double)s->net_there_bytes,
           here = (double)s->net_here_bytes;
    switch (m->quantity) {
    case QUANTITY_NET_ELAPSED:
        return ratio(elapsed_s, s->net_conversations ? 1 : 0, value);
    case QUANTITY_NET_BANDWIDTH:
        return ratio((there + here) / 1e6, elapsed_s, value);
    case QUANTITY_NET_BANDWIDTH_THERE:
        return ratio(there / 1e6, elapsed_s, value);
    case QUANTITY_NET_BANDWIDTH_HERE:
        return ratio(here / 1e6, elapsed_s, value);
    case QUANTITY_NET_CONVERSATIONS:
        return ratio((double)s->net_conversations, elapsed_s, value);
    case QUANTITY_NET_MESSAGES:
        return ratio((double)s->net_messages, elapsed_s, value);
    case QUANTITY_NET_CPU_HERE:
        return ratio((double)s->net_cpu_here_ns / 1e9, (there + here) / 1e9, value);
    case QUANTITY_NET_CPU_THERE:
        return ratio((double)s->net_cpu_there_ns / 1e9, (there + here) / 1e9, value);
    default:
        return ratio(
                (double)(s->net_cpu_here_ns + s->net_cpu_there_ns) / 1e3, (double)s->net_messages, value);
    }
}
