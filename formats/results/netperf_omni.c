/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * netperf's names, and values that it was told to print by name (nettest_omni.c, netperf_output_source[]).
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/csv_text.h"
#include "formats/results/netperf.h"

/* ---- names ---- */

/* "MIGRATED TCP REQUEST/RESPONSE TEST from ...": the words in capitals before TEST. */
bool netperf_test(const char *line, char *test, size_t size)
{
    static const char *const renamed[][2] = {{"TCP_REQUEST/RESPONSE", "TCP_RR"},
            {"UDP_REQUEST/RESPONSE", "UDP_RR"}, {"TCP_Connect/Request/Response", "TCP_CRR"},
            {"OMNI_Send|Recv", "omni"}};
    const char *end = strstr(line, " TEST from "), *p = scan_begins(line, "MIGRATED ") ? line + 9 : line;
    char name[NETPERF_TEST_BYTES];
    if (!end || end <= p || (size_t)(end - p) >= sizeof name || !isupper((unsigned char)*p))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - p), p);
    for (char *c = name; *c; c++)
        if (*c == ' ')
            *c = '_';
    const char *known = name;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcasecmp(name, renamed[i][0]) == 0)
            known = renamed[i][1];
    if (test)
        snprintf(test, size, "%s", known);
    return true;
}

bool netperf_unit(const char *text, double *factor, enum figure_unit *unit)
{
    static const struct {
        const char *text;
        enum figure_unit unit;
        double factor;
    } units[] = {{"10^9bits", UNIT_MBIT_PER_S, 1e3}, {"10^6bits", UNIT_MBIT_PER_S, 1},
            {"10^3bits", UNIT_MBIT_PER_S, 1e-3}, {"GBytes", UNIT_MIB_PER_S, 1024},
            {"MBytes", UNIT_MIB_PER_S, 1}, {"KBytes", UNIT_MIB_PER_S, 1.0 / 1024},
            {"Bytes", UNIT_MIB_PER_S, 1.0 / 1048576}, {"Trans", UNIT_PER_S, 1}};
    for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
        if (scan_begins(text, units[i].text)) {
            *factor = units[i].factor;
            *unit = units[i].unit;
            return true;
        }
    return false;
}

/* ---- named values ---- */

static const struct {
    const char *key, *title; /* with -k, with -o */
    const char *name;
    enum figure_unit unit;
    bool compared, tail;
    double quantile;
} known[] = {
        {"ELAPSED_TIME", "Elapsed Time (sec)", "time", UNIT_S, false, false, 0},
        {"MIN_LATENCY", "Minimum Latency Microseconds", "latency_min", UNIT_US, false, false, 0},
        {"MEAN_LATENCY", "Mean Latency Microseconds", "latency_mean", UNIT_US, true, false, 0},
        {"P50_LATENCY", "50th Percentile Latency Microseconds", "latency_p50", UNIT_US, true, false, 0.5},
        {"P90_LATENCY", "90th Percentile Latency Microseconds", "latency_p90", UNIT_US, true, false, 0.9},
        {"P99_LATENCY", "99th Percentile Latency Microseconds", "latency_p99", UNIT_US, true, true, 0.99},
        {"MAX_LATENCY", "Maximum Latency Microseconds", "latency_max", UNIT_US, true, true, 0},
        {"STDDEV_LATENCY", "Stddev Latency Microseconds", "latency_stdev", UNIT_US, false, false, 0},
};
#define KNOWN (sizeof known / sizeof *known)

/* A value that nobody knows is none of ours; an empty one was not measured. */
static int add_known(struct reading *r, const char *test, size_t which, const char *text, struct err *e)
{
    const char *p = text;
    struct figure f = {.unit = known[which].unit,
            .op = BLOCK_OPS,
            .compared = known[which].compared,
            .tail = known[which].tail,
            .quantile = known[which].quantile};
    if (!*text)
        return 0;
    if (!scan_number(&p, &f.value) || *p)
        return reading_bad(r, e, "netperf's %s is no number: '%.40s'", known[which].key, text);
    if (f.value < 0) /* -1: not measured */
        return 0;
    return reading_figure(r, test, known[which].name, f, e);
}

static int add_throughput(
        struct reading *r, const char *test, const char *value, const char *unit_text, struct err *e)
{
    double number, factor;
    enum figure_unit unit;
    if (!scan_number(&value, &number) || *value || !netperf_unit(unit_text, &factor, &unit))
        return reading_bad(
                r, e, "netperf's throughput of '%.40s' cannot be understood", unit_text ? unit_text : "");
    return reading_figure(r, test, unit == UNIT_PER_S ? "transactions" : "bandwidth",
            (struct figure){.unit = unit, .value = number * factor, .op = BLOCK_OPS, .compared = true}, e);
}

/* ---- CSV ---- */

/* A line of names as omni prints them: two of them at least. */
bool netperf_is_csv(const char *line)
{
    size_t found = 0;
    if (!strchr(line, ',') || strchr(line, '='))
        return false;
    for (size_t i = 0; i < KNOWN; i++)
        found += strstr(line, known[i].title) != NULL;
    found += strstr(line, "Throughput") != NULL;
    found += strstr(line, "Throughput Units") != NULL;
    return found >= 2;
}

static size_t find_cell(const struct csv_cells *names, const char *title)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], title) == 0)
            return i;
    return names->count;
}

static int read_cells(const struct reading *r, struct csv_cells *c, struct err *e)
{
    struct err inner = {0};
    int rc = csv_cells_read(c, r->lines[r->at], &inner);
    return rc < 0 ? reading_bad(r, e, "%s", inner.text) : 0;
}

int netperf_read_csv(struct reading *r, const char *test, struct err *e)
{
    struct csv_cells names CLEANUP(csv_cells_release) = {0}, values CLEANUP(csv_cells_release) = {0};
    int rc = read_cells(r, &names, e);
    if (rc == 0 && !r->lines[r->at + 1])
        return reading_bad(r, e, "netperf's CSV has names and no values: it is cut off");
    r->at++;
    if (rc == 0)
        rc = read_cells(r, &values, e);
    if (rc == 0 && names.count != values.count)
        rc = reading_bad(r, e, "netperf's CSV has %zu names and %zu values", names.count, values.count);
    if (rc < 0)
        return rc;
    reading_current(r)->form = "CSV";
    size_t value = find_cell(&names, "Throughput"), unit = find_cell(&names, "Throughput Units");
    if (value < names.count)
        rc = add_throughput(r, test, values.list[value], unit < names.count ? values.list[unit] : NULL, e);
    for (size_t i = 0; i < KNOWN && rc == 0; i++) {
        size_t cell = find_cell(&names, known[i].title);
        rc = cell < names.count ? add_known(r, test, i, values.list[cell], e) : 0;
    }
    r->at++;
    return rc;
}

/* ---- KEY=VALUE ---- */

/* "THROUGHPUT=17066.77": a name in capitals, which ends at the sign. */
bool netperf_is_keyed(const char *line)
{
    const char *p = line;
    while (isupper((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_')
        p++;
    return p > line && isupper((unsigned char)*line) && *p == '=';
}

int netperf_read_keyed(struct reading *r, const char *test, struct err *e)
{
    const char *throughput = NULL, *unit = NULL;
    size_t line = r->at;
    int rc = 0;
    reading_current(r)->form = "key=value";
    for (; rc == 0 && r->lines[r->at] && netperf_is_keyed(r->lines[r->at]); r->at++) {
        const char *text = r->lines[r->at], *value = strchr(text, '=') + 1;
        if (scan_begins(text, "THROUGHPUT=")) {
            throughput = value;
            line = r->at;
        } else if (scan_begins(text, "THROUGHPUT_UNITS="))
            unit = value;
        for (size_t i = 0; i < KNOWN && rc == 0; i++)
            if (strncmp(text, known[i].key, strlen(known[i].key)) == 0 && text[strlen(known[i].key)] == '=')
                rc = add_known(r, test, i, value, e);
    }
    size_t after = r->at;
    r->at = line;
    if (rc == 0 && throughput)
        rc = add_throughput(r, test, throughput, unit, e);
    if (rc == 0 && !reading_current(r)->count)
        rc = reading_bad(r, e, "netperf's output has no value that is known");
    r->at = after;
    return rc;
}
