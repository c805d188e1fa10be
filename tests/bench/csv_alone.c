/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What libcsv takes for a file by itself: the floor of every CSV import, and a measure of how fast the
 * machine is just now.
 *
 *     csv_alone FILE     the numbers of rows and of cells, to standard output
 */
#include <csv.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct counts {
    uint64_t cells, rows;
};

static void cell(void *bytes, size_t len, void *counts)
{
    (void)bytes;
    (void)len;
    ((struct counts *)counts)->cells++;
}

static void row(int c, void *counts)
{
    (void)c;
    ((struct counts *)counts)->rows++;
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    struct csv_parser parser;
    struct counts counts = {0};
    size_t got;
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;

    if (!f || csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI))
        return EXIT_FAILURE;
    while ((got = fread(buffer, 1, sizeof buffer, f)) > 0)
        if (csv_parse(&parser, buffer, got, cell, row, &counts) != got)
            return EXIT_FAILURE;
    if (ferror(f) || csv_fini(&parser, cell, row, &counts))
        return EXIT_FAILURE;
    csv_free(&parser);
    fclose(f);
    return printf("%" PRIu64 " %" PRIu64 "\n", counts.rows, counts.cells) < 0;
}
