/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The files of a recording in parts: -o web01.tape makes web01-000001.tape, web01-000002.tape, ... in the
 * same folder, of which the last ones are kept. Parts of an earlier recording count as kept ones, whole or
 * not; the numbers go on. What is saved is renamed to web01-saved-000007.tape, and is not ours any more.
 *
 * Only files of such names which are tapes are ever removed.
 */
#ifndef IOTAPE_PARTS_H
#define IOTAPE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

struct part {
    uint64_t number, ended_unix_ns;
    bool is_whole; /* else NAME.partial, which the recorder that wrote it left */
};

struct parts {
    char *folder, *stem, *suffix; /* owned */
    struct part *list;            /* those that are kept, oldest first */
    size_t count, room, keep;
    uint64_t number; /* of the part that is being written */
};

/* Looks at what is there. The first part's number is one above all others'. -EBUSY where another recorder is
 * writing one. Release in any case. */
int parts_init(struct parts *p, const char *output, size_t keep, struct err *e);
void parts_release(struct parts *p);

/* The place of the part that is being written. Owned by the caller; NULL: no memory. */
char *parts_path(const struct parts *p);

/* The next part. */
void parts_advance(struct parts *p);

/* Part `number` is finished and ended now: it is kept, and the oldest ones beyond `keep` are removed. */
int parts_finished(struct parts *p, uint64_t number, struct err *e);

/* Renames the parts that ended at or after `since_unix_ns`. *first, *last are their numbers, *count how many.
 */
int parts_save(struct parts *p, uint64_t since_unix_ns, size_t *count, uint64_t *first, uint64_t *last,
        struct err *e);

/* Nanoseconds since 1970. */
uint64_t parts_now(void);

#endif
