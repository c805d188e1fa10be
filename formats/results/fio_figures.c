/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/results/fio.h"

#define ROUNDING 0.006 /* three digits: 51.6k for 51552 */

const struct fio_direction fio_directions[FIO_DIRECTIONS] = {
        {"read", BLOCK_READ}, {"write", BLOCK_WRITE}, {"trim", BLOCK_DISCARD}, {"sync", BLOCK_FLUSH}};

/* ---- names ---- */

/* Jobs of this name so far: those are called NAME, NAME (2), NAME (3), ... */
static unsigned count_jobs(const struct output *o, const char *name)
{
    const char *last = "";
    size_t len = strlen(name);
    unsigned count = 0;
    for (size_t i = 0; i < o->count; i++) {
        const char *workload = o->figures[i].workload;
        if (strcmp(workload, last) == 0)
            continue;
        last = workload;
        count += strncmp(workload, name, len) == 0 && (!workload[len] || scan_begins(workload + len, " ("));
    }
    return count;
}

void fio_job_begin(struct fio_job *j, struct reading *r, const char *name)
{
    *j = (struct fio_job){.r = r, .direction = fio_directions};
    snprintf(j->workload, sizeof j->workload, "%.*s", FIO_NAME_BYTES - 1, name);
    unsigned before = count_jobs(reading_current(r), j->workload);
    if (before)
        snprintf(j->workload, sizeof j->workload, "%.*s (%u)", FIO_NAME_BYTES - 1, name, before + 1);
}

/* ---- figures ---- */

static int add(const struct fio_job *j, const char *what, struct figure f, struct err *e)
{
    char name[FIO_FIGURE_BYTES + 8];
    snprintf(name, sizeof name, "%s_%s", j->direction->name, what);
    f.op = j->direction->op;
    return reading_figure(j->r, j->workload, name, f, e);
}

int fio_figure(const struct fio_job *j, const char *what, enum figure_unit unit, double value, bool compared,
        struct err *e)
{
    return add(j, what, (struct figure){.unit = unit, .value = value, .compared = compared}, e);
}

int fio_latency(const struct fio_job *j, const char *kind, const char *stat, double us, struct err *e)
{
    char what[FIO_FIGURE_BYTES];
    bool mean = strcmp(stat, "mean") == 0, longest = strcmp(stat, "max") == 0;
    snprintf(what, sizeof what, "%s_%s", kind, stat);
    return add(j, what,
            (struct figure){.unit = UNIT_US,
                    .value = us,
                    .compared = mean || (longest && strcmp(kind, "lat") == 0),
                    .tail = longest},
            e);
}

static bool is_compared(double percent)
{
    static const double compared[] = {50, 95, 99, 99.9};
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        if (fabs(percent - compared[i]) < 1e-9)
            return true;
    return false;
}

int fio_percentile(const struct fio_job *j, const char *kind, double percent, double us, struct err *e)
{
    char what[FIO_FIGURE_BYTES];
    if (percent == 0)
        return 0;
    if (!(percent > 0 && percent <= 100))
        return reading_bad(j->r, e, "a percentile of %g %%", percent);
    snprintf(what, sizeof what, "%s_p%.8g", kind, percent);
    return add(j, what,
            (struct figure){.unit = UNIT_US,
                    .value = us,
                    .compared = is_compared(percent),
                    .tail = percent >= 99,
                    .quantile = percent / 100,
                    .samples = j->samples},
            e);
}

int fio_plain(const struct fio_job *j, const char *name, enum figure_unit unit, double value, struct err *e)
{
    return reading_figure(
            j->r, j->workload, name, (struct figure){.unit = unit, .value = value, .op = BLOCK_OPS}, e);
}

int fio_fact(const struct fio_job *j, const char *key, const char *value, struct err *e)
{
    char name[FIO_NAME_BYTES + 64];
    struct facts *facts = &reading_current(j->r)->facts;
    snprintf(name, sizeof name, "%s: %s", j->workload, key);
    return facts->count < FACTS_MAX ? facts_set(facts, e, name, "%s", value) : 0;
}

int fio_failed(const struct fio_job *j, double error, struct err *e)
{
    return reading_say(&reading_current(j->r)->failed, e, "job '%s' ended with error %g", j->workload, error);
}

/* ---- one run in several forms ---- */

static unsigned exactness(const struct output *o)
{
    return strcmp(o->form, "JSON") == 0 ? 2 : strcmp(o->form, "terse") == 0;
}

/* Most often they stand at the same place, `from`. */
static const struct figure *find(const struct output *o, const struct figure *f, size_t from)
{
    for (size_t n = 0, i = from; n < o->count; n++, i++) {
        const struct figure *other = &o->figures[i % o->count];
        if (strcmp(other->name, f->name) == 0 && strcmp(other->workload, f->workload) == 0)
            return other;
    }
    return NULL;
}

/* Whether all run times are the same and all IOPS are, but for rounding. */
static bool is_same_run(const struct output *a, const struct output *b)
{
    size_t runtimes = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct figure *f = &a->figures[i];
        bool runtime = strstr(f->name, "_runtime") != NULL,
             iops = strcmp(f->name, "read_iops") == 0 || strcmp(f->name, "write_iops") == 0;
        if (!runtime && !iops)
            continue;
        const struct figure *other = find(b, f, i);
        if (!other || (runtime && f->value != other->value) ||
                fabs(f->value - other->value) > 1 + ROUNDING * fabs(f->value))
            return false;
        runtimes += runtime;
    }
    return runtimes > 0;
}

void fio_one_form(struct reading *r)
{
    if (r->results->count < 2)
        return;
    struct output *now = reading_current(r), *before = now - 1;
    if (strcmp(before->tool, "fio") != 0 || strcmp(before->form, now->form) == 0 || !is_same_run(now, before))
        return;
    if (exactness(now) > exactness(before)) {
        struct output less = *before;
        *before = *now;
        *now = less;
    }
    reading_drop(r);
}
