/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inside a flow: conversations, their steps, the thread that they belong to. Everything here is one thread's
 * own, but for the inbox.
 */
#ifndef IOTAPE_PEER_FLOW_CONV_H
#define IOTAPE_PEER_FLOW_CONV_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/pace.h"
#include "replay/peer/arrival.h"
#include "replay/peer/clients.h"
#include "replay/peer/flow.h"
#include "replay/peer/timers.h"

#define FLOW_BUFFER_BYTES 262144
/* A transfer of more at once is part of a stream. */
#define FLOW_SMALL_BYTES 16384
/* What one conversation may move before others have their turn. */
#define FLOW_TURN_BYTES (16 * FLOW_BUFFER_BYTES)

/* An event of a conversation that is not done. */
struct step {
    struct step *next;
    uint64_t number, source; /* in what is replayed, in the tape */
    uint64_t t_ns, bytes, watermark, think_ns;
    uint64_t end_units; /* the side's bytes (of UDP: datagrams) up to here; a FIN counts as one more */
    uint8_t kind;       /* enum net_kind */
};

struct steps {
    struct step *first, *last;
};

/* A send of the initiator that may be answered. */
struct request {
    uint64_t source, end_units, scheduled_ns, issued_ns, bytes;
};

enum conv_state {
    CONV_WAITING,    /* not connected yet */
    CONV_CONNECTING, /* the initiators' end: connect(2) is under way */
    CONV_GREETING,   /* UDP: cookies are exchanged */
    CONV_OPEN,
    CONV_OVER, /* closed; stays until its last event has come */
};

struct conv {
    struct timer timer;              /* first: a timer's address is its conversation's */
    struct conv *next;               /* in its bucket */
    uint32_t number, source, client; /* source: its number in the tape */
    uint16_t port;
    uint8_t protocol, marks, state;
    int fd;
    struct steps own, peer; /* what this end does, what it expects */
    bool end_known;         /* the last event has come */
    bool fin_sent, fin_received, cut, released, stepping, waits_client, held, early;
    uint64_t told[NET_SIDES];       /* units that events so far amount to */
    uint64_t told_bytes[NET_SIDES]; /* the same in bytes, without FINs */
    uint64_t received;              /* units: what watermarks count */
    uint64_t given_up;              /* expected datagrams that were */
    uint64_t received_bytes, sent_bytes, left_bytes;
    uint64_t
            reached_ns; /* when the first own step's watermark was reached; 0: not, or with the step before */
    uint64_t done_ns;   /* of the own step before, or when the connection stood */
    uint64_t owed_ns;   /* what own steps were late by, and think times are still to be shorter by */
    uint64_t heard_ns, moved_ns; /* when the last bytes arrived; last progress of any kind */
    uint64_t connect_t_ns, previous_t_ns,
            peer_t_ns;                /* recorded: of the connect, of own and peer's events before */
    uint64_t peer_data_t_ns;          /* recorded: of the last data of the peer that events tell of */
    uint64_t scheduled_ns, issued_ns; /* of the own step that is being done */
    uint8_t token[EVENTS_TOKEN_BYTES], cookie[EVENTS_TOKEN_BYTES];
    bool have_cookie;
    uint64_t greeting_ns; /* when cookies were first asked for */
    uint64_t connect_source, connect_scheduled_ns, connect_issued_ns;
    /* exchanges, at the initiators' end */
    struct request *request;
    uint32_t request_first, request_count, request_room;
    bool answering;
    struct request answered;
    uint64_t answer_watermark, answer_ns, answer_bytes;
};

enum note_type { NOTE_EVENT, NOTE_ACCEPT, NOTE_ABSENT, NOTE_RELEASE, NOTE_GO, NOTE_ALLOW };

/* What other threads say to this one. */
struct note {
    enum note_type type;
    int fd, code;
    uint32_t conversation;
    uint64_t at_ns;
    struct peer_event event;
};

struct notes {
    struct note *list;
    size_t count, room;
};

struct flow_thread {
    struct flow *flow;
    unsigned index;
    pthread_t thread;
    bool running;
    int epoll_fd, inbox_fd;
    bool no_pwait2;
    pthread_mutex_t lock; /* of `inbox` */
    struct notes inbox, taken;
    size_t taken_next; /* of `taken`: the first that was not looked at */
    struct conv **bucket;
    size_t buckets, convs;
    struct step *spare; /* steps to be used again */
    struct step **slab; /* all that were made */
    size_t slabs;
    struct timers timers;
    struct pace pace;
    struct arrival_clock arrivals;
    uint64_t now_ns, watch_ns;
    uint8_t *sink; /* FLOW_BUFFER_BYTES for what is received */
    struct flow_result *result;
    uint32_t results;
    struct flow_counts counts;
    uint64_t open;
    uint32_t hot; /* the conversation of TCP that was ready last */
    cpu_set_t cpus;
    uint64_t moved_ns; /* when this thread last looked where it runs */
    unsigned met;      /* how often in turn it was where the other end is */
    uint64_t send_ns;  /* what sending a small message takes: a moving mean */
    bool streaming;    /* the last transfer was of many bytes: a sleep gains, as more comes at once */
    uint32_t *held;    /* conversations whose next step is not allowed yet */
    size_t held_count, held_room;
};

struct flow {
    struct flow_options o;
    struct flow_thread *thread;
    uint8_t *payload; /* 2 * FLOW_BUFFER_BYTES of random bytes */
    struct clients *clients;
    int event_fd;
    _Atomic uint64_t start_ns; /* 0: not gone yet */
    _Atomic uint64_t allowed;  /* own events before this number may be done */
    _Atomic uint64_t done, convs_open, unsettled, errors;
    atomic_bool ended, stop;
    uint64_t ticked_ns; /* the caller's */
    struct absent {
        uint32_t conversation;
        int code;
    } * absent; /* those that could not be opened, and nobody was told yet */
    size_t absent_count, absent_room;
    pthread_mutex_t lock; /* of the results, of `absent` and of `failure` */
    int failed;
    struct err failure;
};

static inline bool is_initiator(const struct flow *f)
{
    return f->o.side == NET_INITIATOR;
}

/* ---- flow_conv.c ---- */

static inline enum net_side peer_side(const struct flow *f)
{
    return is_initiator(f) ? NET_RESPONDER : NET_INITIATOR;
}

struct conv *conv_find(const struct flow_thread *t, uint32_t number);
/* Takes an event into its conversation. -ENOMEM. */
int conv_add(struct flow_thread *t, const struct peer_event *ev, struct err *e);
/* Events of the peer's side that stand in the inbox still. What they announce may be here before them, as
 * this thread is busy with other conversations. */
struct coming {
    uint64_t units, bytes;
    bool reset, cut;
};
struct coming conv_coming(struct flow_thread *t, const struct conv *c);
/* Takes the first own or expected step off. */
void conv_pop(struct flow_thread *t, struct steps *s);
/* Frees a conversation that is over, if its last event has come. True where it was freed. */
bool conv_retire(struct flow_thread *t, struct conv *c);
void conv_free_all(struct flow_thread *t);

/* ---- flow_step.c ---- */

/* Does what the conversation may do now, and sets its timer for what comes next. */
void conv_advance(struct flow_thread *t, struct conv *c);
/* Takes note of what was received: `units` more, of them `bytes` of data; they arrived `at_ns`. */
void conv_received(struct flow_thread *t, struct conv *c, uint64_t units, uint64_t bytes, uint64_t at_ns);
/* Sets the conversation's timer. */
void conv_set_timer(struct flow_thread *t, struct conv *c, uint64_t due_ns);
/* The connection stands, since `at_ns`. */
void conv_stands(struct flow_thread *t, struct conv *c, uint64_t at_ns);
/* Its end for its client, if it had not ended for it. */
void conv_release_client(struct flow_thread *t, struct conv *c);
/* Closes the connection; the conversation is over, and stays where it is until conv_retire. */
void conv_close(struct flow_thread *t, struct conv *c);
/* An error ends the conversation; too many end the replay. `code`: errno. */
void conv_fail(struct flow_thread *t, struct conv *c, int code, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* ---- flow_tcp.c, flow_udp.c ---- */

/* Retransmitted segments of a socket. */
uint64_t tcp_retransmits(int fd);
void tcp_connect(struct flow_thread *t, struct conv *c);
void tcp_accepted(struct flow_thread *t, struct conv *c, int fd, uint64_t at_ns);
void tcp_ready(struct flow_thread *t, struct conv *c, uint32_t events);
/* Takes what has come, and does what may be done then; false where nothing has come. Of an open one. */
bool tcp_look(struct flow_thread *t, struct conv *c);
/* Sends what is left of a step. 1: all, 0: not yet, -1: the conversation has failed. */
int tcp_send(struct flow_thread *t, struct conv *c);
/* Follows a socket's readiness, edge-triggered. 0 or -errno. */
int tcp_follow(struct flow_thread *t, const struct conv *c);
/* Half-closes. 0 or -1. */
int tcp_shut(struct flow_thread *t, struct conv *c);
/* Resets, once all that was sent has been acknowledged. 1: done, 0: not yet. */
int tcp_reset(struct flow_thread *t, struct conv *c);

/* The address that data connections go to, with a port. */
struct sockaddr_storage flow_address(const struct flow *f, uint16_t port);

void udp_connect(struct flow_thread *t, struct conv *c);
void udp_accepted(struct flow_thread *t, struct conv *c, int fd);
void udp_ready(struct flow_thread *t, struct conv *c);
int udp_send(struct flow_thread *t, struct conv *c);
/* Waits no longer for datagrams that must be lost, so that they take no room of others. */
void udp_give_up(struct flow_thread *t, struct conv *c);
/* Asks (again) while cookies are exchanged. */
void udp_greet(struct flow_thread *t, struct conv *c);

/* ---- flow_exchange.c ---- */

void exchange_connected(struct flow_thread *t, struct conv *c, int code, uint64_t at_ns);
/* A send has begun; an expected send has arrived in full; nothing more will. */
void exchange_request(struct flow_thread *t, struct conv *c, const struct step *s);
void exchange_answer(struct flow_thread *t, struct conv *c, const struct step *s, uint64_t at_ns);
void exchange_over(struct flow_thread *t, struct conv *c);
/* Hands results over. */
void exchange_flush(struct flow_thread *t);

/* ---- flow_watch.c ---- */

/* Looks for conversations that wait in vain; at most once in FLOW_TICK_NS does anything. */
void watch(struct flow_thread *t);

/* ---- flow_thread.c ---- */

void *flow_thread_main(void *context);
/* Says to a thread what others have to say. -ENOMEM. */
int flow_note(struct flow_thread *t, const struct note *n, struct err *e);
/* Wakes the thread, after notes. */
void flow_wake(struct flow_thread *t);
/* The first failure is kept; everything ends. */
void flow_fail(struct flow *f, const struct err *e);
void flow_notify(struct flow *f);

#endif
