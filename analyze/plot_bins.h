/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the samples of one repetition to what a plot shows of it. The work space is used for one repetition
 * after the other and has a fixed size, 14 MiB.
 */
#ifndef IOTAPE_PLOT_BINS_H
#define IOTAPE_PLOT_BINS_H

#include "analyze/plot_data.h"
#include "analyze/plot_samples.h"

struct bins;

int bins_open(struct bins **b, struct err *e);
void bins_close(struct bins *b); /* NULL is allowed */

/* Begins a repetition that takes `elapsed_ns`. `data` gives the widths of bins; densities are added to `side`
 * and, where `places` is set, to data->streams. */
void bins_begin(
        struct bins *b, struct plot_data *data, struct plot_side *side, uint64_t elapsed_ns, bool places);
void bins_add(struct bins *b, const struct sample *s);
/* Fills in all of *r. */
void bins_end(struct bins *b, struct plot_repetition *r);

#endif
