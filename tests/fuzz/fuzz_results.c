/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Any bytes as a file with outputs of other benchmarks: finding them, and all of their parsers. What was read
 * must be what results.h promises.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void want(bool held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void check_output(const struct output *o, uint64_t lines)
{
    want(o->tool && o->tool[0] && o->form && o->line >= 1 && o->line <= lines,
            "an output has tool, form and line");
    want(o->count || o->failed, "an output has figures, or failed");
    for (size_t i = 0; i < o->count; i++) {
        const struct figure *f = &o->figures[i];
        want(f->workload && f->name && f->name[0] && figure_unit_name(f->unit), "a figure has names");
        want(f->missing ? isnan(f->value) : isfinite(f->value), "a figure is a number, or missing");
        want(f->line >= 1 && f->line <= lines, "a figure has a line of the file");
        want(f->op <= BLOCK_OPS && f->quantile >= 0 && f->quantile <= 1, "operation and quantile");
        enum figure_quantity q = figure_unit_quantity(f->unit);
        want(!f->compared || q == FIGURE_BYTE_RATE || q == FIGURE_RATE || q == FIGURE_TIME,
                "rates and times are compared");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct results r;
    struct err e = {0};
    uint64_t lines = size + 1;
    int rc = results_parse("fuzz", (const char *)data, size, &r, &e);
    want(rc == 0 || (e.text[0] && rc == -e.code && !strchr(e.text, '\n')), "an error has one line");
    want(rc != 0 || r.count, "there are outputs");
    for (size_t i = 0; rc == 0 && i < r.count; i++)
        check_output(&r.outputs[i], lines);
    if (rc == 0)
        results_release(&r);
    return 0;
}
