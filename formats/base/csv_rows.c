/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/csv_rows.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct csv_rows {
    struct csv_parser parser;
    struct csv_row row;
    size_t used;  /* of `text` */
    bool ended;   /* the row is whole */
    bool new_row; /* the next cell begins one */
    bool too_large;
    bool two_rows; /* in one line */
    char text[CSV_ROW_BYTES];
};

static void take_cell(void *bytes, size_t len, void *self)
{
    struct csv_rows *r = self;

    r->two_rows |= r->ended;
    if (r->new_row)
        r->used = r->row.count = 0;
    r->new_row = false;
    if (r->row.count == CSV_CELLS_MAX || len >= sizeof r->text - r->used) {
        r->too_large = true;
        return;
    }
    r->row.cell[r->row.count] = memcpy(r->text + r->used, bytes, len);
    r->row.len[r->row.count++] = len;
    r->used += len;
    r->text[r->used++] = '\0';
}

static void take_end(int c, void *self)
{
    struct csv_rows *r = self;

    (void)c;
    r->ended = r->new_row = true;
}

static int set_up(struct csv_rows *r, struct err *e)
{
    r->used = r->row.count = 0;
    r->ended = r->too_large = r->two_rows = false;
    r->new_row = true;
    return csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI) == 0 ? 0
                                                                   : err_sys(e, ENOMEM, "cannot read CSV");
}

int csv_rows_open(struct csv_rows **out, struct err *e)
{
    struct csv_rows *r = malloc(sizeof *r);
    int rc = r ? set_up(r, e) : err_sys(e, ENOMEM, "cannot read CSV");

    if (rc)
        free(r);
    else
        *out = r;
    return rc;
}

void csv_rows_close(struct csv_rows *r)
{
    if (r)
        csv_free(&r->parser);
    free(r);
}

static int forget(struct csv_rows *r, const char *why, struct err *e)
{
    csv_free(&r->parser);
    int rc = set_up(r, e);
    return rc ? rc : err_set(e, EBADMSG, "%s", why);
}

int csv_rows_line(struct csv_rows *r, char *line, size_t len, const struct csv_row **row, struct err *e)
{
    size_t before = r->parser.entry_pos;

    if (r->new_row)
        r->row.count = 0;
    r->ended = false;
    line[len] = '\n';
    size_t parsed = csv_parse(&r->parser, line, len + 1, take_cell, take_end, r);
    line[len] = '\0';
    if (parsed != len + 1)
        return forget(r,
                csv_error(&r->parser) == CSV_EPARSE ? "quotes within a cell that has none, or after one"
                                                    : "no memory for a cell",
                e);
    if (r->too_large || r->parser.entry_pos > CSV_ROW_BYTES)
        return forget(r,
                before ? "a quoted cell does not end within 64 KiB"
                       : "more cells, or longer ones, than any row has",
                e);
    if (r->two_rows)
        return forget(r, "a carriage return ends a row within the line", e);
    *row = &r->row;
    return r->ended || (r->new_row && !r->parser.quoted);
}
