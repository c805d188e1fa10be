/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * iperf3 --json (iperf_api.c): the sums in "end". UDP of versions before 3.7 or so has only "sum", as the
 * receiver saw it.
 */
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/results/iperf3.h"

static void free_json(struct json **j)
{
    json_free(*j);
}

static bool begins(const struct reading *r)
{
    static const char *const start[] = {"\"start\"", "\"connected\"", NULL};
    return reading_json_begins(r, start);
}

/* One direction: `suffix` is "" or "_bidir_reverse". */
static int add_direction(
        struct reading *r, const struct json *end, const char *workload, const char *suffix, struct err *e)
{
    static const char *const keys[] = {"sum_sent", "sum_received"};
    int rc = 0;
    double value;
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        char key[40];
        snprintf(key, sizeof key, "%s%s", keys[i], suffix);
        const struct json *sum = json_get(end, key);
        if (json_get_number(sum, "bits_per_second", &value))
            rc = iperf3_rate(r, workload, i == 0, value / 1e6, e);
        if (rc == 0 && i == 0 && json_get_number(sum, "retransmits", &value))
            rc = iperf3_other(r, workload, "retransmits", UNIT_COUNT, value, false, e);
        if (rc == 0 && i == 0 && json_get_number(sum, "seconds", &value))
            rc = iperf3_other(r, workload, "time", UNIT_S, value, false, e);
    }
    return rc;
}

static int add_udp(struct reading *r, const struct json *end, const char *workload, struct err *e)
{
    const struct json *sum = json_get(end, "sum_received");
    double value;
    int rc = 0;
    if (!json_get_number(sum, "jitter_ms", &value))
        sum = json_get(end, "sum");
    if (!json_get(end, "sum_sent") && json_get_number(sum, "bits_per_second", &value))
        rc = iperf3_rate(r, workload, false, value / 1e6, e);
    if (rc == 0 && json_get_number(sum, "jitter_ms", &value))
        rc = iperf3_other(r, workload, "jitter", UNIT_MS, value, true, e);
    if (rc == 0 && json_get_number(sum, "lost_percent", &value))
        rc = iperf3_other(r, workload, "lost", UNIT_PERCENT, value, false, e);
    return rc;
}

static int add_cpu(struct reading *r, const struct json *end, const char *workload, struct err *e)
{
    const struct json *cpu = json_get(end, "cpu_utilization_percent");
    double value;
    int rc = 0;
    if (json_get_number(cpu, "host_total", &value))
        rc = iperf3_other(r, workload, "cpu", UNIT_PERCENT, value, false, e);
    if (rc == 0 && json_get_number(cpu, "remote_total", &value))
        rc = iperf3_other(r, workload, "cpu_peer", UNIT_PERCENT, value, false, e);
    return rc;
}

static int add_facts(struct reading *r, const struct json *start, struct err *e)
{
    static const char *const keys[] = {"num_streams", "blksize", "duration", "target_bitrate"};
    struct facts *facts = &reading_current(r)->facts;
    const char *version = json_get_text(start, "version");
    double value;
    int rc = version ? facts_set(facts, e, "version", "%s",
                               scan_begins(version, "iperf ") ? version + 6 : version)
                     : 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && rc == 0; i++)
        if (json_get_number(json_get(start, "test_start"), keys[i], &value))
            rc = facts_set(facts, e, i ? keys[i] : "streams", "%.15g", value);
    return rc;
}

static int add_all(struct reading *r, const struct json *root, struct err *e)
{
    const struct json *end = json_get(root, "end"), *test = json_get(json_get(root, "start"), "test_start");
    const char *protocol = json_get_text(test, "protocol"), *error = json_get_text(root, "error");
    char workload[IPERF3_WORKLOAD_BYTES], other[IPERF3_WORKLOAD_BYTES];
    double reverse = 0;
    bool both = json_get(end, "sum_sent_bidir_reverse");
    int rc = add_facts(r, json_get(root, "start"), e);
    if (rc == 0 && error)
        rc = reading_say(&reading_current(r)->failed, e, "%s", error);
    if (rc < 0)
        return rc;
    json_get_number(test, "reverse", &reverse);
    snprintf(workload, sizeof workload, "%.16s%s%s", protocol ? protocol : "TCP",
            both ? " bidirectional" : "", reverse != 0 ? " reverse" : "");
    snprintf(other, sizeof other, "%.30s reverse", workload);
    rc = add_direction(r, end, workload, "", e);
    if (rc == 0 && protocol && strcmp(protocol, "UDP") == 0)
        rc = add_udp(r, end, workload, e);
    if (rc == 0)
        rc = add_cpu(r, end, workload, e);
    if (rc == 0 && both)
        rc = add_direction(r, end, other, "_bidir_reverse", e);
    if (rc == 0 && !error && !reading_current(r)->count)
        rc = reading_bad(r, e, "iperf3's JSON without a result");
    return rc;
}

static int read_run(struct reading *r, struct err *e)
{
    struct json *root CLEANUP(free_json) = NULL;
    size_t line = r->at;
    int rc = reading_output(r, "iperf3", "JSON", e);
    if (rc == 0)
        rc = reading_json(r, &root, e);
    if (rc < 0)
        return rc;
    size_t after = r->at;
    r->at = line;
    rc = add_all(r, root, e);
    r->at = after;
    return rc;
}

const struct result_ops result_iperf3_json = {
        .name = "iperf3", .help = "JSON", .begins = begins, .read = read_run};
