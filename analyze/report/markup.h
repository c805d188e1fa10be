/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A report for people: one walk over the data, for which each markup language brings its few forms. All text
 * is escaped here, by the language's table: names come from strangers' files.
 */
#ifndef IOTAPE_MARKUP_H
#define IOTAPE_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/report.h"

struct markup {
    /* What stands for an ASCII character that means something in the language; NULL: itself. `text` is at the
     * character, and is the whole text's end where that is zero. Control characters never come here. */
    const char *(*escape)(const char *text);
    const char *begin, *end; /* of the document */
    const char *heading_begin, *heading_end;
    const char *text_begin, *text_end; /* a paragraph */
    const char *table_begin, *head_row, *row, *row_end, *table_end;
    const char *head, *head_end; /* around a cell of the first row */
    const char *cell, *number, *cell_end;
    /* Between the first row and the others: written once for each column, and then `rule_end`; NULL: nothing.
     */
    const char *rule, *rule_number, *rule_end;
};

/* -ENOMEM. */
int markup_write(const struct markup *m, const struct report *r, struct out *o, struct err *e);

#endif
