/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One end of a socket replay: threads that follow events (formats/net.h), each on an epoll of its own. The
 * initiators' end connects, the responders' end is given connections; else both are the same.
 *
 * A conversation belongs to one thread. Events come in tape order, ahead of time; an event is done when this
 * end has done it (its own side's) or when what it announced has arrived (the other side's). Memory is in
 * proportion to events that are not done and to conversations that are open.
 */
#ifndef IOTAPE_PEER_FLOW_H
#define IOTAPE_PEER_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "formats/base/err.h"
#include "replay/lateness.h"
#include "replay/peer/events.h"
#include "replay/settings.h"

#define FLOW_THREADS_MAX 64
#define FLOW_RESULTS_MAX 4096
#define FLOW_PORTS_MAX   8
#define FLOW_TICK_NS     250000000u

/* What was measured of one connect or exchange, at the initiators' end. An exchange is a send of the
 * initiator and what the responder sends when it has seen it and before it sees more; its latency is from the
 * send's first byte to the answer's last one. Times count from flow_go's. */
enum flow_result_kind { FLOW_CONNECT, FLOW_EXCHANGE };
struct flow_result {
    uint64_t event; /* number in the tape of the connect or send */
    uint64_t scheduled_ns, issued_ns, latency_ns;
    uint64_t sent_bytes, received_bytes;
    uint32_t conversation;
    uint16_t error;
    uint8_t kind;
};

struct flow_options {
    enum net_side side;
    unsigned threads;
    enum replay_timing timing;
    double speed;
    uint64_t stall_timeout_ns;
    uint64_t errors_max; /* more of them end the replay */
    /* The initiators' end: where to, one port for each listener. */
    struct sockaddr_storage address;
    socklen_t address_len;
    uint16_t tcp_port[FLOW_PORTS_MAX], udp_port;
    unsigned tcp_ports;
    /* Takes results, at most FLOW_RESULTS_MAX at once, one thread at a time; NULL: none wanted. */
    int (*results)(void *context, const struct flow_result *list, uint32_t count, struct err *e);
    void *context;
};

struct flow_counts {
    uint64_t conversations; /* that came to their end */
    uint64_t received_bytes, sent_bytes, messages, datagrams_received, datagrams_sent;
    uint64_t retransmits, errors, behind, spun_ns, connects;
    uint64_t open_max;                    /* connections that stood at once */
    uint64_t first_byte_ns, last_byte_ns; /* received, since the start; 0 where none */
    uint64_t elapsed_ns;                  /* start to the last thing done */
    struct lateness lateness;
};

struct flow;

int flow_open(struct flow **f, const struct flow_options *o, struct err *e);
/* Stops the threads, closes what is open, frees all. NULL is allowed. */
void flow_close(struct flow *f);

/* Hands over the next events. An end's own ones wait until flow_allow says how many events, from the first
 * on, the other end knows, too: what comes from there is never a surprise. */
int flow_add(struct flow *f, const struct peer_event *list, size_t count, struct err *e);
void flow_allow(struct flow *f, uint64_t events);
/* No more events will come. */
void flow_end(struct flow *f);
/* Starts the clock: times of the tape count from `start_ns` (pace_now_ns). */
void flow_go(struct flow *f, uint64_t start_ns);
/* The responders' end: a connection for a conversation whose connect was added, which stands since `at_ns`.
 * Owns the fd. */
int flow_accept(struct flow *f, uint32_t conversation, int fd, uint64_t at_ns, struct err *e);

/* The responders' end: a conversation will not come, as its connect failed with this errno. */
int flow_absent(struct flow *f, uint32_t conversation, int code, struct err *e);
/* The initiators' end: the next conversation of which the other end is to be told that; false where none is.
 */
bool flow_take_absent(struct flow *f, uint32_t *conversation, int *code);

/* Readable when something has changed that the caller waits for: events done, all done, failed. */
int flow_fd(const struct flow *f);
/* Makes it unreadable again. */
void flow_noticed(struct flow *f);
uint64_t flow_done(const struct flow *f); /* events */
bool flow_finished(const struct flow *f); /* flow_end was called and all is done */
/* To be called every FLOW_TICK_NS or so: threads that wait look for conversations that wait in vain. */
void flow_tick(struct flow *f);
/* 0, or -errno and what failed. */
int flow_failure(struct flow *f, struct err *e);
/* Where began_before conversations have all been opened, before flow_go. */
bool flow_settled(const struct flow *f);

/* Stops the threads and sums up. */
void flow_stop(struct flow *f, struct flow_counts *counts);

#endif
