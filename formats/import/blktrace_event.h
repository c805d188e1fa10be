/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The bytes of one event of blktrace's files (Linux, include/uapi/linux/blktrace_api.h): version 7 is struct
 * blk_io_trace, 48 bytes, version 8 (from Linux 6.19 on) struct blk_io_trace2, 64 bytes with a wider
 * action; then pdu_len bytes of payload. In the byte order of the traced machine.
 */
#ifndef IOTAPE_BLKTRACE_EVENT_H
#define IOTAPE_BLKTRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/import/blktrace_read.h"

#define BT_MAGIC_BYTES     4
#define BT_EVENT_BYTES_MIN 48
#define BT_EVENT_BYTES_MAX 64

struct bt_layout {
    bool swapped; /* against this machine */
    uint8_t version, event_bytes;
};

/* Who numbered the event, and how. */
struct bt_numbers {
    uint32_t sequence, cpu;
};

/* Sets the layout of the event whose first BT_MAGIC_BYTES are at `at`; false where it is none that is known.
 */
bool bt_layout_find(struct bt_layout *l, const uint8_t *at);

/* The version of an event, also of one that is not known; 0 where none begins at `at`. */
unsigned bt_version_of(const uint8_t *at);

/* Payload bytes behind an event's own. */
size_t bt_pdu_len(const struct bt_layout *l, const uint8_t *at);

/* `at` has l->event_bytes + pdu_len bytes. lost, file and at_byte are left 0. */
void bt_event_decode(const struct bt_layout *l, const uint8_t *at, size_t pdu_len, struct bt_event *ev,
        struct bt_numbers *n);

#endif
