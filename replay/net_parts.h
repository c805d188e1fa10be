/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inside the client of a socket replay.
 */
#ifndef IOTAPE_NET_PARTS_H
#define IOTAPE_NET_PARTS_H

#include "replay/net.h"
#include "replay/net_feed.h"
#include "replay/peer/address.h"
#include "replay/peer/rsh.h"
#include "replay/peer/talk.h"

struct net {
    const struct settings *settings;
    struct tape_reader *tape;
    struct rsh rsh;
    struct talk talk;
    struct address address;
    struct peer_event *batch; /* EVENTS_BATCH_MAX */
    struct message *message;  /* the last that came */
    struct bytes records, tokens;
    bool broken; /* the channel is of no use any more */
    /* of the repetition */
    struct run_writer *run;
    uint32_t repetition;
    struct run_exchanges exchanges;
    uint32_t exchange_room;
    struct net_feed *feed;
    struct flow *flow;
    uint64_t window, known, done_there; /* events: room, known to the other end, done there */
    bool ended, have_results;
    uint64_t took_ns; /* when the other end last took events, or had taken all */
    struct lateness lateness_there;
    uint64_t there[MESSAGE_NUMBERS_MAX];
    struct process_usage before;
};

/* Feeds what there is room for, and takes what the other end says. 0 or -errno. */
int net_step(struct net *n, struct err *e);

/* Puts how the other end came to its end before the text of an error that may follow from that. */
int net_blame(struct net *n, int code, struct err *e);

/* Stores exchanges: flow_options.results. */
int net_store(void *context, const struct flow_result *list, uint32_t count, struct err *e);

#endif
