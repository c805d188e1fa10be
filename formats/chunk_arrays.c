/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/chunk_arrays.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int arrays_alloc(const struct array *a, size_t n, uint32_t count, struct err *e)
{
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        void *p = malloc(a[i].elem_bytes * count);
        memcpy(a[i].pointer, &p, sizeof p);
        whole = whole && p;
    }
    if (whole)
        return 0;
    for (size_t i = 0; i < n; i++) {
        void *p;
        memcpy(&p, a[i].pointer, sizeof p);
        free(p);
        p = NULL;
        memcpy(a[i].pointer, &p, sizeof p);
    }
    return err_sys(e, ENOMEM, "cannot hold a chunk");
}

uint32_t arrays_room_for(uint32_t count)
{
    uint32_t room = 256;
    while (room < count)
        room *= 2;
    return room;
}
