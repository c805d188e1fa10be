/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What plots are drawn from, as CSV, one line for each point and repetition. An empty cell is not known.
 */
#ifndef IOTAPE_PLOT_TABLES_H
#define IOTAPE_PLOT_TABLES_H

#include "analyze/plot_data.h"
#include "formats/base/out.h"

/* system,repetition,op,percentile,latency_ns (or response_ns); repetitions are numbered from 1 among those
 * that count. -ENOMEM */
int plot_write_curves(const struct plot_data *d, struct out *o, struct err *e);
/* system,repetition,t_ns,iops,mb_per_s,latency_ns,depth; t_ns is where the bin begins. -ENOMEM */
int plot_write_times(const struct plot_data *d, struct out *o, struct err *e);

#endif
