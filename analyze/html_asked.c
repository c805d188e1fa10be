/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The page's head: what was asked, and the answer in words.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/html.h"
#include "analyze/html_report.h"
#include "analyze/plot_axis.h"
#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"
#include "formats/base/units.h"

const char *html_verdict_class(enum verdict v)
{
    switch (v) {
    case VERDICT_SLOWER:
        return "slower";
    case VERDICT_FASTER:
        return "faster";
    case VERDICT_SAME:
        return "same";
    default:
        return "unknown";
    }
}

const struct row *html_primary(const struct comparison *k)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->rows[i].primary && !*k->rows[i].stream)
            return &k->rows[i];
    return NULL;
}

static void overhead_text(double percent, char text[TICK_TEXT_BYTES])
{
    axis_format(UNIT_OVERHEAD, 1 + percent / 100, text);
}

/* "+12% to +20%, with 96.8% confidence", or that there is no interval. */
static void interval_words(const struct row *row, char text[160])
{
    char interval[INTERVAL_TEXT_BYTES];
    axis_format_interval(1 + row->overhead_lo / 100, 1 + row->overhead_hi / 100, interval);
    if (*interval)
        snprintf(text, 160, "%s, with %.3g%% confidence", interval, 100 * row->conf);
    else
        snprintf(text, 160, "one repetition a side gives no interval");
}

char *html_verdict_sentence(
        const struct comparison *k, const struct row *row, const struct comparison_options *o)
{
    char interval[160], detect[64] = "", *text;
    int n = -1;
    interval_words(row, interval);
    if (isfinite(row->n_needed))
        snprintf(detect, sizeof detect, " About %.0f repetitions a side would show %.3g%%.", row->n_needed,
                o->detect > 0 ? 100 * o->detect : row->margin_pct);
    switch (row->verdict) {
    case VERDICT_SLOWER:
        n = asprintf(&text, "A unit of work costs more than on %s: %s.", k->base.name, interval);
        break;
    case VERDICT_FASTER:
        n = asprintf(&text, "A unit of work costs less than on %s: %s.", k->base.name, interval);
        break;
    case VERDICT_SAME:
        n = asprintf(&text, "The same as %s, for what counts as the same (%.3g%%): %s.", k->base.name,
                row->margin_pct, interval);
        break;
    case VERDICT_UNSURE:
        n = asprintf(&text, "Neither a difference from %s nor sameness could be shown: %s.%s", k->base.name,
                interval, detect);
        break;
    case VERDICT_TOO_FEW:
        n = asprintf(&text, "Too few repetitions to say: %zu against %zu cannot be significant.%s",
                row->n_base, row->n_cand, detect);
        break;
    case VERDICT_INVALID:
        n = asprintf(&text, "Not valid: too many repetitions had errors or were cut short.");
        break;
    }
    return n < 0 ? NULL : text;
}

static void put_card(struct out *o, const struct comparison *k, const struct report *r, bool workloads)
{
    const struct row *row = html_primary(k);
    char overhead[TICK_TEXT_BYTES] = "", base[REPORT_NUMBER_BYTES], cand[REPORT_NUMBER_BYTES];
    if (!row)
        return;
    CLEANUP_FREE char *sentence = html_verdict_sentence(k, row, &r->options);
    overhead_text(row->overhead_pct, overhead);
    out_printf(o, "<div class=\"card %s\">", html_verdict_class(row->verdict));
    html_paragraph(o, "who", "%s against %s%s%s", k->cand.name, k->base.name, workloads ? ": " : "",
            workloads ? k->workload : "");
    html_paragraph(o, "big", "%s %s", overhead, verdict_name(row->verdict));
    html_paragraph(o, NULL, "%s", sentence ? sentence : "");
    html_paragraph(o, "note", "%s: median %s against %s %s, %zu and %zu repetitions.", row->name,
            report_digits(row->median_cand, 4, cand), report_digits(row->median_base, 4, base),
            row->metric->unit, row->n_cand, row->n_base);
    out_text(o, "</div>\n");
}

static void put_cards(struct out *o, const struct report *r)
{
    bool workloads = false;
    for (size_t i = 1; i < r->count; i++)
        workloads |= strcmp(r->comparisons[i].workload, r->comparisons[0].workload) != 0;
    out_text(o, "<div class=\"cards\">\n");
    for (size_t i = 0; i < r->count; i++)
        put_card(o, &r->comparisons[i], r, workloads);
    out_text(o, "</div>\n");
}

/* "disk and nbd", "a, b and 3 more". */
static char *name_systems(const struct compare *c)
{
    char *text = NULL;
    size_t len, left = c->systems.count - (c->systems.count > 1), said = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    for (size_t i = 0; i < c->systems.count; i++) {
        if (c->systems.count > 1 && i == c->base)
            continue;
        if (said == 3 && left > 4) {
            fprintf(f, " and %zu more", left - said);
            break;
        }
        fprintf(f, "%s%s", !said ? "" : said + 1 == left ? " and " : ", ", c->systems.list[i].name);
        said++;
    }
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static void put_links(struct out *o, const struct html_report *r)
{
    const struct {
        const char *id, *text;
        bool there;
    } links[] = {{"asked", "What was asked", true}, {"overhead", "Overhead", r->compare->report.count > 0},
            {"plots", "Plots", true}, {"profile", "The workload", true}, {"fidelity", "Faithfulness", true},
            {"hosts", "Hosts and differences", true}, {"commands", "To repeat it", true}};
    out_text(o, "<nav aria-label=\"Sections\"><ul>");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (links[i].there)
            out_printf(o, "<li><a href=\"#%s\">%s</a></li>", links[i].id, links[i].text);
    out_text(o, "</ul></nav>\n");
}

/* ---- what was asked ---- */

static const char *kind_of(const struct source *s)
{
    return s->kind == TAPE_KIND_RUN    ? "replayed"
           : s->kind == TAPE_KIND_NONE ? "by another tool"
                                       : "as recorded";
}

static void put_system(struct out *o, const struct compare *c, size_t i)
{
    const struct system *system = &c->systems.list[i];
    const struct source *first = &c->systems.sources.list[system->first_source];
    size_t repetitions = 0;
    for (size_t j = 0; j < system->source_count; j++)
        repetitions += c->systems.sources.list[system->first_source + j].result_count;
    html_fact(o,
            i == c->base && c->systems.count > 1 ? "Base"
            : c->systems.count > 1               ? "Candidate"
                                                 : "System",
            "%s: %s%s%s, %zu repetition%s in %zu file%s", system->name, kind_of(first),
            first->target_name && *first->target_name ? " on " : "",
            first->target_name ? first->target_name : "", repetitions, repetitions == 1 ? "" : "s",
            system->count, system->count == 1 ? "" : "s");
}

static void put_timing(struct out *o, const struct workload *w)
{
    static const char *const timings[TIMINGS] = {("closed: each I/O waits for what it waited for when it was "
                                                  "recorded, so that a faster place finishes sooner"),
            "recorded: each I/O at its recorded time; response times count from the scheduled time",
            "as soon as possible: in order, with a fixed number in flight"};
    html_fact(o, "Timing", "%s", timings[w->timing]);
}

static void put_workload(struct out *o, const struct workload *w)
{
    char identity[TAPE_IDENTITY_TEXT_BYTES], size[UNITS_TEXT_BYTES];
    const struct source *s = w->sources[0];
    html_fact(o, "Workload", "%s", w->name);
    if (s->kind == TAPE_KIND_NONE)
        return;
    html_fact(o, "Identity of the tape", "%s", tape_identity_name(&s->identity, identity));
    for (size_t i = 0; i < w->count; i++)
        if (w->sources[i]->working_set_bytes) {
            html_fact(o, "Working set", "%s", units_size(w->sources[i]->working_set_bytes, size));
            break;
        }
    put_timing(o, w);
}

void html_asked(struct out *o, const struct html_report *r)
{
    const struct compare *c = r->compare;
    CLEANUP_FREE char *systems = name_systems(c);
    const char *base = c->systems.list[c->base].name;
    out_text(o, "<header>\n<p class=\"eyebrow\">iotape report</p>\n<h1>");
    plot_text_escape(o, systems ? systems : "");
    if (c->systems.count > 1) {
        out_text(o, " against ");
        plot_text_escape(o, base);
    }
    out_text(o, "</h1>\n");
    if (c->report.count)
        html_paragraph(o, "lead", "What the workload %s%s costs on %s, where %s is the base.",
                c->workloads.count == 1 ? c->workloads.list[0].name : "",
                c->workloads.count == 1 ? "" : "(several)", systems ? systems : "", base);
    put_cards(o, &c->report);
    put_links(o, r);
    out_text(o, "</header>\n");
    html_section(o, "asked", "What was asked", NULL);
    html_facts(o);
    for (size_t i = 0; i < c->workloads.count; i++)
        put_workload(o, &c->workloads.list[i]);
    for (size_t i = 0; i < c->systems.count; i++)
        put_system(o, c, i);
    if (c->report.count)
        html_fact(o, "Counts as the same", "within %.3g%%, from p99 on within %.3g%%; %.3g%% confidence",
                100 * c->options.margin, 200 * c->options.margin, 100 * c->options.confidence);
    html_facts_end(o);
    html_section_end(o);
}
