/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What was read from the outputs of other benchmarks, for people and for programs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/report.h"
#include "analyze/show.h"

/* The object, or NULL where any part of it could not be made. */
static struct json *whole(struct json *j, int bad)
{
    if (!bad)
        return j;
    json_free(j);
    return NULL;
}

static const char *op_name(enum block_op op)
{
    return op == BLOCK_READ ? "read" : op == BLOCK_WRITE ? "write" : NULL;
}

static struct json *figure_json(const struct figure *f)
{
    struct json *j = json_new_object();
    int bad = !j;
    bad |= json_put_text(j, "workload", f->workload);
    bad |= json_put_text(j, "metric", f->name);
    bad |= json_put_text(j, "unit", figure_unit_name(f->unit));
    bad |= json_put_double(j, "value", f->value);
    bad |= json_put_text(j, "op", op_name(f->op));
    bad |= json_put_bool(j, "compared", f->compared);
    bad |= json_put_bool(j, "missing", f->missing);
    bad |= json_put_u64(j, "line", f->line);
    return whole(j, bad);
}

static struct json *output_json(const struct output *o)
{
    struct json *j = json_new_object(), *facts = json_new_object(), *figures = json_new_array();
    int bad = !j;
    bad |= json_put_text(j, "tool", o->tool);
    bad |= json_put_text(j, "form", o->form);
    bad |= json_put_u64(j, "line", o->line);
    bad |= json_put_text(j, "failed", o->failed);
    bad |= json_put_text(j, "note", o->note);
    for (size_t i = 0; i < o->facts.count; i++)
        bad |= json_put_text(facts, o->facts.list[i].key, o->facts.list[i].value);
    bad |= json_put(j, "facts", facts);
    for (size_t i = 0; i < o->count; i++)
        bad |= json_add(figures, figure_json(&o->figures[i]));
    bad |= json_put(j, "figures", figures);
    return whole(j, bad);
}

struct json *show_results_json(const char *path, const struct results *r)
{
    struct json *j = json_new_object(), *outputs = json_new_array();
    int bad = !j;
    bad |= json_put_text(j, "file", path);
    bad |= json_put_text(j, "kind", "results");
    for (size_t i = 0; i < r->count; i++)
        bad |= json_add(outputs, output_json(&r->outputs[i]));
    bad |= json_put(j, "outputs", outputs);
    return whole(j, bad);
}

static void put_figure(struct out *o, const struct figure *f)
{
    char number[REPORT_NUMBER_BYTES];
    out_printf(o, "    %-7" PRIu64 " ", f->line);
    show_clean(o, f->workload);
    out_printf(o, "%s%s: ", *f->workload ? " " : "", f->name);
    if (f->missing)
        out_text(o, "not measured");
    else
        out_printf(o, "%s %s", report_number(f->value, number), figure_unit_name(f->unit));
    out_text(o, f->compared ? "\n" : " (not compared)\n");
}

static void put_output(struct out *o, const struct output *output)
{
    out_printf(o, "  line %" PRIu64 ": %s, %s\n", output->line, output->tool, output->form);
    for (size_t i = 0; i < output->facts.count; i++) {
        out_text(o, "    ");
        show_clean(o, output->facts.list[i].key);
        out_text(o, ": ");
        show_clean(o, output->facts.list[i].value);
        out_text(o, "\n");
    }
    if (output->failed) {
        out_text(o, "    failed, and left out: ");
        show_clean(o, output->failed);
        out_text(o, "\n");
    }
    if (output->note) {
        out_text(o, "    note: ");
        show_clean(o, output->note);
        out_text(o, "\n");
    }
    if (output->count)
        out_text(o, "    line    what\n");
    for (size_t i = 0; i < output->count; i++)
        put_figure(o, &output->figures[i]);
}

void show_results_text(const char *path, const struct results *r, struct out *o)
{
    show_clean(o, path);
    out_printf(o, ": results of other tools, %zu output%s\n", r->count, r->count == 1 ? "" : "s");
    for (size_t i = 0; i < r->count; i++)
        put_output(o, &r->outputs[i]);
}
