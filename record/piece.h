/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What an I/O of a device is in the tape: no record, one, or several where it touches places of a file that
 * are not neighbours, or where both a disk and a file on it are recorded.
 */
#ifndef IOTAPE_PIECE_H
#define IOTAPE_PIECE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

struct piece {
    uint32_t stream; /* of streams.h */
    uint64_t offset_bytes, len_bytes;
};

/* Zero-initialised is empty. */
struct pieces {
    struct piece *list;
    size_t count, room;
};

int pieces_add(struct pieces *p, uint32_t stream, uint64_t offset_bytes, uint64_t len_bytes, struct err *e);
void pieces_release(struct pieces *p);

#endif
