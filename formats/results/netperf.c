/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * netperf 2.x (src/nettest_bsd.c, nettest_omni.c): a line "... TEST from HOST ...", a table's head with a
 * line of units, and a line of values; for omni CSV, or KEY=VALUE lines. Its K, M, G bytes (-f K, M, G) are
 * powers of 1024; its bits are powers of 1000.
 *
 * Which values they are is told by the units: "bytes bytes bytes secs." begins a stream's, one "bytes" more
 * those of requests and responses; those of a UDP stream are two lines, the sender's and the receiver's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/csv_text.h"
#include "formats/results/netperf.h"

#define NUMBERS_MAX 16

/* ---- lines ---- */

/* All numbers of a line that holds nothing else; 0 for another. */
static size_t scan_numbers(const char *line, double numbers[NUMBERS_MAX])
{
    size_t count = 0;
    while (line && *line && count < NUMBERS_MAX) {
        if (!scan_number(&line, &numbers[count++]) || (*line && *line != ' '))
            return 0;
    }
    return count;
}

static bool begins(const struct reading *r)
{
    return netperf_test(r->lines[r->at], NULL, 0);
}

/* Goes on to the next line that `is`; false where another output begins before, or the text ends. */
static bool go_to(struct reading *r, bool (*is)(const char *line))
{
    while (r->lines[r->at] && !is(r->lines[r->at])) {
        r->at++;
        if (r->lines[r->at] && reading_begins(r))
            return false;
    }
    return r->lines[r->at];
}

static bool is_values(const char *line)
{
    double numbers[NUMBERS_MAX];
    return scan_numbers(line, numbers) >= 4;
}

static int cut_off(const struct reading *r, size_t begin, const char *what, struct err *e)
{
    struct reading at = *r;
    at.at = begin;
    return reading_bad(&at, e,
            "netperf's output has no %s that can be understood: it is cut off, or of a kind that "
            "is not known",
            what);
}

static int add(struct reading *r, const char *test, const char *name, enum figure_unit unit, double value,
        bool compared, struct err *e)
{
    return reading_figure(r, test, name,
            (struct figure){.unit = unit, .value = value, .op = BLOCK_OPS, .compared = compared}, e);
}

/* ---- tables ---- */

static bool is_stream_units(const char *line)
{
    return scan_begins(line, "bytes bytes bytes secs. ");
}
static bool is_udp_units(const char *line)
{
    return scan_begins(line, "bytes bytes secs # # ");
}
static bool is_request_units(const char *line)
{
    return scan_begins(line, "bytes bytes bytes bytes secs. per sec") ||
           scan_begins(line, "bytes Bytes bytes bytes secs. per sec");
}
static bool is_units(const char *line)
{
    return is_stream_units(line) || is_udp_units(line) || is_request_units(line);
}
static bool is_round_trip(const char *line)
{
    return strstr(line, "usec/Tran") != NULL;
}

/* The unit that stands behind `before` in the line of units. */
static bool unit_of(const char *line, const char *before, double *to_mbit, enum figure_unit *unit)
{
    return netperf_unit(scan_after(line, before), to_mbit, unit);
}

static int read_stream(struct reading *r, const char *test, size_t begin, struct err *e)
{
    double values[NUMBERS_MAX], factor;
    enum figure_unit unit;
    if (!unit_of(r->lines[r->at], "secs. ", &factor, &unit))
        return reading_bad(r, e, "netperf's throughput is in an unknown unit: '%.100s'", r->lines[r->at]);
    r->at++;
    if (!go_to(r, is_values) || scan_numbers(r->lines[r->at], values) < 5)
        return cut_off(r, begin, "throughput", e);
    int rc = add(r, test, "bandwidth", unit, values[4] * factor, true, e);
    return rc < 0 ? rc : add(r, test, "time", UNIT_S, values[3], false, e);
}

static int read_udp(struct reading *r, const char *test, size_t begin, struct err *e)
{
    double sent[NUMBERS_MAX], received[NUMBERS_MAX], factor;
    enum figure_unit unit;
    if (!unit_of(r->lines[r->at], "# # ", &factor, &unit))
        return reading_bad(r, e, "netperf's throughput is in an unknown unit: '%.100s'", r->lines[r->at]);
    r->at++;
    if (!go_to(r, is_values) || scan_numbers(r->lines[r->at], sent) < 6)
        return cut_off(r, begin, "line of the sender", e);
    int rc = add(r, test, "sent_bandwidth", unit, sent[5] * factor, true, e);
    if (rc == 0)
        rc = add(r, test, "time", UNIT_S, sent[2], false, e);
    if (rc == 0)
        rc = add(r, test, "errors", UNIT_COUNT, sent[4], false, e);
    r->at++;
    if (rc == 0 && (!go_to(r, is_values) || scan_numbers(r->lines[r->at], received) < 4))
        return cut_off(r, begin, "line of the receiver", e);
    return rc < 0 ? rc : add(r, test, "received_bandwidth", unit, received[3] * factor, true, e);
}

/* -v 2 adds a second table, whose fifth value is the round trip. */
static int read_requests(struct reading *r, const char *test, size_t begin, struct err *e)
{
    double values[NUMBERS_MAX];
    r->at++;
    if (!go_to(r, is_values) || scan_numbers(r->lines[r->at], values) < 6)
        return cut_off(r, begin, "transactions", e);
    int rc = add(r, test, "transactions", UNIT_PER_S, values[5], true, e);
    if (rc == 0)
        rc = add(r, test, "time", UNIT_S, values[4], false, e);
    size_t at = r->at++;
    for (size_t n = 0; n < 6 && r->lines[r->at] && !is_round_trip(r->lines[r->at]); n++)
        r->at++;
    const char *line = r->lines[r->at] && is_round_trip(r->lines[r->at]) ? reading_next(r) : NULL;
    if (rc < 0 || scan_numbers(line, values) < 6) {
        r->at = at;
        return rc;
    }
    r->at++;
    return add(r, test, "round_trip_mean", UNIT_US, values[4], true, e);
}

/* ---- an output ---- */

static bool is_body(const char *line)
{
    return is_units(line) || netperf_is_csv(line) || netperf_is_keyed(line);
}

static int read_run(struct reading *r, struct err *e)
{
    char test[NETPERF_TEST_BYTES];
    size_t begin = r->at;
    netperf_test(r->lines[r->at], test, sizeof test);
    int rc = reading_output(r, "netperf", "text", e);
    r->at++;
    if (rc < 0)
        return rc;
    if ((r->lines[r->at] && reading_begins(r)) || !go_to(r, is_body))
        return cut_off(r, begin, "values", e);
    const char *line = r->lines[r->at];
    if (netperf_is_keyed(line))
        return netperf_read_keyed(r, test, e);
    if (netperf_is_csv(line))
        return netperf_read_csv(r, test, e);
    rc = is_stream_units(line) ? read_stream(r, test, begin, e)
         : is_udp_units(line)  ? read_udp(r, test, begin, e)
                               : read_requests(r, test, begin, e);
    r->at++;
    return rc;
}

const struct result_ops result_netperf = {.name = "netperf",
        .help = "TCP_STREAM, TCP_RR, UDP_STREAM and their kin; omni's CSV and key=value",
        .begins = begins,
        .read = read_run};
