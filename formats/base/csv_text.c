/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/csv_text.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/utf8.h"

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

/* libcsv's callback cannot fail: `failed` remembers an errno. */
struct cells_in_progress {
    struct csv_cells *cells;
    int failed;
};

static void add_cell(void *text, size_t len, void *context)
{
    struct cells_in_progress *p = context;
    if (p->failed)
        return;
    if (p->cells->count == CSV_CELLS_MAX) {
        p->failed = E2BIG;
        return;
    }
    char **list = reallocarray(p->cells->list, p->cells->count + 1, sizeof *list);
    if (list)
        p->cells->list = list;
    char *cell = list ? strndup(len ? text : "", len) : NULL;
    if (!cell) {
        p->failed = ENOMEM;
        return;
    }
    list[p->cells->count++] = cell;
}

int csv_cells_read(struct csv_cells *c, const char *line, struct err *e)
{
    struct csv_parser parser;
    struct cells_in_progress p = {c, 0};
    size_t len = strlen(line);
    *c = (struct csv_cells){0};
    if (csv_init(&parser, 0) != 0)
        return err_sys(e, ENOMEM, "cannot read CSV");
    bool read = csv_parse(&parser, line, len, add_cell, NULL, &p) == len;
    csv_fini(&parser, add_cell, NULL, &p);
    csv_free(&parser);
    if (read && !p.failed)
        return 0;
    csv_cells_release(c);
    return p.failed == E2BIG ? err_set(e, E2BIG, "a line of CSV has more than %d cells", CSV_CELLS_MAX)
                             : err_sys(e, ENOMEM, "cannot read CSV");
}

void csv_cells_release(struct csv_cells *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i]);
    free(c->list);
    *c = (struct csv_cells){0};
}

static bool is_formula(const char *text)
{
    static const char *const begins[] = {"=", "+", "-", "@", "\t", "\r", "\n", "\xef\xbc\x9d" /* U+FF1D */,
            "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0" /* U+FF20 */};
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

int csv_text_write_safe(struct out *o, const char *text, struct err *e)
{
    CLEANUP_FREE char *clean = utf8_clean(text ? text : "");
    CLEANUP_FREE char *safe = NULL;
    if (!clean || asprintf(&safe, "%s%s", is_formula(clean) ? "'" : "", clean) < 0) {
        safe = NULL;
        return err_sys(e, ENOMEM, "cannot write a cell");
    }
    return csv_text_write(o, safe, e);
}

int csv_texts_write_safe(struct out *o, const char *const *texts, size_t count, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        int rc = csv_text_write_safe(o, texts[i], e);
        if (rc < 0)
            return rc;
        out_text(o, ",");
    }
    return 0;
}
