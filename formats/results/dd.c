/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * dd: GNU's "N bytes (...) copied, S s, R MB/s", BSD's "N bytes transferred in S secs (...)", BusyBox's "N
 * bytes
 * (...) copied, S seconds, R MB/s". The rate is bytes by seconds in 10^6 bytes a second: the printed one is
 * rounded to two digits, and BusyBox's MB is 2^20; but it has to agree.
 *
 * dd does not say what it did; where its command line stands before, its if= and of= do.
 */
#include <math.h>
#include <string.h>

#include "formats/results/reading.h"

#define COMMAND_LINES 4 /* from the command down to the result: records in, records out, truncated */

struct dd {
    double bytes, seconds;
    const char *rate; /* the printed one, after it; NULL for none */
};

/* Both forms; false for any other line, also for one with several results, which is progress. */
static bool scan_dd(const char *line, struct dd *d)
{
    const char *p = line, *copied = scan_after(line, " copied, ");
    if (!scan_number(&p, &d->bytes) || (!scan_text(&p, "bytes") && !scan_text(&p, "byte")))
        return false;
    d->rate = NULL;
    if (copied) {
        p = copied;
        if (strstr(p, " copied, ") || !scan_number(&p, &d->seconds) || !scan_text(&p, "s"))
            return false;
        d->rate = scan_after(p, ", ");
        return d->rate;
    }
    return scan_text(&p, "transferred in") && scan_number(&p, &d->seconds) && scan_text(&p, "sec");
}

/* "256+0 records out", in any language. */
static bool is_records(const char *line)
{
    const char *p = line;
    double whole, part;
    return line && scan_number(&p, &whole) && *p == '+' && scan_number(&p, &part);
}

/* Lines of status=progress are followed by the records, the result comes after them. */
static bool begins(const struct reading *r)
{
    struct dd d;
    return scan_dd(r->lines[r->at], &d) && !is_records(reading_next(r));
}

static bool agrees(double rate, double printed)
{
    return fabs(rate - printed) <= 0.06 * printed || printed == 0;
}

/* "6.6 GB/s", "492.4MB/s", "11.2 kB/s": in MB of 10^6, `binary` as powers of 1024. */
static bool scan_rate(const char *p, bool binary, double *rate)
{
    static const char letters[] = "kMGT";
    if (!scan_number(&p, rate))
        return false;
    while (*p == ' ')
        p++;
    const char *letter = *p == 'K' ? letters : *p ? strchr(letters, *p) : NULL;
    for (const char *l = letters; letter && l <= letter; l++)
        *rate *= binary ? 1024 : 1000;
    *rate /= 1e6;
    p += letter != NULL;
    return *p == 'B' || scan_begins(p, "iB") || scan_begins(p, "bytes");
}

/* "read", "write" or "copy", by the command line above; "" where there is none. */
static const char *direction(const struct reading *r)
{
    for (size_t n = 0, i = r->at; n < COMMAND_LINES && i-- > 0;) {
        const char *line = r->lines[i], *command = strstr(line, "dd ");
        n += *line != 0;
        if (!command || (!strstr(command, "if=") && !strstr(command, "of=")))
            continue;
        if (strstr(command, "of=/dev/null"))
            return "read";
        return strstr(command, "if=/dev/zero") || strstr(command, "random") ? "write" : "copy";
    }
    return "";
}

static int read_run(struct reading *r, struct err *e)
{
    struct dd d;
    double decimal, binary;
    const char *workload = direction(r);
    enum block_op op = strcmp(workload, "read") == 0 ? BLOCK_READ
                       : *workload == 'w'            ? BLOCK_WRITE
                                                     : BLOCK_OPS;
    scan_dd(r->lines[r->at], &d);
    if (!(d.seconds > 0))
        return reading_bad(r, e, "dd's copy took no time: '%.100s'", r->lines[r->at]);
    double rate = d.bytes / d.seconds / 1e6;
    if (d.rate && (!scan_rate(d.rate, false, &decimal) || !scan_rate(d.rate, true, &binary) ||
                          (!agrees(rate, decimal) && !agrees(rate, binary))))
        return reading_bad(
                r, e, "dd's rate does not follow from its bytes and seconds: '%.100s'", r->lines[r->at]);
    int rc = reading_output(r, "dd", "text", e);
    if (rc == 0)
        rc = reading_figure(r, workload, "bandwidth",
                (struct figure){.unit = UNIT_MB_PER_S, .value = rate, .op = op, .compared = true}, e);
    if (rc == 0)
        rc = reading_figure(
                r, workload, "amount", (struct figure){.unit = UNIT_B, .value = d.bytes, .op = op}, e);
    if (rc == 0)
        rc = reading_figure(
                r, workload, "time", (struct figure){.unit = UNIT_S, .value = d.seconds, .op = op}, e);
    r->at++;
    return rc;
}

const struct result_ops result_dd = {
        .name = "dd", .help = "GNU, BSD, BusyBox", .begins = begins, .read = read_run};
