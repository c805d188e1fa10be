/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/results/hints.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* The first line that is not empty; NULL for none. */
static const char *first_line(const struct reading *r)
{
    for (size_t i = 0; i < r->line_count; i++)
        if (*r->lines[i])
            return r->lines[i];
    return NULL;
}

static bool is_only_line(const struct reading *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->line_count; i++)
        count += *r->lines[i] != 0;
    return count == 1;
}

/* "100, 91647, 0, 0, 0": numbers alone, separated by commas, four of them at least. */
static bool is_log(const char *line)
{
    size_t count = 1;
    for (const char *p = line; *p; p++) {
        if (!isdigit((unsigned char)*p) && *p != ',' && *p != ' ' && *p != 'x')
            return false;
        count += *p == ',';
    }
    return count >= 4;
}

static bool holds(const struct reading *r, const char *text)
{
    return memmem(r->raw, r->raw_len, text, strlen(text));
}

static const char *hint(const struct reading *r, const char *line)
{
    double number;
    const char *p = line;
    if (is_log(line))
        return "is a log of fio (write_bw_log, write_lat_log, ...): samples, and no result";
    if (scan_begins(line, "fio version ") && strstr(line, "iolog"))
        return "is a trace of fio (write_iolog), and no result: 'iotape-record --import' makes a tape of it";
    if (holds(r, "<html") || holds(r, "<HTML") || holds(r, "<!DOCTYPE html"))
        return "is an HTML page: take the text or CSV that it was made from";
    if (holds(r, "Can't write() - disk full?"))
        return "is of a bonnie++ that failed: \"Can't write() - disk full?\"";
    if (holds(r, "Writing intelligently...") || holds(r, "Writing a byte at a time..."))
        return "is what bonnie++ says while it runs: its results are on its standard output";
    if (is_only_line(r) && scan_number(&p, &number) && !*p)
        return "is a number alone: of which test and in which unit cannot be known (netperf without -P 0 -v "
               "0 says)";
    if (is_only_line(r) && (scan_begins(line, "fio-") || scan_begins(line, "Netperf version")))
        return "is a tool's version, and no result";
    if (holds(r, "iperf3: error"))
        return "is of an iperf3 that failed";
    return NULL;
}

int hints_refuse(const struct reading *r, struct err *e)
{
    const char *line = first_line(r), *text = line ? hint(r, line) : "is empty";
    if (text)
        return err_set(e, EINVAL, "'%s' %s", r->name, text);
    return err_set(e, EINVAL,
            "'%s' is neither a tape nor a run, nor does it hold a result of a tool that is known", r->name);
}
