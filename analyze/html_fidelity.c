/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How faithful the replays were: what was measured of the measuring.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/html.h"
#include "analyze/html_report.h"
#include "analyze/show.h"
#include "formats/base/cleanup.h"
#include "formats/base/units.h"

static void close_run(struct run_reader **r)
{
    run_reader_close(*r);
}

static void put_count(struct out *o, uint64_t count)
{
    char text[UNITS_TEXT_BYTES];
    snprintf(text, sizeof text, "%" PRIu64, count);
    html_cell(o, true, text);
}

static void put_share(struct out *o, uint64_t part, uint64_t whole)
{
    char text[2 * UNITS_TEXT_BYTES];
    snprintf(text, sizeof text, "%" PRIu64 " (%.2f%%)", part, whole ? 100 * (double)part / (double)whole : 0);
    html_cell(o, true, text);
}

static void put_run(struct out *o, const char *system, const struct run_reader *run)
{
    const struct show_fidelity f = show_fidelity_of(run);
    uint64_t records = show_run_records(run);
    char text[2 * UNITS_TEXT_BYTES];
    html_row(o);
    html_head_cell(o, system);
    snprintf(text, sizeof text, "%" PRIu64 " of %zu", f.repetitions, run_reader_repetition_count(run));
    html_cell(o, true, text);
    html_cell(o, true, units_duration(f.lateness_p50_ns, text));
    html_cell(o, true, units_duration(f.lateness_p99_ns, text));
    html_cell(o, true, units_duration(f.lateness_max_ns, text));
    put_share(o, f.behind, records);
    snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64, f.depth_reached, f.depth_recorded);
    html_cell(o, true, text);
    put_count(o, f.errors);
    html_cell(o, true, units_duration(f.steal_ns, text));
    html_cell(o, true, units_duration(f.pressure_cpu_us * 1000, text));
    html_cell(o, true, units_duration(f.pressure_io_us * 1000, text));
    html_row_end(o);
}

static int put_runs(struct out *o, const struct compare *c, struct err *e)
{
    for (size_t i = 0; i < c->systems.count; i++)
        for (size_t j = 0; j < c->systems.list[i].source_count; j++) {
            const struct source *s = &c->systems.sources.list[c->systems.list[i].first_source + j];
            struct run_reader *run CLEANUP(close_run) = NULL;
            if (s->kind != TAPE_KIND_RUN)
                continue;
            int rc = run_reader_open(&run, s->path, e);
            if (rc < 0)
                return rc;
            put_run(o, c->systems.list[i].name, run);
        }
    return 0;
}

int html_fidelity(struct out *o, const struct html_report *r, struct err *e)
{
    static const struct html_column columns[] = {{"system", false}, {"counted", true}, {"late: p50", true},
            {"p99", true}, {"most", true}, {"by over 1 ms", true}, {"depth", true}, {"errors", true},
            {"CPU stolen", true}, {"CPU pressure", true}, {"I/O pressure", true}};
    bool any = false;
    for (size_t i = 0; i < r->compare->systems.sources.count; i++)
        any |= r->compare->systems.sources.list[i].kind == TAPE_KIND_RUN;
    html_section(o, "fidelity", "How faithful the replays were",
            any ? "How many repetitions count, and how late I/Os were issued, counted from when the timing "
                  "wanted them: the worst repetition of each "
                  "file. Depth is the least that a repetition reached, of what was recorded. Pressure is the "
                  "time in "
                  "which something waited."
                : "Nothing was replayed.");
    int rc = 0;
    if (any) {
        html_table(o, "One line for each run", columns, sizeof columns / sizeof *columns);
        rc = put_runs(o, r->compare, e);
        html_table_end(o);
    }
    html_section_end(o);
    return rc;
}
