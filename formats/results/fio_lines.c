/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/results/fio_lines.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers as fio writes them ---- */

/* 51.6k is 51600: powers of 1000. */
static bool scan_thousands(const char **p, double *value)
{
    static const char letters[] = "kMGTP";
    if (!scan_number(p, value))
        return false;
    const char *letter = **p == 'K' ? letters : **p ? strchr(letters, **p) : NULL;
    for (const char *l = letters; letter && l <= letter; l++)
        *value *= 1000;
    *p += letter != NULL;
    return true;
}

/* A size or, with "/s" behind it left to the caller, a rate, in bytes. `old`: K, M, ... are powers of 1024.
 */
static bool scan_bytes(const char **p, bool old, double *bytes)
{
    static const char letters[] = "KMGTPE";
    if (!scan_number(p, bytes))
        return false;
    const char *q = *p + (**p == ' ');
    const char *letter = *q == 'k' ? letters : *q ? strchr(letters, *q) : NULL;
    bool binary = letter && q[1] == 'i';
    q += letter ? 1 + binary : 0;
    for (const char *l = letters; letter && l <= letter; l++)
        *bytes *= binary || old ? 1024 : 1000;
    if (scan_begins(q, "bit"))
        *bytes /= 8, q += 3;
    else if (*q == 'B')
        q++;
    else
        return false;
    *p = q;
    return true;
}

static bool keyed_thousands(const char *line, const char *key, double *value)
{
    const char *p = scan_after(line, key);
    return p && scan_thousands(&p, value);
}

/* The unit in "clat (usec): ..." in us, or 0. */
static double unit_us(const char *line)
{
    const char *p = scan_after(line, "(");
    return !p                        ? 0
           : scan_begins(p, "nsec)") ? 1e-3
           : scan_begins(p, "usec)") ? 1
           : scan_begins(p, "msec)") ? 1e3
           : scan_begins(p, "sec)")  ? 1e6
                                     : 0;
}

/* ---- lines of a job ---- */

int fio_line_bad(const struct reading *r, struct err *e)
{
    return reading_bad(r, e, "a line of fio that cannot be understood: '%.100s'", r->lines[r->at]);
}

static int add_totals(
        struct fio_lines *s, double io, double bandwidth, double iops, double runtime, struct err *e)
{
    int rc = fio_figure(&s->job, "bandwidth", UNIT_KIB_PER_S, bandwidth / 1024, true, e);
    s->any = true;
    if (rc == 0)
        rc = fio_figure(&s->job, "iops", UNIT_PER_S, iops, true, e);
    if (rc == 0)
        rc = fio_figure(&s->job, "io", UNIT_KIB, io / 1024, false, e);
    return rc < 0 ? rc : fio_figure(&s->job, "runtime", UNIT_MS, runtime, false, e);
}

/* "io=660996KB, bw=220259KB/s, iops=55064, runt= 3001msec" */
static int old_totals(struct fio_lines *s, const char *line, struct err *e)
{
    const char *io_at = scan_after(line, "io="), *bw_at = scan_after(line, "bw="),
               *runtime_at = scan_after(line, "runt=");
    double io, bandwidth, iops, runtime;
    if (!io_at || !bw_at || !runtime_at || !scan_bytes(&io_at, true, &io) ||
            !scan_bytes(&bw_at, true, &bandwidth) || !scan_begins(bw_at, "/s") ||
            !keyed_thousands(line, "iops=", &iops) || !scan_number(&runtime_at, &runtime) ||
            !scan_text(&runtime_at, "msec"))
        return fio_line_bad(s->job.r, e);
    return add_totals(s, io, bandwidth, iops, runtime, e);
}

/* "IOPS=52.1k, BW=204MiB/s (214MB/s)(611MiB/3001msec)" */
static int new_totals(struct fio_lines *s, const char *line, struct err *e)
{
    const char *bw_at = scan_after(line, "BW="), *io_at = bw_at ? strrchr(bw_at, '(') : NULL;
    double io, bandwidth, iops, runtime;
    if (!io_at || !scan_bytes(&bw_at, false, &bandwidth) || !scan_begins(bw_at, "/s") ||
            !keyed_thousands(line, "IOPS=", &iops) || !(io_at++, scan_bytes(&io_at, false, &io)) ||
            *io_at++ != '/' || !scan_number(&io_at, &runtime) || !scan_text(&io_at, "msec)"))
        return fio_line_bad(s->job.r, e);
    return add_totals(s, io, bandwidth, iops, runtime, e);
}

/* "min=1, max=166, avg= 5.05, stdev= 5.12"; the last needs an end, so that a cut number is seen. */
static int latency_line(struct fio_lines *s, const char *kind, const char *line, struct err *e)
{
    static const char *const keys[] = {"min=", "max=", "avg=", "stdev="};
    static const char *const stats[] = {"min", "max", "mean", "stdev"};
    double unit = unit_us(line), value;
    if (unit == 0)
        return fio_line_bad(s->job.r, e);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!keyed_thousands(line, keys[i], &value))
            return fio_line_bad(s->job.r, e);
        int rc = fio_latency(&s->job, kind, stats[i], value * unit, e);
        if (rc < 0)
            return rc;
    }
    s->any = true;
    return 0;
}

/* "| 1.00th=[ 107], 5.00th=[ 133]," */
static int percentile_line(struct fio_lines *s, const char *line, struct err *e)
{
    const char *p = line;
    while (p && *p) {
        double percent, value;
        scan_text(&p, "|");
        if (!scan_number(&p, &percent) || !scan_text(&p, "th=[") || !scan_thousands(&p, &value) ||
                !scan_text(&p, "]"))
            return fio_line_bad(s->job.r, e);
        int rc = fio_percentile(&s->job, s->kind, percent, value * s->unit_us, e);
        if (rc < 0)
            return rc;
        scan_text(&p, ",");
        while (*p == ' ')
            p++;
    }
    return 0;
}

/* "bw ( KiB/s): min=84048, max=131927, per=0.05%, avg=106169.82, stdev=12821.73, samples=14", and "iops :
 * ..." */
static int sample_line(struct fio_lines *s, const char *what, const char *line, struct err *e)
{
    static const char *const keys[] = {"min=", "max=", "avg=", "stdev="};
    static const char *const stats[] = {"sample_min", "sample_max", "sample_mean", "sample_stdev"};
    char name[FIO_FIGURE_BYTES], unit_text[16], one[20];
    double unit = 1, value;
    const char *open = strchr(line, '('), *close = strchr(line, ')');
    bool rate = open && close && open < close && open < strstr(line, "min=");
    if (rate) {
        size_t n = 0;
        for (const char *q = open + 1; q < close && n + 1 < sizeof unit_text; q++)
            if (*q != ' ')
                unit_text[n++] = *q;
        unit_text[n] = 0;
        snprintf(one, sizeof one, "1%s", unit_text);
        const char *p = one;
        if (!scan_bytes(&p, s->old, &unit))
            return fio_line_bad(s->job.r, e);
        unit /= 1024;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!keyed_thousands(line, keys[i], &value))
            return fio_line_bad(s->job.r, e);
        snprintf(name, sizeof name, "%s_%s", what, stats[i]);
        int rc = fio_figure(&s->job, name, rate ? UNIT_KIB_PER_S : UNIT_PER_S, value * unit, false, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int cpu_line(struct fio_lines *s, const char *line, struct err *e)
{
    static const struct {
        const char *key, *name;
        enum figure_unit unit;
    } parts[] = {{"usr=", "cpu_user", UNIT_PERCENT}, {"sys=", "cpu_system", UNIT_PERCENT},
            {"ctx=", "context_switches", UNIT_COUNT}, {"majf=", "major_faults", UNIT_COUNT},
            {"minf=", "minor_faults", UNIT_COUNT}};
    double value;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!scan_keyed(line, parts[i].key, &value))
            return fio_line_bad(s->job.r, e);
        int rc = fio_plain(&s->job, parts[i].name, parts[i].unit, value, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* "issued : total=r=165249/w=67827/d=0, short=..." and "issued rwts: total=206262,88369,0,0 short=..." */
static int issued_line(struct fio_lines *s, const char *line, struct err *e)
{
    const char *p = scan_after(line, "total=");
    for (size_t i = 0; p && i < FIO_DIRECTIONS; i++) {
        if (*p == 'r' || *p == 'w' || *p == 'd' || *p == 's')
            p += 2;
        if (!scan_number(&p, &s->ios[i]))
            return i >= 2 ? 0 : fio_line_bad(s->job.r, e);
        if (*p != ',' && *p != '/')
            return 0;
        p++;
    }
    return p ? 0 : fio_line_bad(s->job.r, e);
}

/* ---- a job ---- */

/* Sets the direction that the line begins; -1: it begins none. */
static int direction_of(const char *line)
{
    static const char *const begins[] = {"read", "write", "trim"};
    for (int i = 0; i < 3; i++) {
        const char *p = line;
        if (scan_text(&p, begins[i]) && scan_text(&p, ":") && (strstr(p, "IOPS=") || strstr(p, "io=")))
            return i;
    }
    return strncmp(line, "fsync/fdatasync/", 16) == 0 ? 3 : -1;
}

/* "slat", "clat", "lat" or "sync" in front of " (usec)" or " percentiles (usec)"; NULL for others. */
static const char *kind_of(const char *line, const char *behind)
{
    static const char *const kinds[] = {"slat", "clat", "lat", "sync"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *p = line;
        if (scan_text(&p, kinds[i]) && scan_text(&p, behind))
            return strcmp(kinds[i], "sync") == 0 ? "lat" : kinds[i];
    }
    return NULL;
}

bool fio_line(struct fio_lines *s, const char *line, int *rc, struct err *e)
{
    int direction = direction_of(line);
    const char *kind = NULL;
    *rc = 0;
    if (*line != '|')
        s->kind = NULL;
    if (direction >= 0) {
        s->job.direction = &fio_directions[direction];
        s->old = direction < 3 && !strstr(line, "IOPS=");
        if (direction < 3)
            *rc = s->old ? old_totals(s, line, e) : new_totals(s, line, e);
    } else if (*line == '|' && s->unit_us > 0 && s->kind)
        *rc = percentile_line(s, line, e);
    else if (kind_of(line, "percentiles (")) {
        s->kind = kind_of(line, "percentiles (");
        s->unit_us = unit_us(line);
    } else if ((kind = kind_of(line, "(")) && strstr(line, "min="))
        *rc = latency_line(s, kind, line, e);
    else if (kind) /* "lat (usec) : 20=0.01%": shares of all directions, of no use to a comparison */
        return true;
    else if (scan_begins(line, "bw (") && strstr(line, "min="))
        *rc = sample_line(s, "bandwidth", line, e);
    else if (scan_begins(line, "iops :") && strstr(line, "min="))
        *rc = sample_line(s, "iops", line, e);
    else if (scan_begins(line, "cpu :"))
        *rc = cpu_line(s, line, e);
    else if (scan_begins(line, "issued") && strstr(line, "total="))
        *rc = issued_line(s, line, e);
    else
        return scan_begins(line, "IO depths :") || scan_begins(line, "submit :") ||
               scan_begins(line, "complete :") || scan_begins(line, "latency :");
    return true;
}

void fio_lines_end(struct fio_lines *s)
{
    struct output *o = reading_current(s->job.r);
    for (size_t i = s->first; i < o->count; i++)
        for (size_t d = 0; d < FIO_DIRECTIONS; d++)
            if (o->figures[i].quantile > 0 && o->figures[i].op == fio_directions[d].op && s->ios[d] > 0)
                o->figures[i].samples = (uint64_t)s->ios[d];
}
