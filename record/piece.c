/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/piece.h"

#include <errno.h>
#include <stdlib.h>

int pieces_add(struct pieces *p, uint32_t stream, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    if (p->count == p->room) {
        size_t room = p->room ? p->room * 2 : 8;
        struct piece *more = reallocarray(p->list, room, sizeof *more);
        if (!more)
            return err_sys(e, ENOMEM, "cannot keep the pieces of an I/O");
        p->list = more;
        p->room = room;
    }
    p->list[p->count++] = (struct piece){stream, offset_bytes, len_bytes};
    return 0;
}

void pieces_release(struct pieces *p)
{
    free(p->list);
    *p = (struct pieces){0};
}
