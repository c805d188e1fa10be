/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/issuers.h"

#include <errno.h>
#include <stdlib.h>

static struct issuer_slot *slot_of(const struct issuers *t, uint32_t pid)
{
    size_t i = (pid * UINT32_C(0x9e3779b1) >> 8) & (t->room - 1);
    while (t->slots[i].used && t->slots[i].pid != pid)
        i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

static int grow(struct issuers *t, struct err *e)
{
    struct issuers larger = {.room = t->room ? t->room * 2 : 64, .count = t->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return err_sys(e, ENOMEM, "cannot tell processes apart");
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].used)
            *slot_of(&larger, t->slots[i].pid) = t->slots[i];
    free(t->slots);
    *t = larger;
    return 0;
}

int issuers_get(struct issuers *t, struct tape_writer *w, uint32_t pid, issuer_namer *namer, void *self,
        uint32_t *id, struct err *e)
{
    struct issuer_slot *s = t->room ? slot_of(t, pid) : NULL;
    if (s && s->used) {
        *id = s->id;
        return 0;
    }
    if (t->count == TAPE_ISSUERS_MAX) {
        *id = TAPE_ISSUERS_MAX - 1;
        return 0;
    }
    if (t->count * 2 >= t->room) {
        int status = grow(t, e);
        if (status < 0)
            return status;
    }
    char name[32];
    namer(self, pid, t->count + 1, name);
    int status = tape_writer_issuer(w, name, id, e);
    if (status < 0)
        return status;
    *slot_of(t, pid) = (struct issuer_slot){pid, *id, 1};
    t->count++;
    return 0;
}

void issuers_release(struct issuers *t)
{
    free(t->slots);
    *t = (struct issuers){0};
}
