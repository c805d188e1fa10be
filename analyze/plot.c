/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot.h"

#include <stdlib.h>
#include <string.h>

const struct plot_ops *const plot_list[] = {
#define PLOT_ENTRY(name) &plot_##name,
        PLOTS(PLOT_ENTRY) NULL};

const struct plot_ops *plot_find(const char *name)
{
    for (size_t i = 0; plot_list[i]; i++)
        if (strcmp(plot_list[i]->name, name) == 0)
            return plot_list[i];
    return NULL;
}

int plot_write(struct plot *p, struct out *o, struct err *e)
{
    return canvas_write(p->canvas, p->title, p->description, o, e);
}

void plot_release(struct plot *p)
{
    canvas_close(p->canvas);
    free(p->title);
    free(p->description);
    *p = (struct plot){0};
}
