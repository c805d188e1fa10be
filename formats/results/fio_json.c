/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio --output-format=json and json+ (stat.c, show_thread_status_json). Until 2.99 latencies are microseconds
 * ("clat"), since then nanoseconds ("clat_ns"). "bw" is KiB/s in all versions. "io_bytes" was KiB in some
 * of 2.x: which it is follows from bandwidth and run time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/results/fio.h"

static void free_json(struct json **j)
{
    json_free(*j);
}

/* ---- latencies ---- */

struct percentiles {
    const struct fio_job *job;
    const char *kind;
    double unit_us;
};

static int add_percentile(void *context, const char *key, const struct json *value, struct err *e)
{
    const struct percentiles *p = context;
    double percent, v = json_number(value);
    const char *end = key;
    if (!scan_number(&end, &percent) || *end || !isfinite(v))
        return reading_bad(
                p->job->r, e, "a percentile '%.40s' of job '%.100s' is none", key, p->job->workload);
    return fio_percentile(p->job, p->kind, percent, v * p->unit_us, e);
}

/* "clat" or "clat_ns" of a direction; latencies of no I/O are zeros. */
static int add_latency(const struct fio_job *j, const struct json *direction, const char *kind, struct err *e)
{
    static const char *const keys[] = {"min", "max", "mean", "stddev"};
    static const char *const stats[] = {"min", "max", "mean", "stdev"};
    char key[16];
    double unit_us = 1e-3, max = 0;
    snprintf(key, sizeof key, "%s_ns", kind);
    const struct json *latency = json_get(direction, key);
    if (!latency) {
        unit_us = 1;
        latency = json_get(direction, kind);
    }
    if (!json_get_number(latency, "max", &max) || max == 0)
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double value;
        if (!json_get_number(latency, keys[i], &value))
            continue;
        int rc = fio_latency(j, kind, stats[i], value * unit_us, e);
        if (rc < 0)
            return rc;
    }
    struct percentiles p = {j, kind, unit_us};
    return json_each(json_get(latency, "percentile"), add_percentile, &p, e);
}

static int add_latencies(const struct fio_job *j, const struct json *direction, struct err *e)
{
    int rc = add_latency(j, direction, "slat", e);
    if (rc == 0)
        rc = add_latency(j, direction, "clat", e);
    return rc < 0 ? rc : add_latency(j, direction, "lat", e);
}

/* ---- directions ---- */

/* In KiB; `bw` in KiB/s, `runtime` in ms. */
static double io_kib(const struct json *direction, double bw, double runtime)
{
    double bytes = 0, kib, wanted = bw * runtime / 1e3;
    if (json_get_number(direction, "io_kbytes", &kib))
        return kib;
    json_get_number(direction, "io_bytes", &bytes);
    return fabs(bytes - wanted) < fabs(bytes / 1024 - wanted) ? bytes : bytes / 1024;
}

static int add_samples(const struct fio_job *j, const struct json *direction, struct err *e)
{
    static const struct {
        const char *key, *name;
        enum figure_unit unit;
    } parts[] = {{"bw_min", "bandwidth_sample_min", UNIT_KIB_PER_S},
            {"bw_max", "bandwidth_sample_max", UNIT_KIB_PER_S},
            {"bw_mean", "bandwidth_sample_mean", UNIT_KIB_PER_S},
            {"bw_dev", "bandwidth_sample_stdev", UNIT_KIB_PER_S}, {"iops_min", "iops_sample_min", UNIT_PER_S},
            {"iops_max", "iops_sample_max", UNIT_PER_S}, {"iops_mean", "iops_sample_mean", UNIT_PER_S},
            {"iops_stddev", "iops_sample_stdev", UNIT_PER_S}};
    double max = 0, value;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (i % 4 == 0 && (!json_get_number(direction, parts[i + 1].key, &max) || max == 0)) {
            i += 3; /* no sample was taken */
            continue;
        }
        int rc = json_get_number(direction, parts[i].key, &value)
                         ? fio_figure(j, parts[i].name, parts[i].unit, value, false, e)
                         : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_direction(struct fio_job *j, const struct json *direction, struct err *e)
{
    double bw, iops, runtime, ios = 0, bw_bytes;
    if (!json_holds_members(direction))
        return 0;
    if (!json_get_number(direction, "bw", &bw) || !json_get_number(direction, "iops", &iops) ||
            !json_get_number(direction, "runtime", &runtime))
        return reading_bad(
                j->r, e, "job '%.100s' has no bw, iops or runtime of %s", j->workload, j->direction->name);
    if (runtime == 0 && bw == 0) /* a direction without I/O */
        return 0;
    json_get_number(direction, "total_ios", &ios);
    j->samples = ios >= 1 && ios < 1e18 ? (uint64_t)ios : 0;
    if (json_get_number(direction, "bw_bytes", &bw_bytes))
        bw = bw_bytes / 1024;
    int rc = fio_figure(j, "bandwidth", UNIT_KIB_PER_S, bw, true, e);
    if (rc == 0)
        rc = fio_figure(j, "iops", UNIT_PER_S, iops, true, e);
    if (rc == 0)
        rc = fio_figure(j, "io", UNIT_KIB, io_kib(direction, bw, runtime), false, e);
    if (rc == 0)
        rc = fio_figure(j, "runtime", UNIT_MS, runtime, false, e);
    if (rc == 0)
        rc = add_latencies(j, direction, e);
    return rc < 0 ? rc : add_samples(j, direction, e);
}

/* Flushes: only latencies. */
static int add_sync(struct fio_job *j, const struct json *sync, struct err *e)
{
    double ios = 0;
    json_get_number(sync, "total_ios", &ios);
    j->samples = ios >= 1 && ios < 1e18 ? (uint64_t)ios : 0;
    return add_latency(j, sync, "lat", e);
}

/* ---- jobs ---- */

static int add_cpu(const struct fio_job *j, const struct json *job, struct err *e)
{
    static const struct {
        const char *key, *name;
        enum figure_unit unit;
    } parts[] = {{"usr_cpu", "cpu_user", UNIT_PERCENT}, {"sys_cpu", "cpu_system", UNIT_PERCENT},
            {"ctx", "context_switches", UNIT_COUNT}, {"majf", "major_faults", UNIT_COUNT},
            {"minf", "minor_faults", UNIT_COUNT}};
    double value;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int rc = json_get_number(job, parts[i].key, &value)
                         ? fio_plain(j, parts[i].name, parts[i].unit, value, e)
                         : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* What a job was told, from "job options" or else the "global options". */
static int add_options(
        const struct fio_job *j, const struct json *options, const struct json *globals, struct err *e)
{
    static const char *const keys[] = {
            "rw", "bs", "ioengine", "iodepth", "numjobs", "size", "runtime", "direct", "rwmixread"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = json_get_text(options, keys[i]);
        if (!value)
            value = json_get_text(globals, keys[i]);
        int rc = value ? fio_fact(j, keys[i], value, e) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_job(struct reading *r, const struct json *job, const struct json *globals, struct err *e)
{
    struct fio_job j;
    const char *name = json_get_text(job, "jobname");
    double error = 0;
    if (!name)
        return reading_bad(r, e, "a job of fio without a name");
    fio_job_begin(&j, r, name);
    json_get_number(job, "error", &error);
    int rc = error != 0 ? fio_failed(&j, error, e) : 0;
    for (size_t d = 0; d < FIO_DIRECTIONS && rc == 0; d++) {
        const struct json *direction = json_get(job, fio_directions[d].name);
        j.direction = &fio_directions[d];
        rc = fio_directions[d].op == BLOCK_FLUSH ? add_sync(&j, direction, e)
                                                 : add_direction(&j, direction, e);
    }
    if (rc == 0)
        rc = add_cpu(&j, job, e);
    return rc < 0 ? rc : add_options(&j, json_get(job, "job options"), globals, e);
}

static bool begins(const struct reading *r)
{
    static const char *const keys[] = {"\"fio version\"", NULL};
    return reading_json_begins(r, keys);
}

static int read_run(struct reading *r, struct err *e)
{
    struct json *root CLEANUP(free_json) = NULL;
    int rc = reading_output(r, "fio", "JSON", e);
    size_t line = r->at;
    if (rc == 0)
        rc = reading_json(r, &root, e);
    if (rc < 0)
        return rc;
    size_t after = r->at;
    r->at = line; /* where its figures are said to be */
    const char *version = json_get_text(root, "fio version");
    const struct json *jobs = json_get(root, "jobs");
    if (!jobs) /* of a client: as seen by it, all servers' */
        jobs = json_get(root, "client_stats");
    if (version)
        rc = facts_set(&reading_current(r)->facts, e, "version", "%s",
                scan_begins(version, "fio-") ? version + 4 : version);
    if (rc == 0 && !json_length(jobs))
        rc = reading_bad(r, e, "JSON of fio without jobs");
    for (size_t i = 0; i < json_length(jobs) && rc == 0; i++)
        rc = add_job(r, json_at(jobs, i), json_get(root, "global options"), e);
    r->at = after;
    if (rc == 0)
        fio_one_form(r);
    return rc;
}

const struct result_ops result_fio_json = {
        .name = "fio", .help = "JSON and json+ of 2.1 to 3.x", .begins = begins, .read = read_run};
