/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where it ran, and what is not the same on both sides.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/html.h"
#include "analyze/html_report.h"
#include "analyze/plot_text.h"
#include "analyze/report_tables.h"
#include "formats/base/cleanup.h"

static void put_differences(struct out *o, const struct comparison *k)
{
    const struct html_column columns[] = {{"what", false}, {k->base.name, false}, {k->cand.name, false}};
    CLEANUP_FREE char *caption = NULL;
    if (!k->difference_count)
        return;
    if (asprintf(&caption, "What differs between %s and %s, %s", k->base.name, k->cand.name, k->workload) < 0)
        caption = NULL;
    html_table(o, caption ? caption : "", columns, 3);
    for (size_t i = 0; i < k->difference_count; i++) {
        html_row(o);
        html_head_cell(o, k->differences[i].key);
        html_cell(o, false, k->differences[i].base);
        html_cell(o, false, k->differences[i].cand);
        html_row_end(o);
    }
    html_table_end(o);
}

static void put_facts(struct out *o, const char *prefix, const struct facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        CLEANUP_FREE char *key = NULL;
        if (asprintf(&key, "%s%s", prefix, f->list[i].key) >= 0)
            html_fact(o, key, "%s", f->list[i].value);
        else
            key = NULL;
    }
}

static void put_system(struct out *o, const struct system *system, const struct source *s)
{
    if (!s->host.count && !s->target.count && !s->options.count)
        return;
    out_text(o, "<details><summary>");
    plot_text_escape(o, system->name);
    out_text(o, ": host, target and options</summary>\n");
    html_facts(o);
    html_fact(o, "file", "%s", s->path);
    put_facts(o, "host: ", &s->host);
    put_facts(o, "target: ", &s->target);
    put_facts(o, "option: ", &s->options);
    html_facts_end(o);
    out_text(o, "</details>\n");
}

static int write_differences(const void *context, struct out *o, struct err *e)
{
    return report_write_context(context, o, e);
}

int html_hosts(struct out *o, const struct html_report *r, struct err *e)
{
    const struct compare *c = r->compare;
    size_t differences = 0;
    for (size_t i = 0; i < c->report.count; i++)
        differences += c->report.comparisons[i].difference_count;
    html_section(o, "hosts", "Hosts and differences",
            differences ? "The work was the same; this was not. Whatever differs beside the target may be "
                          "the reason of a "
                          "difference."
            : c->report.count
                    ? "Nothing that was recorded of hosts, targets and options differs between the sides."
                    : NULL);
    for (size_t i = 0; i < c->report.count; i++)
        put_differences(o, &c->report.comparisons[i]);
    int rc = differences
                     ? html_download(o, "differences.csv", "text/csv",
                               "The differences as CSV (differences.csv)", write_differences, &c->report, e)
                     : 0;
    for (size_t i = 0; i < c->systems.count; i++)
        put_system(o, &c->systems.list[i], &c->systems.sources.list[c->systems.list[i].first_source]);
    html_section_end(o);
    return rc;
}
