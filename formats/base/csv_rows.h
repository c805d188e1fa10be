/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reading rows of CSV (RFC 4180), by libcsv, from lines that the caller has cut: so that positions, bounds
 * and cut-off ends are the caller's. Blanks around unquoted cells are dropped.
 */
#ifndef IOTAPE_CSV_ROWS_H
#define IOTAPE_CSV_ROWS_H

#include <stddef.h>

#include "formats/base/err.h"

#define CSV_CELLS_MAX 32
#define CSV_ROW_BYTES 65536 /* of all cells of a row */

struct csv_rows;

/* Valid until the next call. Each cell ends with a 0. */
struct csv_row {
    size_t count;
    char *cell[CSV_CELLS_MAX];
    size_t len[CSV_CELLS_MAX];
};

int csv_rows_open(struct csv_rows **r, struct err *e);
void csv_rows_close(struct csv_rows *r); /* NULL is allowed */

/* Takes a line of `len` bytes, behind which a 0 stands (and stays). 1: *row is whole, `count` 0 for an empty
 * line; 0: a quoted cell goes on in the next line. -EBADMSG for a row that is no CSV or too large: what was
 * taken of it is forgotten. */
int csv_rows_line(struct csv_rows *r, char *line, size_t len, const struct csv_row **row, struct err *e);

#endif
