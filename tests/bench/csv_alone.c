/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What libcsv takes for a file by itself: the floor of every CSV import, and a measure of how fast the
 * machine is just now.
 *
 *     csv_alone FILE     the number of rows, to standard output
 */
#include <csv.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void cell(void *bytes, size_t len, void *cells)
{
    (void)bytes;
    (void)len;
    ++*(uint64_t *)cells;
}

static uint64_t rows;

static void row(int c, void *cells)
{
    (void)c;
    (void)cells;
    rows++;
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    struct csv_parser parser;
    uint64_t cells = 0;
    size_t got;
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;

    if (!f || csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI))
        return EXIT_FAILURE;
    while ((got = fread(buffer, 1, sizeof buffer, f)) > 0)
        if (csv_parse(&parser, buffer, got, cell, row, &cells) != got)
            return EXIT_FAILURE;
    if (ferror(f) || csv_fini(&parser, cell, row, &cells))
        return EXIT_FAILURE;
    csv_free(&parser);
    fclose(f);
    return printf("%" PRIu64 "\n", rows) < 0;
}
