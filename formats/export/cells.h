/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names of streams or issuers as an export writes them, made when first needed: quoted once and not once a
 * record.
 */
#ifndef IOTAPE_EXPORT_CELLS_H
#define IOTAPE_EXPORT_CELLS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/err.h"

/* Zero-initialised is empty and valid. */
struct cells {
    char **text; /* by id; NULL: not made yet */
    size_t *len;
    size_t count;
    char *(*quote)(const char *text, struct err *e); /* makes a cell, which the caller frees; NULL with *e */
};

/* For ids below `count`. -ENOMEM. */
int cells_init(struct cells *c, size_t count, char *(*quote)(const char *text, struct err *e), struct err *e);
void cells_release(struct cells *c);
/* Makes the cell of a name. -ENOMEM; -EINVAL for one that is too long for a line. */
int cells_make(struct cells *c, uint32_t id, const char *name, struct err *e);

/* Writes a cell that was made at `p`, returns its end. */
static inline char *cells_put(char *p, const struct cells *c, uint32_t id)
{
    return (char *)memcpy(p, c->text[id], c->len[id]) + c->len[id];
}

#endif
