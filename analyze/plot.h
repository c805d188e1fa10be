/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Plots: one file plot/KIND.c for each kind, one line in PLOTS.
 */
#ifndef IOTAPE_PLOT_H
#define IOTAPE_PLOT_H

#include <stddef.h>

#include "analyze/plot_canvas.h"
#include "analyze/plot_data.h"
#include "analyze/report.h"
#include "formats/base/err.h"
#include "formats/base/out.h"

#define PLOTS(X) X(latency) X(timeline) X(heatmap) X(depth) X(overhead)

/* What plots are drawn from. A kind says which of the two it needs; the other may be NULL. */
struct plot_input {
    const struct plot_data *data;
    const struct report *report;
};

struct plot_request {
    enum canvas_form form;
    double width;   /* CSS pixels, PLOT_WIDTH_LEAST or more; the height follows */
    const char *id; /* of canvas_open */
};
#define PLOT_WIDTH       760.0
#define PLOT_WIDTH_LEAST 320.0
#define PLOT_WIDTH_MOST  4096.0

/* A finished drawing. */
struct plot {
    struct canvas *canvas;
    char *title, *description; /* what stands above it, and what it says, in words */
};

struct plot_ops {
    const char *name;
    const char *help; /* one line */
    bool compares;    /* needs `report`, else `data` */
    /* -ENODATA where there is nothing to draw, with the reason; -ENOMEM; what cairo refuses. *p is empty
     * then. */
    int (*draw)(
            struct plot *p, const struct plot_input *in, const struct plot_request *request, struct err *e);
};

#define PLOT_DECLARE(name) extern const struct plot_ops plot_##name;
PLOTS(PLOT_DECLARE)
#undef PLOT_DECLARE

/* All kinds, ended by NULL. */
extern const struct plot_ops *const plot_list[];
/* By name; NULL for an unknown one. */
const struct plot_ops *plot_find(const char *name);

int plot_write(struct plot *p, struct out *o, struct err *e);
void plot_release(struct plot *p);

#endif
