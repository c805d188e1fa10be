/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_tables.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/report.h"
#include "formats/base/csv_text.h"

static const char *time_name(const struct plot_data *d)
{
    return d->timing == TIMING_RECORDED ? "response_ns" : "latency_ns";
}

static void put_number(struct out *o, double value)
{
    char text[REPORT_NUMBER_BYTES];
    out_printf(o, ",%s", report_number(value, text));
}

static int put_curves(struct out *o, const struct plot_side *side, size_t i, struct err *e)
{
    const struct plot_repetition *r = side->repetitions[i];
    for (unsigned op = 0; op < PLOT_OPS; op++)
        for (size_t k = 0; k < PLOT_CURVE_POINTS; k++) {
            if (!isfinite(r->curve_ns[op][k]))
                continue;
            int rc = csv_text_write_safe(o, side->name, e);
            if (rc < 0)
                return rc;
            out_printf(o, ",%zu,%s,%.6f", i + 1, plot_op_name(op), 100 * plot_curve_fraction(k));
            put_number(o, r->curve_ns[op][k]);
            out_text(o, "\n");
        }
    return 0;
}

int plot_write_curves(const struct plot_data *d, struct out *o, struct err *e)
{
    out_printf(o, "system,repetition,op,percentile,%s\n", time_name(d));
    for (size_t i = 0; i < d->count; i++)
        for (size_t j = 0; j < d->sides[i].count; j++) {
            int rc = put_curves(o, &d->sides[i], j, e);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static int put_times(
        struct out *o, const struct plot_data *d, const struct plot_side *side, size_t i, struct err *e)
{
    const struct plot_repetition *r = side->repetitions[i];
    for (size_t k = 0; k < PLOT_TIMES && k * d->time_ns < r->elapsed_ns; k++) {
        int rc = csv_text_write_safe(o, side->name, e);
        if (rc < 0)
            return rc;
        out_printf(o, ",%zu,%" PRIu64, i + 1, k * d->time_ns);
        put_number(o, r->iops[k]);
        put_number(o, r->mb_s[k]);
        put_number(o, r->latency_ns[k]);
        put_number(o, r->depth[k]);
        out_text(o, "\n");
    }
    return 0;
}

int plot_write_times(const struct plot_data *d, struct out *o, struct err *e)
{
    out_printf(o, "system,repetition,t_ns,iops,mb_per_s,%s,depth\n", time_name(d));
    for (size_t i = 0; i < d->count; i++)
        for (size_t j = 0; j < d->sides[i].count; j++) {
            int rc = put_times(o, d, &d->sides[i], j, e);
            if (rc < 0)
                return rc;
        }
    return 0;
}
