/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the matcher (blktrace_match.h) share; for no one else.
 */
#ifndef IOTAPE_BLKTRACE_STATE_H
#define IOTAPE_BLKTRACE_STATE_H

#include "formats/import/blktrace_devices.h"
#include "formats/import/blktrace_match.h"
#include "formats/import/blktrace_open.h"

#define BT_SECTOR        512u
#define BT_WALL_SLACK_NS UINT64_C(60000000000) /* a wall clock may be set so far while it is traced */
#define BT_SEARCH_MAX    256                   /* candidates at one place, or I/Os looked back at */

/* What is worth telling, in the tape's counts. */
struct bt_counts {
    uint64_t queued_passthrough, issued_passthrough, unknown_actions, from_issue, unmatched, queued_again,
            forgotten, zone_operations;
};

struct bt_matcher {
    struct import_out *out; /* or */
    const struct bt_watch *watch;
    bool keep_names, begun;
    struct bt_open open;
    struct bt_devices devices;
    struct bt_processes processes;
    struct bt_counts counts;
    uint64_t start_ns, now_ns, records;
    uint64_t wall_start_ns; /* of start_ns, since 1970, by the first note that tells; 0: none did */
};

/* What an event's range can be matched with. */
static inline enum bt_class bt_class_of(const struct bt_event *ev)
{
    if (ev->category & BT_DISCARD)
        return BT_CLASS_DISCARD;
    if ((ev->category & BT_FLUSH) && ev->bytes == 0)
        return BT_CLASS_FLUSH;
    return ev->category & BT_WRITE ? BT_CLASS_WRITE : BT_CLASS_READ;
}

/* Where a piece is looked for. A flush lies nowhere: its sector is 0 or, in some kernels, -1. */
static inline uint64_t bt_place_of(enum bt_class class, uint64_t sector)
{
    return class == BT_CLASS_FLUSH ? 0 : sector;
}

/* ---- blktrace_begin.c ---- */

enum bt_want { BT_ANY, BT_NOT_ISSUED, BT_ISSUED_FIRST };

/* The oldest piece with bytes at a place, or NULL. BT_ISSUED_FIRST takes one that is late, or not issued,
 * where there is no other. */
struct bt_piece *bt_piece_for(
        struct bt_matcher *m, uint16_t device, enum bt_class class, uint64_t sector, enum bt_want want);

/* The piece of this very range that was announced by a split or a remap, or NULL. */
struct bt_piece *bt_piece_expected(
        struct bt_matcher *m, uint16_t device, enum bt_class class, uint64_t sector, uint32_t bytes);

/* Marks what a request consists of as issued (D) or not (R). Returns how many pieces it had. */
size_t bt_mark_issued(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, bool issued);

int bt_take_queue(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e);
int bt_take_issue(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e);

/* ---- blktrace_remap.c ---- */

int bt_take_split(struct bt_matcher *m, const struct bt_event *ev, uint16_t device);
int bt_take_remap(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e);

/* ---- blktrace_end.c ---- */

int bt_take_complete(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e);

/* ---- blktrace_match.c ---- */

/* Gives an I/O that is in the tape its latency, if it has ended, and frees it. */
int bt_write_late(struct bt_matcher *m, struct bt_io *io, struct err *e);

#endif
