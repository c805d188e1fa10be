/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the responders' end measured, as a control message.
 */
#ifndef IOTAPE_PEER_RESULTS_WIRE_H
#define IOTAPE_PEER_RESULTS_WIRE_H

#include "formats/base/err.h"
#include "replay/peer/flow.h"
#include "replay/peer/message.h"
#include "replay/peer/process.h"

/* Fill in numbers of a `results`. */
void results_wire_counts(struct message *m, const struct flow_counts *c);
void results_wire_usage(
        struct message *m, const struct process_usage *before, const struct process_usage *after);

/* Puts the histogram into `room`, which m->bin[0] refers to from then on. -ENOMEM. */
int results_wire_lateness(struct message *m, const struct lateness *l, struct bytes *room, struct err *e);
/* Adds the histogram of a message to *l. -EPROTO for buckets that there are not. */
int results_wire_add_lateness(const struct message *m, struct lateness *l, struct err *e);

#endif
