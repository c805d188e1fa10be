/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counting up what a tape holds, and its form in the index: "totals" (TAPE.md).
 */
#ifndef IOTAPE_TOTALS_H
#define IOTAPE_TOTALS_H

#include "formats/pack.h"
#include "formats/tape.h"

/* Makes room for streams 0 to count - 1, new ones zero. */
int totals_streams(struct tape_totals *t, size_t count, struct err *e);

/* Counts a record, its stream within stream_count; its number is t->records. */
void totals_add(struct tape_totals *t, const struct block_record *r);

/* Counts a whole chunk. */
void totals_add_chunk(struct tape_totals *t, const struct block_chunk *c);

/* A record that was counted without latency has got one. */
void totals_late(
        struct tape_totals *t, uint32_t stream, uint64_t ordinal, uint64_t latency_ns, uint16_t error);

/* Name and value of a thing worth counting. */
struct totals_count {
    char *name;
    uint64_t count;
};

int totals_pack(const struct tape_totals *t, const struct totals_count *counts, size_t count_count,
        struct bytes *out, struct err *e);
/* -EBADMSG. On failure *t is empty. */
int totals_read(struct value v, struct tape_totals *t, struct err *e);

/* Whether what was counted from the records equals what the tape says; lost events and names apart. */
int totals_compare(const struct tape_totals *counted, const struct tape_totals *stored, struct err *e);

#endif
