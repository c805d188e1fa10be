/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The I/Os of a block trace that have been queued and are not in the tape yet, or wait for their end, and
 * where they lie. An I/O consists of pieces: one range of one device at first; splitting and remapping
 * add some. A completion finds pieces by their place.
 *
 * Memory is bounded: at most BT_HELD_MAX I/Os wait for their turn, and BT_LATE_MAX for a late end.
 */
#ifndef IOTAPE_BLKTRACE_OPEN_H
#define IOTAPE_BLKTRACE_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"

#define BT_HELD_MAX   65536
#define BT_LATE_MAX   65536
#define BT_PIECES_MAX 524288

/* What a piece can be matched with. BT_TAIL is the end of a write that goes through the flush machinery:
 * it completes once more, with no bytes. */
enum bt_class { BT_CLASS_READ, BT_CLASS_WRITE, BT_CLASS_DISCARD, BT_CLASS_FLUSH, BT_CLASS_TAIL };

struct bt_io;

struct bt_piece {
    struct bt_piece *next, *prev;            /* in its bucket, the oldest first */
    struct bt_piece *sibling, *sibling_prev; /* of the same I/O */
    struct bt_io *io;
    uint64_t sector;
    uint32_t bytes;
    uint16_t device; /* index */
    uint8_t class;
    bool below;    /* on a device that the I/O was remapped to */
    bool remapped; /* to a device below */
    bool expected; /* the same range will be queued once more, and is no new I/O */
    bool issued;
};

enum bt_state {
    BT_OPEN,
    BT_PROVISIONAL, /* ended, but a later end may come */
    BT_ENDED,
};

struct bt_io {
    struct bt_io *next, *prev; /* in its list, in order of arrival */
    struct bt_piece *pieces;
    uint32_t own, below; /* pieces that are not complete */
    struct block_record r;
    uint64_t end_ns, ordinal;
    bool late; /* it is in the tape without its latency */
    enum bt_state state;
};

struct bt_list {
    struct bt_io *first, *last;
    size_t count;
};

struct bt_bucket {
    struct bt_piece *first, *last;
};

struct bt_open {
    struct bt_list held, late;
    struct bt_bucket *buckets; /* a power of two, grown with the pieces */
    size_t bucket_bits;
    struct bt_io *free_ios;
    struct bt_piece *free_pieces;
    size_t piece_count, expected_count;
};

int bt_open_init(struct bt_open *o, struct err *e);
void bt_open_release(struct bt_open *o);

/* A new I/O at the end of `held`, without pieces; NULL where memory is out. */
struct bt_io *bt_io_new(struct bt_open *o);
/* Takes an I/O out of its list, frees it and its pieces. */
void bt_io_free(struct bt_open *o, struct bt_io *io);
/* From `held` to the end of `late`. */
void bt_io_make_late(struct bt_open *o, struct bt_io *io);

/* A new piece; NULL where memory or BT_PIECES_MAX is out. It is not counted in own or below. */
struct bt_piece *bt_piece_new(struct bt_open *o, struct bt_io *io, uint16_t device, enum bt_class class,
        uint64_t sector, uint32_t bytes);
void bt_piece_free(struct bt_open *o, struct bt_piece *p);
void bt_piece_expect(struct bt_open *o, struct bt_piece *p, bool expected);
/* Gives a piece another place. It becomes the youngest there. */
void bt_piece_move(struct bt_open *o, struct bt_piece *p, uint64_t sector, uint32_t bytes);

/* The oldest piece that begins at a place; then the next one there. NULL for none. */
struct bt_piece *bt_piece_at(const struct bt_open *o, uint16_t device, enum bt_class class, uint64_t sector);
struct bt_piece *bt_piece_next(const struct bt_piece *p);

#endif
