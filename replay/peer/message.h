/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Control messages: what the two ends of a socket replay say to each other, and in which order.
 *
 * A message is a msgpack array: its type, then so many numbers, then perhaps a text, then so many bins, as
 * message.c's table says; anything else is refused. `hello` never changes, so that ends of different versions
 * can tell each other.
 *
 *     client                          server (the other end)
 *     hello                      ->
 *                                <-   hello
 *     begin                      ->                             once for each repetition
 *                                <-   ready                     or refused
 *     events, ..., end           ->                             at most as many as there is room for
 *                                <-   taken                     makes room
 *     go                         ->                             clocks start; events may still follow
 *                                <-   failed                    a conversation failed: the client will stop
 *     absent                     ->                             a conversation could not be opened
 *     stop                       ->                             where it is cut short
 *                                <-   results
 *     bye                        ->
 *     alive                     <->   at any time after hello
 */
#ifndef IOTAPE_PEER_MESSAGE_H
#define IOTAPE_PEER_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/bytes.h"

#define MESSAGE_VERSION   1
#define MESSAGE_MAGIC     "iotape-peer"
#define MESSAGE_TEXT_MAX  1000
#define MESSAGE_PORTS_MAX 8
/* Histograms of lateness have at most so many buckets that are not empty (lateness.h). */
#define MESSAGE_LATENESS_MAX 4096

enum message_type {
    MESSAGE_HELLO,
    MESSAGE_BEGIN,
    MESSAGE_READY,
    MESSAGE_EVENTS,
    MESSAGE_TAKEN,
    MESSAGE_END,
    MESSAGE_GO,
    MESSAGE_FAILED,
    MESSAGE_STOP,
    MESSAGE_RESULTS,
    MESSAGE_REFUSED,
    MESSAGE_ALIVE,
    MESSAGE_BYE,
    MESSAGE_ABSENT,
    MESSAGE_TYPES
};

/* Numbers of each type, by place. */
enum { HELLO_VERSION, HELLO_NUMBERS };
enum { BEGIN_THREADS, BEGIN_TIMING, BEGIN_SPEED_PPM, BEGIN_STALL_TIMEOUT_NS, BEGIN_NUMBERS };
/* tcp_ports: so many of PORT.. are TCP listeners; PORT_UDP is the UDP one. */
enum {
    READY_WINDOW, /* events that may be with the server and not yet done */
    READY_TCP_PORTS,
    READY_UDP_PORT,
    READY_TCP_PORT, /* and MESSAGE_PORTS_MAX - 1 more */
    READY_NUMBERS = READY_TCP_PORT + MESSAGE_PORTS_MAX
};
enum { EVENTS_FIRST, EVENTS_COUNT, EVENTS_NUMBERS };
enum { TAKEN_RECEIVED, TAKEN_DONE, TAKEN_NUMBERS };
enum { END_EVENTS, END_NUMBERS };
enum { ABSENT_CONVERSATION, ABSENT_CODE, ABSENT_NUMBERS }; /* the code: an errno */
enum {
    RESULTS_CONVERSATIONS,
    RESULTS_RECEIVED_BYTES, /* from TCP and UDP */
    RESULTS_SENT_BYTES,
    RESULTS_MESSAGES, /* sends that were done */
    RESULTS_DATAGRAMS_RECEIVED,
    RESULTS_DATAGRAMS_SENT,
    RESULTS_RETRANSMITS,
    RESULTS_ELAPSED_NS, /* from `go` to the last thing done */
    RESULTS_CPU_NS,     /* of the process */
    RESULTS_SPUN_NS,    /* of that: waiting with a clock in hand */
    RESULTS_BUSY_NS,    /* of the host */
    RESULTS_STEAL_NS,
    RESULTS_BEHIND,
    RESULTS_STRANGERS, /* connections that were closed for want of a token */
    RESULTS_OPEN_MAX,
    RESULTS_LATENESS_MAX_NS,
    RESULTS_NUMBERS
};
#define MESSAGE_NUMBERS_MAX 16
#define MESSAGE_BINS_MAX    2

struct message {
    enum message_type type;
    uint64_t n[MESSAGE_NUMBERS_MAX];
    char text[MESSAGE_TEXT_MAX + 1];
    /* events: records (events.h) and tokens; results: the lateness histogram, pairs of bucket and count, each
     * eight bytes, least significant first. Not owned: of what was packed or unpacked. */
    const uint8_t *bin[MESSAGE_BINS_MAX];
    size_t bin_len[MESSAGE_BINS_MAX];
};

enum message_end { MESSAGE_CLIENT, MESSAGE_SERVER };

const char *message_name(enum message_type type);

/* Replaces `out` by the message. */
int message_pack(const struct message *m, struct bytes *out, struct err *e);

struct unpacked;
/* Checks and unpacks. *u owns what m->bin points to, besides `data`. -EPROTO for anything that is no message.
 */
int message_unpack(struct message *m, struct unpacked **u, const uint8_t *data, size_t len, struct err *e);

/* Which messages may come next. Zero-initialised is the beginning. */
struct message_order {
    uint8_t state;
};

/* Takes note of a message that `from` sent. -EPROTO where it is not its turn. */
int message_in_order(struct message_order *o, enum message_end from, enum message_type type, struct err *e);

#endif
