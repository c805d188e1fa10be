/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blktrace's binary files: one for each CPU, all of which are merged by time here.
 */
#ifndef IOTAPE_BLKTRACE_READ_H
#define IOTAPE_BLKTRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/import/input.h"

/* Categories, the action from its bit 16 on (enum blktrace_cat); from 1 << 16 on only in version 8. */
enum {
    BT_READ = 1 << 0,
    BT_WRITE = 1 << 1,
    BT_FLUSH = 1 << 2,
    BT_SYNC = 1 << 3,
    BT_PASSTHROUGH = 1 << 9,
    BT_NOTIFY = 1 << 10,
    BT_AHEAD = 1 << 11,
    BT_META = 1 << 12,
    BT_DISCARD = 1 << 13,
    BT_FUA = 1 << 15,
    BT_ZONES = 0x3f << 16, /* append, reset, reset all, finish, open, close */
    BT_WRITE_ZEROES = 1 << 22,
};

/* Actions, the lower 16 bits (enum blktrace_act). With BT_CGROUP an 8-byte id precedes the payload. */
enum {
    BT_QUEUE = 1,
    BT_BACKMERGE,
    BT_FRONTMERGE,
    BT_GETRQ,
    BT_SLEEPRQ,
    BT_REQUEUE,
    BT_ISSUE,
    BT_COMPLETE,
    BT_PLUG,
    BT_UNPLUG_IO,
    BT_UNPLUG_TIMER,
    BT_INSERT,
    BT_SPLIT,
    BT_BOUNCE,
    BT_REMAP,
    BT_ABORT,
    BT_DRV_DATA,
    BT_CGROUP = 1 << 8,
};

/* Notes, the lower 16 bits where the category is BT_NOTIFY (enum blktrace_notify). */
enum { BT_NOTE_PROCESS, BT_NOTE_TIMESTAMP, BT_NOTE_MESSAGE };

/* One event in the host's byte order, the cgroup bit taken off. */
struct bt_event {
    uint64_t t_ns, sector;
    uint32_t bytes, pid, device;
    uint32_t category;
    uint16_t action;
    uint16_t error; /* errno */
    uint16_t file;
    uint32_t tag;     /* the caller's, where there is a watch */
    uint32_t lost;    /* events that are missing before this one, by its sequence number */
    uint64_t at_byte; /* of its file */
    union {
        struct {
            uint32_t from, to; /* devices */
            uint64_t from_sector;
        } remap;          /* BT_REMAP; a short payload leaves from = to = 0 */
        uint64_t split;   /* BT_SPLIT: sector of the rest, 0 where it is not said */
        char name[16];    /* BT_NOTE_PROCESS, with its final 0 */
        uint64_t wall_ns; /* BT_NOTE_TIMESTAMP: since 1970 */
    };
};

struct bt_input;

/* Opens `paths` and the files of other CPUs beside them: `x.blktrace.0`, and also a base name `x`, stand
 * for all of x.blktrace.N. */
int bt_input_open(struct bt_input **in, const char *const *paths, size_t count, bool skip_bad,
        struct input *standard, struct err *e);
void bt_input_close(struct bt_input *in); /* NULL is allowed */

/* The event with the lowest time among the files' next ones: 1, 0 at the end of all, or -errno with file
 * and byte. A single file's events come in its own order. With skip_bad what cannot be read is counted,
 * and reading goes on at the next magic number. */
int bt_input_next(struct bt_input *in, struct bt_event *ev, struct err *e);

/* "'FILE', byte N: " before the text of an error about an event. */
int bt_input_blame(const struct bt_input *in, const struct bt_event *ev, struct err *e);

uint64_t bt_input_bad(const struct bt_input *in);      /* places that could not be read */
uint64_t bt_input_disorder(const struct bt_input *in); /* events earlier than one before in the same file */

/* Whether x.blktrace.N exist for a base name, or beside such a name. */
bool bt_input_stands_for(const char *path);

/* Whether a file begins with an event of any version and byte order. */
bool bt_input_probe(const uint8_t *head, size_t len);

#endif
