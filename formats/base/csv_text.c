/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/csv_text.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

char *csv_text(const char *text, struct err *e)
{
    size_t len = text ? strlen(text) : 0;
    bool quote = len && (strpbrk(text, ",\"\r\n") || is_blank(text[0]) || is_blank(text[len - 1]));
    /* csv_write puts quotes around and doubles those inside; it ends nothing with a zero. */
    size_t size = quote ? csv_write(NULL, 0, text, len) : len;
    char *cell = malloc(size + 1);
    if (!cell) {
        err_sys(e, ENOMEM, "cannot write a cell of %zu bytes", len);
        return NULL;
    }
    if (quote)
        csv_write(cell, size, text, len);
    else if (len)
        memcpy(cell, text, len);
    cell[size] = 0;
    return cell;
}

int csv_text_write(struct out *o, const char *text, struct err *e)
{
    CLEANUP_FREE char *cell = csv_text(text, e);
    if (!cell)
        return -ENOMEM;
    out_text(o, cell);
    return 0;
}
