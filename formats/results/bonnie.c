/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bonnie++'s text, 1.96 to 2.00, and what bon_csv2txt makes of CSV: two tables, "Sequential Output" and
 * "Sequential Create", each with a line of values and one of latencies. Rates are K/sec up to 1.97; later
 * each has its letter.
 *
 * Columns are told by their number, since blanks may have been collapsed: -f leaves the two per-character
 * tests out. Where the CSV of the same run follows, as bonnie++ prints it, that is taken instead: its rates
 * are not rounded, and of 2.00 the text shows numbers of files for the rates of creating and deleting them.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/results/bonnie.h"

#define WORDS_MAX 32

struct words {
    char list[WORDS_MAX][BONNIE_TEXT_BYTES];
    size_t count;
};

static void split(struct words *w, const char *line)
{
    w->count = 0;
    while (w->count < WORDS_MAX && scan_word(&line, w->list[w->count], BONNIE_TEXT_BYTES))
        w->count++;
}

/* ---- what lines are ---- */

static bool is_io_head(const char *line)
{
    return strstr(line, "Sequential Output") && strstr(line, "Sequential Input") && !strchr(line, '<');
}
static bool is_file_head(const char *line)
{
    return strstr(line, "Sequential Create") && strstr(line, "Random Create") && !strchr(line, '<');
}
static bool is_units(const char *line)
{
    return strstr(line, "/sec %CP") != NULL;
}
static bool begins(const struct reading *r)
{
    return is_io_head(r->lines[r->at]) || is_file_head(r->lines[r->at]);
}

/* Goes to the next line that is not empty; NULL at the end. */
static const char *next(struct reading *r)
{
    do
        r->at++;
    while (r->lines[r->at] && !*r->lines[r->at]);
    return r->lines[r->at];
}

static int cut_off(const struct reading *r, const char *what, struct err *e)
{
    return reading_bad(r, e, "bonnie++'s table ends without its %s, or its columns cannot be told: '%.100s'",
            what, r->lines[r->at] ? r->lines[r->at] : "");
}

/* Goes from a table's head to its values, beyond the line of units. */
static int to_values(struct reading *r, struct err *e)
{
    const char *line;
    for (size_t n = 0; n < 4 && (line = next(r)); n++)
        if (is_units(line))
            return next(r) ? 0 : cut_off(r, "values", e);
    return cut_off(r, "units", e);
}

/* ---- values ---- */

/* Whether the test is in a table of `count` columns: all, or those of -f. */
static bool is_in(size_t test, size_t count)
{
    return count == BONNIE_IO_TESTS || (test != 0 && test != 3);
}

static int read_latencies(struct reading *r, size_t first, size_t columns, struct err *e)
{
    struct words w;
    size_t at = 1;
    const char *line = reading_next(r);
    if (!line || !scan_begins(line, "Latency"))
        return 0;
    next(r);
    split(&w, line);
    if (w.count != columns + 1)
        return cut_off(r, "latencies", e);
    for (size_t t = first; t < first + BONNIE_IO_TESTS; t++) {
        int rc = is_in(t, columns) || first ? bonnie_latency(r, t, w.list[at++], e) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* "NAME SIZE" and 6 or 4 pairs. */
static int read_io(struct reading *r, struct err *e)
{
    struct words w;
    size_t at = 2;
    int rc = to_values(r, e);
    if (rc < 0)
        return rc;
    split(&w, r->lines[r->at]);
    size_t columns = w.count < 2 ? 0 : (w.count - 2) / 2;
    if (w.count % 2 || (columns != BONNIE_IO_TESTS && columns != BONNIE_IO_TESTS - 2))
        return cut_off(r, "values", e);
    rc = facts_set(&reading_current(r)->facts, e, "name", "%s", w.list[0]);
    if (rc == 0)
        rc = facts_set(
                &reading_current(r)->facts, e, "file_size", "%.*s", (int)strcspn(w.list[1], ":"), w.list[1]);
    for (size_t t = 0; t < BONNIE_IO_TESTS && rc == 0; t++)
        if (is_in(t, columns)) {
            rc = bonnie_rate(r, t, w.list[at], w.list[at + 1], e);
            at += 2;
        }
    return rc < 0 ? rc : read_latencies(r, 0, columns, e);
}

/* 2.00 prints the number of files for rates of creating and deleting. */
static bool is_file_count(const struct output *o, const char *files, const char *rate)
{
    const char *version = facts_get(&o->facts, "version"), *p = rate;
    double value;
    return version && scan_begins(version, "2.") && scan_number(&p, &value) && !*p &&
           value == 1024 * strtod(files, NULL);
}

/* ["NAME"] "FILES" and 6 pairs. */
static int read_files(struct reading *r, struct err *e)
{
    struct words w;
    struct output *o = reading_current(r);
    int rc = to_values(r, e);
    if (rc < 0)
        return rc;
    split(&w, r->lines[r->at]);
    size_t lead = w.count == 2 * BONNIE_IO_TESTS + 2 ? 2 : 1;
    if (w.count != 2 * BONNIE_IO_TESTS + lead)
        return cut_off(r, "values", e);
    rc = facts_set(&o->facts, e, "num_files", "%.*s", (int)strcspn(w.list[lead - 1], ":"), w.list[lead - 1]);
    for (size_t i = 0; i < BONNIE_IO_TESTS && rc == 0; i++) {
        const char *rate = w.list[lead + 2 * i], *cpu = w.list[lead + 2 * i + 1];
        bool wrong = is_file_count(o, w.list[lead - 1], rate);
        if (wrong)
            rc = reading_say(&o->note, e,
                    "rates of files that are the number of files, as bonnie++ 2.00 prints them, are left "
                    "out");
        if (rc == 0)
            rc = bonnie_rate(r, BONNIE_IO_TESTS + i, wrong ? "+++++" : rate, cpu, e);
    }
    return rc < 0 ? rc : read_latencies(r, BONNIE_IO_TESTS, BONNIE_IO_TESTS, e);
}

/* ---- an output ---- */

static int read_version(struct reading *r, struct err *e)
{
    char word[BONNIE_TEXT_BYTES];
    const char *p = scan_after(r->lines[r->at], "Version");
    return p && scan_word(&p, word, sizeof word) && *word != '-'
                   ? facts_set(&reading_current(r)->facts, e, "version", "%s", word)
                   : 0;
}

/* Whether the CSV of the same run follows: then there is no need of the text. */
static bool is_csv_of(const struct output *o, const char *line)
{
    const char *name = facts_get(&o->facts, "name"), *size = facts_get(&o->facts, "file_size");
    const char *p = line;
    for (size_t i = 0; p && i < 2; i++)
        p = scan_after(p, ",");
    return p && name && size && scan_begins(p, name) && p[strlen(name)] == ',' && (p = scan_after(p, size)) &&
           *p == ',';
}

static int read_run(struct reading *r, struct err *e)
{
    int rc = reading_output(r, "bonnie++", "text", e);
    bool io = is_io_head(r->lines[r->at]);
    if (rc == 0)
        rc = read_version(r, e);
    if (rc == 0)
        rc = io ? read_io(r, e) : read_files(r, e);
    const char *line = rc == 0 ? reading_next(r) : NULL;
    if (io && line && is_file_head(line)) {
        next(r);
        rc = read_files(r, e);
        line = rc == 0 ? reading_next(r) : NULL;
    }
    if (rc < 0)
        return rc;
    if (line && is_csv_of(reading_current(r), line))
        reading_drop(r);
    r->at++;
    return 0;
}

const struct result_ops result_bonnie = {.name = "bonnie++",
        .help = "text of 1.96 to 2.00, and bon_csv2txt's",
        .begins = begins,
        .read = read_run};
