/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The client of a socket replay: starts the other end (peer/serve.h) through a remote shell, feeds both ends
 * the tape's conversations, and plays the initiators.
 */
#ifndef IOTAPE_NET_H_
#define IOTAPE_NET_H_

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/run.h"
#include "formats/tape.h"
#include "replay/peer/flow.h"
#include "replay/peer/message.h"
#include "replay/peer/process.h"
#include "replay/settings.h"

struct net;

/* Starts the other end and agrees on the protocol. Nothing listens yet. The tape and the settings must
 * outlive it. */
int net_open(struct net **n, const struct settings *s, struct tape_reader *tape, struct err *e);
/* Says goodbye and waits for the other end. NULL is allowed. 0, or -errno where it did not end well. */
int net_close(struct net *n, struct err *e);

/* What a repetition measured, of both ends. */
struct net_sum {
    bool complete;
    struct flow_counts here;
    uint64_t there[MESSAGE_NUMBERS_MAX]; /* numbers of a `results` (peer/message.h); zeros where none came */
    struct process_usage before, after;
    uint64_t errors; /* conversations that failed at either end */
};

/* A repetition in three steps. First the other end listens and both know as much of the tape as there is room
 * for; then the clock starts at `start_ns` (pace_now_ns); then all is replayed, and exchanges are written to
 * `run` as results of `repetition`. Where `stop` cuts it short, the first and the last return -EINTR; *sum of
 * net_run holds what was measured in any case. */
int net_prepare(struct net *n, struct run_writer *run, uint32_t repetition, const volatile sig_atomic_t *stop,
        struct err *e);
int net_go(struct net *n, uint64_t start_ns, struct err *e);
int net_run(struct net *n, const volatile sig_atomic_t *stop, struct net_sum *sum, struct err *e);

/* What data connections go to: facts for a run. */
int net_describe(const struct net *n, struct facts *f, struct err *e);

/* Puts what was measured into the net_ fields of a summary. */
void net_sum_store(const struct net_sum *sum, struct run_repetition *r);
/* One line on standard error. */
void net_sum_print(const char *name, const struct run_repetition *r, const struct net_sum *sum);

#endif
