/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a comparison is made from, as one long tidy table: a line for each metric of each repetition of each
 * file, those that are left out included.
 */
#include <math.h>

#include "analyze/fidelity.h"
#include "analyze/report_tables.h"
#include "formats/base/csv_text.h"

#define HEADER     "workload,stream,system,file,repetition,counted,left_out,metric,unit,better,value\n"
#define RAW_DIGITS 10

struct place {
    const struct workload *workload;
    const struct source *source;
    const char *system, *stream;
    const struct result *result;
};

/* Nothing where the metric is none of this repetition; without a value where too few I/Os are behind it. */
static int write_value(const struct place *p, const struct metric *m, struct out *o, struct err *e)
{
    double value = NAN;
    char number[REPORT_NUMBER_BYTES];
    const char *why = left_out(p->result, p->source->kind);
    if (metric_value(m, p->result, &value) == METRIC_ABSENT)
        return 0;
    const char *const begin[] = {p->workload->name, p->stream, p->system, p->source->path};
    const char *const end[] = {
            why, metric_name(m, p->workload->timing), m->unit, m->more_is_better ? "higher" : "lower"};
    int rc = csv_texts_write_safe(o, begin, sizeof begin / sizeof *begin, e);
    out_printf(o, "%llu,%s,", (unsigned long long)p->result->summary.repetition, why ? "no" : "yes");
    if (rc == 0)
        rc = csv_texts_write_safe(o, end, sizeof end / sizeof *end, e);
    out_printf(o, "%s\n", report_digits(value, RAW_DIGITS, number));
    return rc;
}

static int write_result(const struct place *p, struct out *o, struct err *e)
{
    const struct metrics *all = &p->workload->metrics;
    int rc = 0;
    for (size_t i = 0; i < all->count && rc == 0; i++)
        if ((all->list[i].timings & (1U << p->workload->timing)) &&
                (!*p->stream || metric_of_stream(&all->list[i])))
            rc = write_value(p, &all->list[i], o, e);
    return rc;
}

static int write_source(struct place *p, struct out *o, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < p->source->result_count && rc == 0; i++) {
        p->stream = "";
        p->result = &p->source->results[i];
        rc = write_result(p, o, e);
        for (size_t j = 0; j < p->source->stream_count && rc == 0; j++) {
            p->stream = p->source->streams[j].name;
            p->result = &p->source->streams[j].results[i];
            rc = write_result(p, o, e);
        }
    }
    return rc;
}

int report_write_raw(const struct compare *c, struct out *o, struct err *e)
{
    int rc = 0;
    out_text(o, HEADER);
    for (size_t i = 0; i < c->workloads.count; i++)
        for (size_t j = 0; j < c->workloads.list[i].count && rc == 0; j++) {
            const struct workload *w = &c->workloads.list[i];
            struct place p = {
                    .workload = w, .source = w->sources[j], .system = c->systems.list[w->system[j]].name};
            rc = write_source(&p, o, e);
        }
    return rc;
}
