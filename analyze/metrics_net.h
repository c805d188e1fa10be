/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Metrics of replayed conversations: what a repetition's net_ fields and its exchanges (formats/run.h) say.
 */
#ifndef IOTAPE_METRICS_NET_H
#define IOTAPE_METRICS_NET_H

#include "analyze/metrics.h"

/* Metrics of runs of conversations alone; metrics_own has those of both. */
extern const struct metrics metrics_net;

/* The value of a metric whose quantity is one of QUANTITY_NET_...; as metric_value. */
enum metric_state metrics_net_value(const struct metric *m, const struct run_repetition *s, double *value);

#endif
