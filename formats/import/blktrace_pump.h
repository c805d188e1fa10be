/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From a block trace's events, in whatever form they are stored, to a tape: sorted by time within a window,
 * then matched into I/Os.
 */
#ifndef IOTAPE_BLKTRACE_PUMP_H
#define IOTAPE_BLKTRACE_PUMP_H

#include "formats/import.h"
#include "formats/import/blktrace_read.h"

/* Where events come from. `self` is the form's own. */
struct bt_events {
    void *self;
    /* The next event: 1, 0 at the end, or -errno with file and place. */
    int (*next)(void *self, struct bt_event *ev, struct err *e);
    /* File and place of an event before the text of an error about it. */
    int (*blame)(void *self, const struct bt_event *ev, struct err *e);
};

/* Takes all events; `path` names the trace. Counts what the matcher and the sorter count; `bad` and
 * `disorder` of the form itself are its own to count. *skipped are events that --skip-bad left out. */
int bt_pump(const struct bt_events *from, const char *path, const struct import_options *opts,
        struct import_out *out, uint64_t *skipped, uint64_t *disorder, struct err *e);

#endif
