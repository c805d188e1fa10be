/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The data model of socket conversations: who sent how many bytes to whom, and what each send waited for.
 * Never a byte of payload. Times are ns, sizes bytes.
 *
 * A conversation is one TCP connection, or the datagrams of one UDP 4-tuple. Its events begin with one
 * `connect` and end with one of `close`, `reset`, `cut`; an unfinished tape may lack the end. Conversations
 * are numbered from 0 in the order of their connects: the k-th connect of a tape is that of conversation k.
 *
 * What an event waits for (the rule of dependence of DESIGN.md). First its own side's events before it: its
 * earlier sends are handed over in full. Then its watermark, then its think time, which counts from the later
 * of the two moments: the watermark was reached, the side's event before it was done.
 *
 *   data, half_close, close, reset of TCP
 *              watermark: bytes of the peer that this side had acknowledged before; the peer's FIN counts as
 *              one more byte behind its last one. So a side that has received n bytes and the end of the
 *              stream has reached n + 1. With watermark 0 the think time of a side's first event counts from
 *              when the connection stands at that side (the responder: accepted; the initiator: connected).
 *   connect    watermark: how many conversations of the same client (net_conversation.client) had ended for
 *              it before. One has ended for its client with the first of: half_close or close of the
 *              initiator, reset of either side. With watermark 0 the think time counts from the tape's start.
 *   data of UDP   one event is one datagram. Watermark: how many datagrams of the peer came before it. Since
 *              datagrams are lost, the wait also ends NET_DATAGRAM_TIMEOUT_NS plus the recorded distance
 *              after the side's event before it.
 *   accept, cut   wait for nothing, and a replay does nothing for them but count (cut: it closes what is
 * open).
 *
 * A watermark never exceeds what the events before it in the tape amount to (of the peer's bytes, FIN
 * included; of the client's ended conversations; of the peer's datagrams). Writer and reader refuse what
 * does: a replay cannot wait for ever or in a circle, as all that an event waits for stands before it in the
 * tape.
 *
 * A send is what one side sent without a pause longer than `pause_ns` (stored in the tape's options; 20 ms)
 * while its watermark stayed the same, at most NET_SEND_SPAN_NS long; what goes on after that is a further
 * send with think time 0. t_ns is its first byte's time at the place of capture. Think times are the host's:
 * path delay and retransmission time-outs are taken out (net_talk.h says how).
 */
#ifndef IOTAPE_NET_H
#define IOTAPE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"

#define NET_PAUSE_NS            UINT64_C(20000000)
#define NET_SEND_SPAN_NS        UINT64_C(100000000)
#define NET_DATAGRAM_TIMEOUT_NS UINT64_C(1000000000)

/* Bounds of every tape. */
#define NET_HOSTS_MAX         1048576
#define NET_CONVERSATIONS_MAX 16777216
#define NET_OPEN_MAX          262144              /* conversations open at once */
#define NET_SIDE_BYTES_MAX    (UINT64_C(1) << 56) /* that one side of a conversation sends in all */

/* All of these are stored in tapes: never renumber (TAPE.md). */
enum net_protocol { NET_TCP, NET_UDP, NET_PROTOCOLS };
enum net_side { NET_INITIATOR, NET_RESPONDER, NET_SIDES };

enum net_mark {
    NET_BEGAN_BEFORE = 1 << 0,      /* no SYN was seen: it was there before the recording. A replay opens it
                                       before its clock starts, and waits for no watermark with the connect */
    NET_INITIATOR_GUESSED = 1 << 1, /* by port numbers, or by who spoke first */
};
#define NET_MARKS 2

enum net_kind {
    NET_CONNECT,    /* side: initiator; the SYN, or first sight */
    NET_ACCEPT,     /* side: responder; the SYN-ACK: t_ns less the connect's is the recorded connect time */
    NET_DATA,       /* bytes > 0 of TCP; of UDP one datagram, which may be empty */
    NET_HALF_CLOSE, /* the first FIN: this side sends no more */
    NET_CLOSE,      /* the second FIN: the conversation is over */
    NET_RESET,      /* RST of this side: the conversation is over */
    NET_CUT,        /* side: initiator. The end is not known: the recording ended first, or (NET_FORGOTTEN)
                       nothing came for long */
    NET_KINDS
};

enum net_flag {
    NET_FORGOTTEN = 1 << 0, /* of a cut: idle for NET_IDLE_..., or too many were open */
    NET_UNSEEN = 1 << 1,    /* of data: some of its packets came out of order, or were not seen at all */
};
#define NET_FLAGS 2

struct net_conversation {
    uint32_t stream;         /* the interface: index into the tape's streams, one of kind TAPE_STREAM_NET */
    uint32_t client, server; /* initiator and responder: indices into the tape's hosts */
    uint16_t client_port, server_port;
    uint8_t protocol; /* enum net_protocol */
    uint8_t marks;    /* of enum net_mark */
};

struct net_event {
    uint64_t t_ns;  /* since the tape's start; never descends */
    uint64_t bytes; /* of data; else 0 */
    uint64_t watermark;
    uint64_t think_ns;
    uint32_t conversation; /* its number */
    uint8_t side;          /* enum net_side */
    uint8_t kind;          /* enum net_kind */
    uint16_t flags;        /* of enum net_flag */
};

/* Many events, column by column, and the conversations that begin with them. */
struct net_chunk {
    uint64_t first; /* number of the first event, from 0 */
    uint32_t count;
    uint64_t *t_ns, *bytes, *watermark, *think_ns;
    uint32_t *conversation;
    uint16_t *flags;
    uint8_t *side, *kind;
    /* Those whose connects are in this chunk, in order: element i is conversation conversation_first + i. */
    uint32_t conversation_first, conversation_count;
    struct net_conversation *conversations;
};

static inline struct net_event net_chunk_get(const struct net_chunk *c, uint32_t i)
{
    return (struct net_event){c->t_ns[i], c->bytes[i], c->watermark[i], c->think_ns[i], c->conversation[i],
            c->side[i], c->kind[i], c->flags[i]};
}

/* True for the three kinds that end a conversation. */
static inline bool net_kind_ends(unsigned kind)
{
    return kind == NET_CLOSE || kind == NET_RESET || kind == NET_CUT;
}

/* "tcp", "udp"; "initiator", "responder"; "connect", "accept", "data", "half_close", "close", "reset", "cut".
 * NULL for an unknown number. */
const char *net_protocol_name(unsigned protocol);
const char *net_side_name(unsigned side);
const char *net_kind_name(unsigned kind);

/* Writes the names of what is set joined by '|' ("" for none) and returns `buf`: "began_before",
 * "initiator_guessed"; "forgotten", "unseen". */
#define NET_TEXT_BYTES 64
const char *net_marks_name(unsigned marks, char buf[NET_TEXT_BYTES]);
const char *net_flags_name(unsigned flags, char buf[NET_TEXT_BYTES]);

struct tape_writer;
struct tape_reader;

/* What a tape says of its conversations (tape_totals.net). */
struct net_totals {
    uint64_t conversations, events;
    uint64_t sent_bytes[NET_SIDES]; /* by initiators, by responders; TCP and UDP */
    uint64_t open;                  /* conversations whose end is not in the tape: cut, or none */
    uint64_t exchanges; /* how often a responder sent after it had seen more of the initiator than at its send
                           before: answers to requests */
};

/* ---- writing (beside tape_writer_add; block records and events do not order each other) ---- */

/* Adds a host to the dictionary; *id counts from 0. `name` is stored as it is: the caller makes the
 * pseudonym. */
int tape_writer_host(struct tape_writer *w, const char *name, uint32_t *id, struct err *e);

/* Appends an event; t_ns must not be below that of the one before. `c` is the conversation where the event is
 * a connect, which gets the next number (ev->conversation must be it), else NULL. -EINVAL for what breaks the
 * rules above. */
int tape_writer_net(
        struct tape_writer *w, const struct net_event *ev, const struct net_conversation *c, struct err *e);

/* Conversations so far: the number that the next connect gets. */
uint32_t tape_writer_conversations(const struct tape_writer *w);

/* ---- reading ---- */

size_t tape_reader_host_count(const struct tape_reader *r);
const char *tape_reader_host(const struct tape_reader *r, uint32_t id);

/* The next chunk of events in *c, owned by the reader and valid until the next call: 1, at the end 0, or
 * -errno (-EBADMSG also for what breaks the rules above). Independent of tape_reader_next. Always from
 * the beginning on: there is no seek. */
int tape_reader_net_next(struct tape_reader *r, const struct net_chunk **c, struct err *e);

/* From the first chunk again. */
void tape_reader_net_rewind(struct tape_reader *r);

#endif
