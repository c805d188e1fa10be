/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From process ids to the issuers of a tape, numbered in the order of their first I/O.
 */
#ifndef IOTAPE_ISSUERS_H
#define IOTAPE_ISSUERS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/tape.h"

/* A hash table with open addressing. Zero-initialised is empty. */
struct issuers {
    struct issuer_slot {
        uint32_t pid, id;
        uint8_t used;
    } * slots;
    size_t room, count;
};

/* What a process is to be called in the tape. `name` has 32 bytes. */
typedef void issuer_namer(void *self, uint32_t pid, size_t number, char *name);

/* The issuer of a process; one that is new is named by `namer` and added to the tape. Beyond
 * TAPE_ISSUERS_MAX all are the last one. */
int issuers_get(struct issuers *t, struct tape_writer *w, uint32_t pid, issuer_namer *namer, void *self,
        uint32_t *id, struct err *e);

void issuers_release(struct issuers *t);

#endif
