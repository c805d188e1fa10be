/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/plot.h"
#include "analyze/same_work.h"
#include "analyze/verb.h"
#include "formats/base/cleanup.h"

struct plot_options {
    struct compare compare; /* first: COMPARE_OPTS */
    const struct plot_ops *kind;
    const char *output;
    uint64_t width;
};

/* The first word is the kind. */
static int take_word(void *values, const char *text, struct err *e)
{
    struct plot_options *o = values;
    if (o->kind)
        return compare_word(values, text, e);
    if ((o->kind = plot_find(text)))
        return 0;
    char known[256] = "";
    for (size_t i = 0; plot_list[i]; i++)
        strcat(strcat(known, i ? ", " : ""), plot_list[i]->name);
    return err_set(e, EINVAL, "'%s' is no kind of plot; there are %s", text, known);
}

#define OPTION(field) offsetof(struct plot_options, field)
static const struct opt opts[] = {COMPARE_OPTS,
        {"output", 'o', OPT_STR, OPTION(output), "FILE",
                "where to write; its name says the form: .svg or .png", NULL, NULL},
        {"width", 'w', OPT_U64, OPTION(width), "PIXELS",
                "of the plot, 320 to 4096 (default: 760); a PNG has twice as many", NULL, NULL},
        {.name = NULL}};

static const char *const sections[] = {"Kinds",
        "  latency    how long I/Os took, by percentile, on an axis of nines, one panel for each operation\n"
        "  timeline   I/Os a second, MB a second and mean latency over time\n"
        "  heatmap    latencies over time and places over time, coloured by count\n"
        "  depth      how many I/Os were in flight, over time and as a share of the time\n"
        "  overhead   the comparison: for each metric what it costs more, with its interval\n",
        "What is shown",
        "A side is a file, or all files of a --system. Repetitions that a comparison would not count "
        "(warm-ups, cut "
        "short, with errors) are left out, and so are I/Os that failed or whose latency is unknown. Where "
        "timing is "
        "'recorded', times are response times. Curves end where too few I/Os lie behind them.\n"
        "\n"
        "Of a run of conversations (--peer) without I/O of disks, exchanges are drawn instead, each from a "
        "send to the end of its answer; and the latency of connects.\n"
        "\n"
        "Percentiles come from a histogram whose buckets are 1/1024 of their value wide, all others are "
        "exact. Depths "
        "are means over slices of a millionth of the repetition.",
        "Form",
        "A plot has a white page of its own, so that it can be read on dark pages, too. Its colours are "
        "those of Okabe "
        "and Ito, and viridis; names stand at their lines. SVG holds text as text.",
        NULL};

static const struct opt_spec spec = {.name = "iotape-analyze plot",
        .usage = "KIND [OPTION]... FILE... -o PLOT.svg|PLOT.png\nKIND [OPTION]... --system NAME FILE... -o "
                 "PLOT.svg",
        .summary = "draw tapes and runs",
        .opts = opts,
        .word = take_word,
        .sections = sections};

static void close_data(struct plot_data *d)
{
    plot_data_release(d);
}

static int collect(struct plot_data *d, struct systems *s, struct err *e)
{
    size_t total = s->sources.count, count = 0;
    CLEANUP_FREE const struct source **list = calloc(total + 1, sizeof(struct source *));
    CLEANUP_FREE size_t *system = calloc(total + 1, sizeof *system);
    enum timing timing;
    enum depend_group group;
    if (!list || !system)
        return err_sys(e, ENOMEM, "cannot plot %zu files", s->path_count);
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < s->list[i].source_count; j++, count++) {
            list[count] = &s->sources.list[s->list[i].first_source + j];
            system[count] = i;
        }
    int rc = same_work(list, count, e);
    if (rc == 0)
        rc = same_work_timing(list, count, &timing, &group, e);
    if (rc < 0)
        return rc;
    const struct plot_sources sources = {s, list, system, count, timing};
    return plot_data_collect(d, &sources, e);
}

static int write_plot(struct plot *p, const char *path, struct err *e)
{
    struct out o;
    int rc = out_open(&o, path, e);
    if (rc < 0)
        return rc;
    rc = plot_write(p, &o, e);
    int closed = out_close(&o, rc == 0, rc == 0 ? e : NULL);
    return rc < 0 ? rc : closed;
}

/* The part that the kind needs. */
static int make_input(struct plot_input *in, struct plot_data *data, struct plot_options *o, struct err *e)
{
    if (o->kind->compares) {
        in->report = &o->compare.report;
        return compare_run(&o->compare, e);
    }
    in->data = data;
    int rc = systems_open(&o->compare.systems, e);
    return rc < 0 ? rc : collect(data, &o->compare.systems, e);
}

static int plot(struct plot_options *o, enum canvas_form form, struct err *e)
{
    struct plot_data data CLEANUP(close_data) = {0};
    struct plot drawn CLEANUP(plot_release) = {0};
    struct plot_input in = {0};
    const struct plot_request request = {form, (double)o->width, o->kind->name};
    int rc = 0;
    for (size_t i = 0; i < o->compare.systems.path_count && rc == 0; i++)
        rc = verb_check_output(o->compare.systems.paths[i], o->output, e);
    if (rc == 0)
        rc = make_input(&in, &data, o, e);
    if (rc == 0)
        rc = o->kind->draw(&drawn, &in, &request, e);
    return rc < 0 ? rc : write_plot(&drawn, o->output, e);
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static int run(int argc, char **argv)
{
    CLEANUP_FREE struct plot_options *o = calloc(1, sizeof *o);
    struct err e = {0};
    if (!o)
        return verb_exit(&spec, err_sys(&e, ENOMEM, "cannot start"), &e);
    compare_init(&o->compare);
    o->width = (uint64_t)PLOT_WIDTH;
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, o, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    if (!o->kind)
        return verb_usage(&spec, "no kind of plot given");
    if (!o->compare.systems.count)
        return verb_usage(&spec, "no file given");
    const char *wrong = o->kind->compares ? compare_usage(&o->compare) : NULL;
    if (wrong)
        return verb_usage(&spec, wrong);
    if (!o->output || !(ends_in(o->output, ".svg") || ends_in(o->output, ".png")))
        return verb_usage(&spec, "--output: a name that ends in .svg or .png is needed");
    if (o->width < PLOT_WIDTH_LEAST || o->width > PLOT_WIDTH_MOST)
        return verb_usage(&spec, "--width: not between 320 and 4096");
    int rc = plot(o, ends_in(o->output, ".png") ? CANVAS_PNG : CANVAS_SVG, &e);
    compare_release(&o->compare);
    return verb_exit(&spec, rc, &e);
}

const struct verb verb_plot = {.name = "plot", .spec = &spec, .run = run};
