/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hdparm -t and -T (time_device, hdparm.c): "DEVICE:" and below it "Timing WHAT: N MB in S seconds = R
 * MB/sec", or kB/sec where that is less than one a second. Its MB is 2^20 and its kB 1024 bytes.
 */
#include <stdio.h>
#include <string.h>

#include "formats/results/reading.h"

#define KIND_BYTES 80
#define KINDS_MAX  16 /* of one run */

static bool is_device(const char *line)
{
    size_t len = strlen(line);
    return line[0] == '/' && len > 1 && line[len - 1] == ':' && !strchr(line, ' ');
}

/* Whether the line is a timing; what was read in `kind`, the text behind it in *rest. */
static bool is_timing(const char *line, char kind[KIND_BYTES], const char **rest)
{
    const char *p = line ? scan_after(line, "Timing ") : NULL, *colon = p ? strchr(p, ':') : NULL;
    const char *reads = p ? strstr(p, "reads") : NULL;
    if (!colon || !reads || reads > colon || colon - p >= KIND_BYTES)
        return false;
    snprintf(kind, KIND_BYTES, "%.*s", (int)(colon - p), p);
    *rest = colon + 1;
    return true;
}

static bool begins(const struct reading *r)
{
    char kind[KIND_BYTES];
    const char *line = r->lines[r->at], *next = r->lines[r->at + 1], *rest;
    return is_timing(line, kind, &rest) || (is_device(line) && is_timing(next, kind, &rest));
}

/* Whether the run is over: it has this kind, or all that there may be. */
static bool has_workload(const struct output *o, const char *workload)
{
    if (o->count >= 3 * KINDS_MAX)
        return true;
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->figures[i].workload, workload) == 0)
            return true;
    return false;
}

/* Leaves *rest behind the timing. */
static int read_timing(struct reading *r, const char *kind, const char **rest, struct err *e)
{
    double amount, seconds, rate;
    bool known = scan_number(rest, &amount) && scan_text(rest, "MB in") && scan_number(rest, &seconds) &&
                 scan_text(rest, "seconds") && scan_text(rest, "=") && scan_number(rest, &rate);
    bool mega = known && scan_text(rest, "MB/sec");
    if (!known || (!mega && !scan_text(rest, "kB/sec")))
        return reading_bad(r, e, "a timing of hdparm that cannot be understood: '%.100s'", r->lines[r->at]);
    int rc = reading_figure(r, kind, "read_bandwidth",
            (struct figure){.unit = UNIT_MIB_PER_S,
                    .value = mega ? rate : rate / 1024,
                    .op = BLOCK_READ,
                    .compared = true},
            e);
    if (rc == 0)
        rc = reading_figure(
                r, kind, "amount", (struct figure){.unit = UNIT_MIB, .op = BLOCK_READ, .value = amount}, e);
    return rc < 0 ? rc
                  : reading_figure(r, kind, "time",
                            (struct figure){.unit = UNIT_S, .op = BLOCK_READ, .value = seconds}, e);
}

/* All timings of one run: a kind that comes again is the next run's. */
static int read_run(struct reading *r, struct err *e)
{
    char kind[KIND_BYTES];
    int rc = reading_output(r, "hdparm", "text", e);
    if (rc == 0 && is_device(r->lines[r->at])) {
        rc = facts_set(&reading_current(r)->facts, e, "device", "%.*s", (int)strlen(r->lines[r->at]) - 1,
                r->lines[r->at]);
        r->at++;
    }
    for (; rc == 0 && r->lines[r->at]; r->at++) {
        const char *p = r->lines[r->at];
        if (!*p) /* as in mails with doubled line ends */
            continue;
        if (!is_timing(p, kind, &p) || has_workload(reading_current(r), kind))
            break;
        do /* more than one where line ends were lost */
            rc = read_timing(r, kind, &p, e);
        while (rc == 0 && is_timing(p, kind, &p));
    }
    return rc;
}

const struct result_ops result_hdparm = {.name = "hdparm",
        .help = "-t and -T, also --direct and --offset",
        .begins = begins,
        .read = read_run};
