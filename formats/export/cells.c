/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/export/cells.h"

#include <errno.h>
#include <stdlib.h>

#define NAME_BYTES 16384

void cells_release(struct cells *c)
{
    for (size_t i = 0; c->text && i < c->count; i++)
        free(c->text[i]);
    free(c->text);
    free(c->len);
}

int cells_init(struct cells *c, size_t count, char *(*quote)(const char *text, struct err *e), struct err *e)
{
    c->count = count;
    c->quote = quote;
    c->text = calloc(count + 1, sizeof *c->text);
    c->len = calloc(count + 1, sizeof *c->len);
    return c->text && c->len ? 0 : err_sys(e, ENOMEM, "cannot hold %zu names", count);
}

int cells_make(struct cells *c, uint32_t id, const char *name, struct err *e)
{
    c->text[id] = c->quote(name, e);
    if (!c->text[id])
        return -ENOMEM;
    c->len[id] = strlen(c->text[id]);
    if (c->len[id] > NAME_BYTES)
        return err_set(e, EINVAL, "the name of stream or issuer %u has %zu bytes: too long for a line", id,
                c->len[id]);
    return 0;
}
