/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CrystalDiskMark's text, 3 to 8. Up to 6 a line is "Random Write 4KB (QD=32) : 53.425 MB/s [ 13043.1 IOPS]";
 * since 7 the direction is a section, "[Read]", "[Write]" or "[Mix] ...", and the mean latency follows: "<
 * 785.50 us>". MB is 10^6 bytes, as a line of the head says. 0.000 is a test that was not run.
 */
#include <stdio.h>
#include <string.h>

#include "formats/results/reading.h"

#define TEST_BYTES 64
#define HEAD_LINES 30

enum section { NO_SECTION, READ_SECTION, WRITE_SECTION, MIX_SECTION };

/* "RND 4KiB (Q= 32, T= 1)" with single blanks between words only; " Read" and " Write" taken out. */
static void test_name(char name[TEST_BYTES], const char *from, const char *end)
{
    static const char *const directions[] = {" Read", " Write"};
    size_t len = 0;
    for (const char *p = from; p < end && len + 1 < TEST_BYTES;) {
        size_t skip = 0;
        for (size_t i = 0; i < 2; i++)
            if (scan_begins(p, directions[i]))
                skip = strlen(directions[i]);
        bool inner = *p == ' ' && (p == from || p[-1] == '=' || p[-1] == '(' || p[1] == ')' || p + 1 == end);
        if (!skip && !inner)
            name[len++] = *p;
        p += skip ? skip : 1;
    }
    name[len] = 0;
}

/* "NAME : 53.425 MB/s ..." as the name's end, or NULL. */
static const char *result_end(const char *line, const char **values)
{
    const char *unit = line ? strstr(line, "MB/s") : NULL, *colon;
    double value;
    if (!unit || *line == '*')
        return NULL;
    for (colon = line; (colon = strchr(colon, ':')) && colon < unit; colon++) {
        const char *p = colon + 1;
        if (scan_number(&p, &value) && scan_text(&p, "MB/s")) {
            *values = colon + 1;
            return colon > line ? colon : NULL;
        }
    }
    return NULL;
}

/* The head's line, not a word about the tool: with its author, or with results below. */
static bool begins(const struct reading *r)
{
    const char *line = r->lines[r->at], *p = scan_after(line, "CrystalDiskMark "), *values;
    double version;
    if (!p || !scan_number(&p, &version))
        return false;
    bool found = strstr(p, "hiyohiyo") != NULL;
    for (size_t n = 1; n <= HEAD_LINES && r->lines[r->at + n - 1] && !found; n++)
        found = result_end(r->lines[r->at + n - 1], &values) != NULL;
    return found;
}

static int add(struct reading *r, const char *test, enum section s, const char *what, enum figure_unit unit,
        double value, struct err *e)
{
    static const char *const prefixes[] = {"", "read_", "write_", "mix_"};
    static const enum block_op ops[] = {BLOCK_OPS, BLOCK_READ, BLOCK_WRITE, BLOCK_OPS};
    char name[TEST_BYTES];
    snprintf(name, sizeof name, "%s%s", prefixes[s], what);
    return reading_figure(r, test, name,
            (struct figure){
                    .unit = unit, .value = value, .op = ops[s], .compared = true, .missing = value == 0},
            e);
}

static int read_result(struct reading *r, enum section s, const char *end, const char *p, struct err *e)
{
    const char *line = r->lines[r->at];
    char test[TEST_BYTES];
    double value;
    if (s == NO_SECTION)
        s = memmem(line, (size_t)(end - line), "Write", 5)  ? WRITE_SECTION
            : memmem(line, (size_t)(end - line), "Read", 4) ? READ_SECTION
                                                            : NO_SECTION;
    test_name(test, line, end);
    if (s == NO_SECTION || !scan_number(&p, &value))
        return reading_bad(
                r, e, "CrystalDiskMark's result is neither of reads nor of writes: '%.100s'", line);
    int rc = add(r, test, s, "bandwidth", UNIT_MB_PER_S, value, e);
    const char *iops = scan_after(p, "["), *latency = scan_after(p, "<");
    if (rc == 0 && iops) {
        if (!scan_number(&iops, &value) || !scan_text(&iops, "IOPS"))
            return reading_bad(r, e, "CrystalDiskMark's IOPS cannot be understood: '%.100s'", line);
        rc = add(r, test, s, "iops", UNIT_PER_S, value, e);
    }
    if (rc == 0 && latency) {
        if (!scan_number(&latency, &value) || !scan_text(&latency, "us"))
            return reading_bad(r, e, "CrystalDiskMark's latency cannot be understood: '%.100s'", line);
        rc = add(r, test, s, "latency_mean", UNIT_US, value, e);
    }
    return rc;
}

static enum section section_of(const char *line, enum section now)
{
    return scan_begins(line, "[Read]")    ? READ_SECTION
           : scan_begins(line, "[Write]") ? WRITE_SECTION
           : scan_begins(line, "[Mix")    ? MIX_SECTION
                                          : now;
}

/* "Test : 1000 MB [C: ...] (x5)", "OS : ..." as facts. */
static int add_fact(struct reading *r, const char *line, struct err *e)
{
    static const char *const keys[] = {"Test", "OS", "Mode", "Profile"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *p = line;
        if (!scan_text(&p, keys[i]) || !scan_text(&p, ":"))
            continue;
        return facts_set(&reading_current(r)->facts, e, keys[i], "%s", *p == ' ' ? p + 1 : p);
    }
    return 0;
}

static int read_run(struct reading *r, struct err *e)
{
    size_t begin = r->at;
    char version[TEST_BYTES];
    const char *p = scan_after(r->lines[r->at], "CrystalDiskMark "), *values;
    enum section section = NO_SECTION;
    int rc = reading_output(r, "CrystalDiskMark", "text", e);
    scan_word(&p, version, sizeof version);
    if (rc == 0)
        rc = facts_set(&reading_current(r)->facts, e, "version", "%s", version);
    for (r->at++; rc == 0 && r->lines[r->at]; r->at++) {
        const char *line = r->lines[r->at], *end = result_end(line, &values);
        section = section_of(line, section);
        if (end)
            rc = read_result(r, section, end, values, e);
        else if (reading_begins(r))
            break;
        else
            rc = add_fact(r, line, e);
    }
    if (rc < 0 || reading_current(r)->count)
        return rc;
    r->at = begin;
    return reading_bad(r, e, "CrystalDiskMark's head without results: the text is cut off");
}

const struct result_ops result_crystaldiskmark = {
        .name = "CrystalDiskMark", .help = "text of 3 to 8", .begins = begins, .read = read_run};
