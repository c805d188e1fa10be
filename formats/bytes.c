/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int bytes_reserve(struct bytes *b, size_t more, struct err *e)
{
    if (more > SIZE_MAX - b->len)
        return err_sys(e, ENOMEM, "cannot hold %zu bytes more", more);
    size_t need = b->len + more;
    if (need <= b->cap)
        return 0;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    uint8_t *data = realloc(b->data, cap);
    if (!data)
        return err_sys(e, ENOMEM, "cannot hold %zu bytes", cap);
    b->data = data;
    b->cap = cap;
    return 0;
}

int bytes_append(struct bytes *b, const void *data, size_t len, struct err *e)
{
    int r = bytes_reserve(b, len, e);
    if (r < 0)
        return r;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}

void bytes_release(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}
