/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio's text for people (stat.c, show_thread_status_normal), 2.0 to 3.x. Up to 2.15 or so its KB is 1024
 * bytes
 * ("io=660996KB, bw=220259KB/s, iops=55064, runt= 3001msec"); since then units say what they are
 * ("IOPS=52.1k, BW=204MiB/s (214MB/s)(611MiB/3001msec)"). Each latency line has its own unit.
 *
 * An output begins with a job's "NAME: (groupid=0, jobs=2): err= 0: pid=...". What comes before it ("NAME:
 * (g=0): rw=..., bs=...", "fio-3.33") is looked up for its description.
 */
#include <stdio.h>
#include <string.h>

#include "formats/results/fio_lines.h"

#define DESCRIPTION_LINES 400 /* before a job; progress lines may stand between */

/* ---- descriptions ---- */

/* "NAME: (groupid=0, jobs=2): err= 0: ..."; the length of NAME, or 0. */
static size_t job_name(const char *line)
{
    const char *p = line ? strstr(line, ": (groupid=") : NULL;
    return p && p > line && strstr(p, "jobs=") && strstr(p, "err=") ? (size_t)(p - line) : 0;
}

static bool is_banner(const char *line)
{
    const char *p = strstr(line, ": (g=");
    return p && scan_after(p, "rw=");
}

/* "rw=randrw, bs=..., ioengine=..., iodepth=8" as facts; a value ends at a comma outside of brackets that is
 * followed by the next key, or at the end. */
static int banner_facts(const struct fio_job *j, const char *p, struct err *e)
{
    static const char *const keys[] = {"rw=", "bs=", "ioengine=", "iodepth="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[16], value[FIO_NAME_BYTES];
        const char *from = scan_after(p, keys[i]);
        const char *end = from && i + 1 < sizeof keys / sizeof *keys ? strstr(from, keys[i + 1]) : NULL;
        if (!from)
            continue;
        size_t len = end ? (size_t)(end - from) : strlen(from);
        while (len && (from[len - 1] == ' ' || from[len - 1] == ','))
            len--;
        snprintf(value, sizeof value, "%.*s", (int)(len < sizeof value ? len : sizeof value - 1), from);
        snprintf(key, sizeof key, "%.*s", (int)strlen(keys[i]) - 1, keys[i]);
        int rc = fio_fact(j, key, value, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* From the lines before the output's first: fio's version, and this job's banner. */
static int describe(const struct fio_job *j, const char *name, size_t name_len, size_t before, struct err *e)
{
    struct facts *facts = &reading_current(j->r)->facts;
    char word[64];
    for (size_t n = 0; n < DESCRIPTION_LINES && before-- > 0; n++) {
        const char *line = j->r->lines[before], *p = line;
        if (job_name(line))
            return 0;
        if (strncmp(line, name, name_len) == 0 && is_banner(line) && scan_begins(line + name_len, ": (g="))
            return banner_facts(j, line, e);
        if (!facts_get(facts, "version") && scan_begins(line, "fio-") && scan_word(&p, word, sizeof word) &&
                !*p) {
            int rc = facts_set(facts, e, "version", "%s", word + 4);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* ---- an output ---- */

/* What closes one run, so that a job after it is another's. */
static bool ends_run(const char *line)
{
    return scan_begins(line, "Run status group") || is_banner(line) || scan_begins(line, "fio-");
}

static int read_job(struct reading *r, size_t before, double *jobs, struct err *e)
{
    struct fio_lines s = {0};
    char name[FIO_NAME_BYTES];
    const char *line = r->lines[r->at];
    size_t name_len = job_name(line), begin = r->at;
    double error;
    int rc = 0;
    snprintf(name, sizeof name, "%.*s", (int)(name_len < sizeof name ? name_len : sizeof name - 1), line);
    fio_job_begin(&s.job, r, name);
    s.first = reading_current(r)->count;
    if (!scan_keyed(line, "err=", &error) || !scan_keyed(line, "jobs=", jobs))
        return fio_line_bad(r, e);
    rc = describe(&s.job, name, name_len, before, e);
    if (rc == 0 && error != 0)
        rc = fio_failed(&s.job, error, e);
    bool known = true;
    for (r->at++; rc == 0 && r->lines[r->at]; r->at++) {
        line = r->lines[r->at];
        if (job_name(line) || ends_run(line) || (!(known = fio_line(&s, line, &rc, e)) && reading_begins(r)))
            break;
    }
    fio_lines_end(&s);
    if (rc == 0 && !s.any && error == 0) {
        r->at = begin;
        return reading_bad(r, e, "fio's job '%s' has no figures here: the output is cut off", name);
    }
    return rc;
}

static bool begins(const struct reading *r)
{
    return job_name(r->lines[r->at]) > 0;
}

/* Whether the job at r->at is of the run that the output is: several jobs of one name are one run's where
 * each is a job by itself (jobs=1). */
static bool goes_on(const struct reading *r, double jobs)
{
    const char *line = r->lines[r->at];
    size_t len = job_name(line);
    const struct output *o = reading_current(r);
    if (!len)
        return false;
    if (jobs == 1)
        return true;
    for (size_t i = 0; i < o->count; i++)
        if (strlen(o->figures[i].workload) == len && strncmp(o->figures[i].workload, line, len) == 0)
            return false;
    return true;
}

static int read_run(struct reading *r, struct err *e)
{
    size_t before = r->at;
    double jobs;
    int rc = reading_output(r, "fio", "text", e);
    do
        rc = rc < 0 ? rc : read_job(r, before, &jobs, e);
    while (rc == 0 && r->lines[r->at] && goes_on(r, jobs));
    if (rc == 0)
        fio_one_form(r);
    return rc;
}

const struct result_ops result_fio = {
        .name = "fio", .help = "text of 2.0 to 3.x", .begins = begins, .read = read_run};
