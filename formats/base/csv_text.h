/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Text cells of CSV files, by libcsv. The dialect is that of RFC 4180, save that lines end in LF alone, as
 * text does on Unix. Numbers are written bare by their owners.
 */
#ifndef IOTAPE_CSV_TEXT_H
#define IOTAPE_CSV_TEXT_H

#include <stddef.h>

#include "formats/base/err.h"
#include "formats/base/out.h"

/* The cell for `text` (NULL: empty): quoted only where it must be, that is where it holds a comma, a
 * quote or a line break, or begins or ends with a blank (readers may drop these). Owned by the
 * caller; NULL with -ENOMEM in *e. */
char *csv_text(const char *text, struct err *e);

/* Writes the cell. */
int csv_text_write(struct out *o, const char *text, struct err *e);

/* The cells of one line of RFC 4180 CSV, -E2BIG beyond CSV_CELLS_MAX. Zero-initialised is empty. */
#define CSV_CELLS_MAX 4096
struct csv_cells {
    char **list; /* owned */
    size_t count;
};
int csv_cells_read(struct csv_cells *c, const char *line, struct err *e);
void csv_cells_release(struct csv_cells *c);

/* Writes the cell for a table that people open in a spreadsheet: UTF-8 whatever `text` is, and with a '
 * before what a spreadsheet would take for a formula, that is what begins with = + - @ (also in their
 * full-width forms), a tab or a carriage return (OWASP, "CSV Injection"). */
int csv_text_write_safe(struct out *o, const char *text, struct err *e);
/* Many such cells, with a comma behind each. */
int csv_texts_write_safe(struct out *o, const char *const *texts, size_t count, struct err *e);

#endif
