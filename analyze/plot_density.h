/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Density panels: counts as colours, and the ramp that says which colour is how many.
 */
#ifndef IOTAPE_PLOT_DENSITY_H
#define IOTAPE_PLOT_DENSITY_H

#include "analyze/plot_data.h"
#include "analyze/plot_sheet.h"

/* Fills the panel's box: rows `first_row` .. `first_row + rows - 1` upwards, and of the times the part that
 * the panel's x axis shows. `most` has the last colour of the ramp; colours go by logarithm. */
void density_draw(struct canvas *c, const struct panel *p, uint32_t (*heat)[PLOT_HEAT_TIMES],
        size_t first_row, size_t rows, uint64_t time_ns, uint32_t most);

#define DENSITY_RAMP_HEIGHT 40.0
/* The ramp from 1 to `most`, with numbers below, in a box of DENSITY_RAMP_HEIGHT. */
void density_ramp(struct canvas *c, struct box box, uint32_t most, const char *title);

uint32_t density_most(uint32_t (*heat)[PLOT_HEAT_TIMES], size_t rows);

#endif
