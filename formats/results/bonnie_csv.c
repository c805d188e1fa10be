/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bonnie++'s CSV, format 1.96 to 2.00 (README of bonnie++; bon_csv2html): one line is one run. Behind the
 * size come the chunk and, since 1.98, the numbers of seeks and seekers, which the header line of -q does not
 * name: so columns are counted, and never taken from that header.
 */
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/csv_text.h"
#include "formats/results/bonnie.h"

/* format_version, bonnie_version, name, concurrency, seed, file_size, io_chunk_size [, seeks, seekers]; 6
 * rates with CPU; num_files, max_size, min_size, num_dirs, file_chunk_size; 6 rates with CPU; 12 latencies.
 */
enum { NAME = 2, CONCURRENCY = 3, SIZE = 5, LEAD = 7, SEEK_CELLS = 2, FILE_CELLS = 5 };
#define CELLS (LEAD + 2 * BONNIE_IO_TESTS + FILE_CELLS + 2 * (BONNIE_TESTS - BONNIE_IO_TESTS) + BONNIE_TESTS)

/* "1.96," to "2.00,": a version and a second one that begins likewise. */
static bool begins(const struct reading *r)
{
    const char *p = r->lines[r->at];
    double format, version;
    size_t commas = 0;
    if (!scan_number(&p, &format) || format < 1.95 || format > 2.5 || *p++ != ',' ||
            !scan_number(&p, &version) || version < 1.9 || version > 2.99)
        return false;
    for (; (p = strchr(p, ',')); p++)
        commas++;
    return commas > LEAD;
}

static int add_facts(struct reading *r, char **cells, size_t lead, struct err *e)
{
    static const struct {
        size_t cell;
        const char *key;
        bool behind; /* the rates of I/O */
    } facts[] = {{1, "version", false}, {NAME, "name", false}, {CONCURRENCY, "concurrency", false},
            {SIZE, "file_size", false}, {0, "num_files", true}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = cells[facts[i].cell + (facts[i].behind ? lead + 2 * BONNIE_IO_TESTS : 0)];
        int rc = *value ? facts_set(&reading_current(r)->facts, e, facts[i].key, "%s", value) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_tests(struct reading *r, char **cells, size_t lead, struct err *e)
{
    char **files = cells + lead + 2 * BONNIE_IO_TESTS + FILE_CELLS;
    char **latencies = files + 2 * (BONNIE_TESTS - BONNIE_IO_TESTS);
    for (size_t t = 0; t < BONNIE_TESTS; t++) {
        char **rate = t < BONNIE_IO_TESTS ? cells + lead + 2 * t : files + 2 * (t - BONNIE_IO_TESTS);
        int rc = bonnie_rate(r, t, rate[0], rate[1], e);
        if (rc == 0)
            rc = bonnie_latency(r, t, latencies[t], e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_run(struct reading *r, struct err *e)
{
    struct csv_cells c CLEANUP(csv_cells_release) = {0};
    struct err inner = {0};
    int rc = csv_cells_read(&c, r->lines[r->at], &inner);
    if (rc < 0)
        return reading_bad(r, e, "%s", inner.text);
    if (rc == 0 && c.count != CELLS && c.count != CELLS + SEEK_CELLS)
        rc = reading_bad(r, e, "a line of bonnie++'s CSV with %zu cells: %d or %d are known", c.count, CELLS,
                CELLS + SEEK_CELLS);
    if (rc == 0)
        rc = reading_output(r, "bonnie++", "CSV", e);
    size_t lead = c.count == CELLS ? LEAD : LEAD + SEEK_CELLS;
    if (rc == 0)
        rc = add_facts(r, c.list, lead, e);
    if (rc == 0)
        rc = add_tests(r, c.list, lead, e);
    if (rc == 0)
        r->at++;
    return rc;
}

const struct result_ops result_bonnie_csv = {
        .name = "bonnie++", .help = "CSV of 1.96 to 2.00", .begins = begins, .read = read_run};
