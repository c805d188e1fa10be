/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the events of a block trace, in order of time, to the records of a tape.
 *
 * An I/O begins where it is queued (Q), or where it is issued (D) if it was not queued in the trace; it
 * ends with the completion (C) of its last byte. A completion covers a request, which may hold several
 * merged I/Os or a part of a split one. An I/O that is remapped (A) to another device ends with its own
 * device's completion where there is one, else with that of the device below, and what is queued below
 * is no I/O of its own. A write with preflush or FUA through the flush machinery completes twice, the second
 * time without bytes: that is its end (Linux, block/blk-flush.c).
 */
#ifndef IOTAPE_BLKTRACE_MATCH_H
#define IOTAPE_BLKTRACE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/import/blktrace_read.h"
#include "formats/import/import_out.h"

/* An end that may come later than the first is waited for as long, and an I/O without an end holds
 * back what arrived after it as long. */
#define BT_HOLD_NS UINT64_C(2000000000)

struct bt_matcher;

/* In place of a tape: somebody who is told of I/Os as they come. Their stream is the event's `tag`, their
 * issuer its process. `ordinal` counts them from 0 in order of arrival. */
struct bt_watch {
    void *self;
    /* An I/O in its turn; its latency may be TAPE_UNKNOWN: then it is still open. */
    int (*add)(void *self, const struct block_record *r, uint64_t ordinal, struct err *e);
    /* One of those has ended. */
    int (*late)(void *self, const struct block_record *r, uint64_t ordinal, struct err *e);
};

/* `start_ns` becomes t = 0. The watch must outlive the matcher. */
int bt_matcher_watch(struct bt_matcher **m, const struct bt_watch *watch, uint64_t start_ns, struct err *e);

/* All I/Os that the watch has not been told of, or not of their end, with the ordinal that they have or will
 * have. A negative result ends it and becomes the result. */
int bt_matcher_pending(const struct bt_matcher *m,
        int (*take)(void *self, const struct block_record *r, uint64_t ordinal, struct err *e), void *self,
        struct err *e);

/* Lets go what need not be waited for, at a time when no event came. */
int bt_matcher_tick(struct bt_matcher *m, uint64_t t_ns, struct err *e);

/* Ends whose begin was not seen, and I/Os that are not recorded. */
uint64_t bt_matcher_unmatched(const struct bt_matcher *m);
uint64_t bt_matcher_other_ops(const struct bt_matcher *m);

int bt_matcher_open(struct bt_matcher **m, struct import_out *out, bool keep_names, struct err *e);
void bt_matcher_close(struct bt_matcher *m); /* NULL is allowed */

/* Takes the next event; times must not go back. The first event's time is the tape's start. -EBADMSG for
 * an event that cannot be (with a text that does not name the file). */
int bt_matcher_take(struct bt_matcher *m, const struct bt_event *ev, struct err *e);

/* Writes what is left, losses and counts. *records and *elapsed_ns are those of all events. */
int bt_matcher_finish(struct bt_matcher *m, uint64_t *records, uint64_t *elapsed_ns, struct err *e);

#endif
