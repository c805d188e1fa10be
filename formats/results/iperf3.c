/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * iperf3's text (iperf_locale.c): interval lines, of which those count that end in "sender" or "receiver":
 * the sums over the test. With several streams "[SUM]" is taken. Bits are powers of 1000, bytes of 1024. The
 * unit of each number stands behind it.
 */
#include <stdio.h>
#include <string.h>

#include "formats/results/iperf3.h"

int iperf3_rate(struct reading *r, const char *workload, bool sent, double mbit_per_s, struct err *e)
{
    return iperf3_other(r, workload, sent ? "sent_bandwidth" : "received_bandwidth", UNIT_MBIT_PER_S,
            mbit_per_s, true, e);
}

int iperf3_other(struct reading *r, const char *workload, const char *name, enum figure_unit unit,
        double value, bool compared, struct err *e)
{
    return reading_figure(r, workload, name,
            (struct figure){.unit = unit, .value = value, .op = BLOCK_OPS, .compared = compared}, e);
}

/* ---- lines ---- */

/* One line of a summary. */
struct summary {
    bool sum, sender, reverse, bidirectional; /* of all streams; sent by the server; */
    bool udp;
    double mbit_per_s, seconds;
    double retransmits, jitter_ms, lost_percent; /* -1: not in the line */
    size_t line;
};

/* "31.4 Gbits/sec" in Mbit/s. */
static bool scan_rate(const char **p, double *mbit_per_s)
{
    static const char letters[] = "KMGTP";
    if (!scan_number(p, mbit_per_s))
        return false;
    while (**p == ' ')
        ++*p;
    const char *letter = **p ? strchr(letters, **p) : NULL;
    *p += letter != NULL;
    bool bytes = scan_begins(*p, "Bytes/sec");
    if (!bytes && !scan_begins(*p, "bits/sec"))
        return false;
    for (const char *l = letters; letter && l <= letter; l++)
        *mbit_per_s *= bytes ? 1024 : 1000;
    *mbit_per_s *= bytes ? 8e-6 : 1e-6;
    *p += strlen(bytes ? "Bytes/sec" : "bits/sec");
    return true;
}

/* "[ 5][TX-C] 0.00-2.00 sec 7.31 GBytes 31.4 Gbits/sec 0 sender": true for any line of an interval, with *s's
 * rate; *ends tells whether it is a summary's. */
static bool scan_interval(const char *line, struct summary *s, bool *ends)
{
    double from, to, amount;
    const char *p = line, *close = strchr(line, ']');
    *s = (struct summary){.retransmits = -1, .jitter_ms = -1, .lost_percent = -1};
    if (*line != '[' || !close)
        return false;
    s->sum = scan_begins(line, "[SUM]");
    p = close + 1;
    if (scan_text(&p, "[TX-") || scan_text(&p, "[RX-")) {
        s->bidirectional = true;
        s->reverse = p[-3] == 'R';
        p = strchr(p, ']');
        if (!p)
            return false;
        p++;
    }
    if (!scan_number(&p, &from) || *p++ != '-' || !scan_number(&p, &to) || !scan_text(&p, "sec") ||
            !scan_number(&p, &amount) || !(p = strstr(p, "Bytes")) || !scan_text(&p, "Bytes") ||
            !scan_rate(&p, &s->mbit_per_s))
        return false;
    s->seconds = to - from;
    s->sender = strstr(p, "sender") != NULL;
    *ends = s->sender || strstr(p, "receiver");
    double first, lost, all;
    const char *rest = p;
    if (!scan_number(&rest, &first))
        return true;
    s->udp = scan_text(&rest, "ms");
    if (!s->udp)
        s->retransmits = first;
    else if (s->jitter_ms = first,
            scan_number(&rest, &lost) && *rest++ == '/' && scan_number(&rest, &all) && all > 0)
        s->lost_percent = 100 * lost / all;
    return true;
}

static bool is_head(const char *line)
{
    return scan_begins(line, "[ ID]") && strstr(line, "Interval") && strstr(line, "Transfer");
}

static bool begins(const struct reading *r)
{
    return is_head(r->lines[r->at]);
}

/* What begins another test. */
static bool is_other(const char *line)
{
    return scan_begins(line, "Connecting to host") || scan_begins(line, "Accepted connection") ||
           scan_begins(line, "Server listening") || scan_begins(line, "Reverse mode");
}

/* ---- an output ---- */

/* The line that counts for (direction, end): the sum, or the only stream. */
struct found {
    struct summary of[2][2]; /* by reverse, sender */
    bool has[2][2];
    size_t streams[2][2];
};

static void keep(struct found *f, const struct summary *s)
{
    size_t reverse = s->reverse, sender = s->sender;
    f->streams[reverse][sender] += !s->sum;
    if (f->has[reverse][sender] && !s->sum)
        return;
    f->of[reverse][sender] = *s;
    f->has[reverse][sender] = true;
}

static int add_summary(struct reading *r, const struct summary *s, bool reverse_mode, bool udp, struct err *e)
{
    char workload[IPERF3_WORKLOAD_BYTES];
    snprintf(workload, sizeof workload, "%s%s%s", udp ? "UDP" : "TCP",
            s->bidirectional ? " bidirectional" : "", s->reverse || reverse_mode ? " reverse" : "");
    size_t at = r->at;
    r->at = s->line;
    int rc = iperf3_rate(r, workload, s->sender, s->mbit_per_s, e);
    if (rc == 0 && s->retransmits >= 0 && s->sender)
        rc = iperf3_other(r, workload, "retransmits", UNIT_COUNT, s->retransmits, false, e);
    if (rc == 0 && s->jitter_ms >= 0 && !s->sender)
        rc = iperf3_other(r, workload, "jitter", UNIT_MS, s->jitter_ms, true, e);
    if (rc == 0 && s->lost_percent >= 0 && !s->sender)
        rc = iperf3_other(r, workload, "lost", UNIT_PERCENT, s->lost_percent, false, e);
    if (rc == 0 && s->sender)
        rc = iperf3_other(r, workload, "time", UNIT_S, s->seconds, false, e);
    r->at = at;
    return rc;
}

static int add_found(struct reading *r, const struct found *f, bool reverse_mode, struct err *e)
{
    bool udp = false;
    size_t streams = 0;
    for (size_t i = 0; i < 4; i++) {
        udp |= f->has[i / 2][i % 2] && f->of[i / 2][i % 2].udp;
        if (f->streams[i / 2][i % 2] > streams)
            streams = f->streams[i / 2][i % 2];
    }
    int rc = facts_set(&reading_current(r)->facts, e, "streams", "%zu", streams);
    for (size_t i = 0; i < 4 && rc == 0; i++) /* the sender's first */
        if (f->has[i / 2][1 - i % 2]) {
            if (streams > 1 && !f->of[i / 2][1 - i % 2].sum)
                return reading_bad(
                        r, e, "iperf3's sum of %zu streams is not there: the text is cut off", streams);
            rc = add_summary(r, &f->of[i / 2][1 - i % 2], reverse_mode, udp, e);
        }
    return rc;
}

/* -R is said before the first head, which may be some lines above. */
static bool is_reverse(const struct reading *r)
{
    for (size_t n = 0, i = r->at; n < 64 && i-- > 0; n++)
        if (is_other(r->lines[i]))
            return scan_begins(r->lines[i], "Reverse mode");
    return false;
}

static int read_run(struct reading *r, struct err *e)
{
    struct found f = {0};
    struct summary s;
    bool ends, reverse = is_reverse(r), any = false;
    size_t begin = r->at;
    int rc = reading_output(r, "iperf3", "text", e);
    for (; rc == 0 && r->lines[r->at]; r->at++) {
        const char *line = r->lines[r->at];
        if (scan_interval(line, &s, &ends)) {
            if (any && !ends) /* a test that follows without a word */
                break;
            any |= ends;
            s.line = r->at;
            if (ends)
                keep(&f, &s);
        } else if (is_other(line) || scan_begins(line, "iperf Done") || (!is_head(line) && reading_begins(r)))
            break;
    }
    if (rc < 0)
        return rc;
    size_t after = r->at;
    r->at = begin;
    rc = any ? add_found(r, &f, reverse, e)
             : reading_bad(r, e,
                       "iperf3's intervals without a sender's or receiver's sum: the text is cut off, or of "
                       "iperf 2, which is not known");
    r->at = after;
    return rc;
}

const struct result_ops result_iperf3 = {
        .name = "iperf3", .help = "text of client or server", .begins = begins, .read = read_run};
