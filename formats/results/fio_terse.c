/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio --output-format=terse, versions 2 to 5 (fio's HOWTO, "Terse output"; stat.c): one line for each job,
 * fields separated by semicolons. Rates are KiB/s and latencies microseconds in all versions. Version 2 has
 * no version of fio in front; 5 has more samples in each direction; whether trims follow reads and writes is
 * seen by the field behind, which is a CPU's percentage otherwise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/results/fio.h"

#define FIELDS_MAX   1024
#define FIELDS_LEAST 100 /* of version 2; fewer are something else's */
#define PERCENTILES  20

struct fields {
    char *text; /* the line, with zeros for the semicolons; owned */
    const char *list[FIELDS_MAX];
    size_t count, at;
};

static int split(struct fields *f, const char *line, struct err *e)
{
    f->count = f->at = 0;
    f->text = strdup(line);
    if (!f->text)
        return err_sys(e, ENOMEM, "cannot read a line");
    for (char *p = f->text; p && f->count < FIELDS_MAX;) {
        f->list[f->count++] = strsep(&p, ";");
    }
    return 0;
}

static void free_fields(struct fields *f)
{
    free(f->text);
}

/* The version of the form, or 0 for another line. */
static unsigned terse_version(const char *line)
{
    size_t semicolons = 0;
    if (line[0] < '2' || line[0] > '5' || line[1] != ';')
        return 0;
    if (line[0] > '2')
        return scan_begins(line + 2, "fio-") ? (unsigned)(line[0] - '0') : 0;
    for (const char *p = line; (p = strchr(p, ';')); p++)
        semicolons++;
    return semicolons >= FIELDS_LEAST ? (unsigned)(line[0] - '0') : 0;
}

static int bad(const struct fio_job *j, const struct fields *f, const char *what, struct err *e)
{
    return reading_bad(j->r, e, "field %zu of fio's terse output is no %s: '%.40s'", f->at, what,
            f->at && f->at <= f->count ? f->list[f->at - 1] : "");
}

/* The next field as a number, a percent sign behind it allowed. */
static int take(const struct fio_job *j, struct fields *f, double *value, struct err *e)
{
    const char *p = f->at < f->count ? f->list[f->at] : NULL;
    f->at++;
    if (!p || !scan_number(&p, value) || (*p == '%' ? p[1] : *p))
        return bad(j, f, "number", e);
    return 0;
}

static int take_all(const struct fio_job *j, struct fields *f, double *values, size_t count, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = take(j, f, &values[i], e);
    return rc;
}

/* min, max, mean, standard deviation; all zero where nothing was measured. */
static int take_latency(const struct fio_job *j, struct fields *f, const char *kind, bool any, struct err *e)
{
    static const char *const stats[] = {"min", "max", "mean", "stdev"};
    double values[4];
    int rc = take_all(j, f, values, 4, e);
    for (size_t i = 0; i < 4 && rc == 0 && any && values[1] > 0; i++)
        rc = fio_latency(j, kind, stats[i], values[i], e);
    return rc;
}

/* "99.000000%=569", of clat; "0%=0" are unused. */
static int take_percentiles(const struct fio_job *j, struct fields *f, bool any, struct err *e)
{
    for (size_t i = 0; i < PERCENTILES; i++) {
        const char *p = f->at < f->count ? f->list[f->at] : "";
        double percent, value;
        f->at++;
        if (!scan_number(&p, &percent) || !scan_text(&p, "%=") || !scan_number(&p, &value) || *p)
            return bad(j, f, "percentile", e);
        int rc = any ? fio_percentile(j, "clat", percent, value, e) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* min, max, share of all, mean, standard deviation; version 5: their number, and the same of IOPS. */
static int take_samples(const struct fio_job *j, struct fields *f, unsigned version, bool any, struct err *e)
{
    static const struct {
        size_t field;
        const char *name;
        enum figure_unit unit;
    } parts[] = {{0, "bandwidth_sample_min", UNIT_KIB_PER_S}, {1, "bandwidth_sample_max", UNIT_KIB_PER_S},
            {3, "bandwidth_sample_mean", UNIT_KIB_PER_S}, {4, "bandwidth_sample_stdev", UNIT_KIB_PER_S},
            {6, "iops_sample_min", UNIT_PER_S}, {7, "iops_sample_max", UNIT_PER_S},
            {8, "iops_sample_mean", UNIT_PER_S}, {9, "iops_sample_stdev", UNIT_PER_S}};
    double values[11] = {0};
    int rc = take_all(j, f, values, version == 5 ? 11 : 5, e);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == 0 && any; i++)
        if (values[i < 4 ? 1 : 7] > 0)
            rc = fio_figure(j, parts[i].name, parts[i].unit, values[parts[i].field], false, e);
    return rc;
}

static int take_direction(const struct fio_job *j, struct fields *f, unsigned version, struct err *e)
{
    double totals[4]; /* KiB, KiB/s, 1/s, ms */
    int rc = take_all(j, f, totals, 4, e);
    bool any = rc == 0 && (totals[0] > 0 || totals[3] > 0);
    if (any)
        rc = fio_figure(j, "bandwidth", UNIT_KIB_PER_S, totals[1], true, e);
    if (any && rc == 0)
        rc = fio_figure(j, "iops", UNIT_PER_S, totals[2], true, e);
    if (any && rc == 0)
        rc = fio_figure(j, "io", UNIT_KIB, totals[0], false, e);
    if (any && rc == 0)
        rc = fio_figure(j, "runtime", UNIT_MS, totals[3], false, e);
    if (rc == 0)
        rc = take_latency(j, f, "slat", any, e);
    if (rc == 0)
        rc = take_latency(j, f, "clat", any, e);
    if (rc == 0)
        rc = take_percentiles(j, f, any, e);
    if (rc == 0)
        rc = take_latency(j, f, "lat", any, e);
    return rc < 0 ? rc : take_samples(j, f, version, any, e);
}

static int take_cpu(const struct fio_job *j, struct fields *f, struct err *e)
{
    static const char *const names[] = {
            "cpu_user", "cpu_system", "context_switches", "major_faults", "minor_faults"};
    double values[5];
    int rc = take_all(j, f, values, 5, e);
    for (size_t i = 0; i < 5 && rc == 0; i++)
        rc = fio_plain(j, names[i], i < 2 ? UNIT_PERCENT : UNIT_COUNT, values[i], e);
    return rc;
}

static int read_fields(struct reading *r, struct fields *f, unsigned version, struct err *e)
{
    struct fio_job j;
    double group, error;
    f->at = version == 2 ? 1 : 2;
    if (f->count <= f->at)
        return reading_bad(r, e, "fio's terse output has no job: it is cut off");
    fio_job_begin(&j, r, f->list[f->at++]);
    int rc = take(&j, f, &group, e);
    if (rc == 0)
        rc = take(&j, f, &error, e);
    if (rc == 0 && error != 0)
        rc = fio_failed(&j, error, e);
    for (size_t d = 0; d < 3 && rc == 0; d++) {
        j.direction = &fio_directions[d];
        if (d < 2 || (f->at < f->count && !strchr(f->list[f->at], '%')))
            rc = take_direction(&j, f, version, e);
    }
    return rc < 0 ? rc : take_cpu(&j, f, e);
}

static bool begins(const struct reading *r)
{
    return terse_version(r->lines[r->at]) > 0;
}

/* Lines that follow each other are jobs of one run, also where they have the same name: fio says nothing by
 * which a second run could be told from a second job. */
static int read_run(struct reading *r, struct err *e)
{
    int rc = reading_output(r, "fio", "terse", e);
    unsigned version;
    if (rc == 0 && r->lines[r->at][0] > '2')
        rc = facts_set(&reading_current(r)->facts, e, "version", "%.*s",
                (int)strcspn(r->lines[r->at] + 6, ";"), r->lines[r->at] + 6);
    for (; rc == 0 && r->lines[r->at] && (version = terse_version(r->lines[r->at])); r->at++) {
        struct fields f CLEANUP(free_fields) = {0};
        rc = split(&f, r->lines[r->at], e);
        if (rc == 0)
            rc = read_fields(r, &f, version, e);
    }
    if (rc == 0)
        fio_one_form(r);
    return rc;
}

const struct result_ops result_fio_terse = {
        .name = "fio", .help = "terse, versions 2 to 5", .begins = begins, .read = read_run};
