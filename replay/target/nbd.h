/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the files of the NBD target: nbd.c opens exports and describes them, nbd_url.c takes URLs apart,
 * nbd_conn.c has libnbd's handles (one a connection), nbd_queue.c moves I/O over them.
 *
 * The protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
 */
#ifndef IOTAPE_NBD_H
#define IOTAPE_NBD_H

#include <libnbd.h>

#include "replay/target.h"

#define NBD_CONNECTIONS_MAX 64
/* Of a simple reply, without data (proto.md, "Simple reply message"). */
#define NBD_REPLY_BYTES 16

/* What a target_io's space holds while it is here. An I/O is one or several steps (a flush before, the
 * operation, a flush after), a step one or several requests. */
struct nbd_io {
    struct target_io *next, *previous; /* in the list of its connection, or in one of those that wait */
    struct nbd_conn *conn;             /* that its requests went over; NULL while it waits */
    uint32_t requests;                 /* sent and not answered */
    int32_t error;                     /* errno of the first request that failed */
    uint8_t step;                      /* enum nbd_step */
    bool lost;                         /* an answer will never come: the connection is ending */
    bool again;                        /* is to be sent another time */
};

_Static_assert(sizeof(struct nbd_io) <= sizeof(((struct target_io *)0)->space), "it fits an I/O's space");

static inline struct nbd_io *nbd_io_of(struct target_io *io)
{
    return (struct nbd_io *)io->space;
}

enum nbd_step { NBD_STEP_PREFLUSH, NBD_STEP_MAIN, NBD_STEP_POSTFLUSH };

struct nbd_list {
    struct target_io *head, *tail;
    unsigned count;
};

void nbd_list_add(struct nbd_list *l, struct target_io *io);
void nbd_list_remove(struct nbd_list *l, struct target_io *io);

enum nbd_state {
    NBD_DOWN,       /* no handle; is tried again at retry_ns */
    NBD_CONNECTING, /* until deadline_ns */
    NBD_UP,
};

struct nbd_conn {
    struct nbd_target *target;
    struct nbd_handle *handle; /* NULL while down */
    enum nbd_state state;
    bool tls;
    bool ending;             /* its end was noticed within a callback */
    struct nbd_list ios;     /* whose requests went over it */
    uint64_t consumed_bytes; /* that answers took on the wire, at least as many as they did */
    uint64_t answered_ns;    /* the last time that it answered, or had been idle */
    uint64_t retry_ns, deadline_ns;
    uint64_t backoff_ns; /* before the next try */
};

/* What the server says of an export. */
struct nbd_export {
    uint64_t size_bytes;
    uint32_t min_bytes, preferred_bytes, max_bytes; /* of a request; 0: not said */
    bool read_only, rotational, multi_conn;
    bool flush, fua, trim, zero;
};

struct nbd_target {
    struct target base;
    char *uri; /* what libnbd is given */
    bool read_only;
    uint64_t stall_ns;
    struct nbd_export export;
    uint32_t request_bytes; /* of a read or write, at most */
    struct nbd_conn *conn;
    unsigned conns, turn;    /* `turn`: whose it is */
    struct nbd_list waiting; /* for a connection */
    uint64_t answered_ns;    /* as for a connection, of all */
    unsigned in_flight;      /* I/Os, waiting ones included */
    struct target_events events;
    struct target_queue *queue; /* that its I/Os came from */
    struct err gone;            /* why it is given up; code 0 as long as it is not */
    char last[256];             /* what went wrong with a connection most recently */
};

/* ---- nbd_url.c ---- */

/* Takes our own parameters out of a URL. `uri` is the caller's to free. -EINVAL for what is not known. */
int nbd_url_parse(const char *url, char **uri, unsigned *connections, struct err *e);

/* ---- nbd_conn.c ---- */

/* Begins to connect, without waiting. A failure leaves the connection down, to be tried again. */
void nbd_conn_start(struct nbd_conn *c, uint64_t now_ns);
/* Waits until a connection that was begun is up. Errors name the URL. */
int nbd_conn_wait(struct nbd_conn *c, struct err *e);
/* Reads what has come and writes what can go, if `events` (of poll) say so. */
void nbd_conn_service(struct nbd_conn *c, short events);
/* What poll should wait for. */
short nbd_conn_wants(const struct nbd_conn *c);
/* After events: whether it is up now, ended, or took too long. Where it ended, its I/Os go to the target's
 * waiting list. */
void nbd_conn_check(struct nbd_conn *c, uint64_t now_ns);
/* Ends it at once. As above. */
void nbd_conn_drop(struct nbd_conn *c, uint64_t now_ns, const char *why);
/* Ends it in good order, where nothing is in flight. */
void nbd_conn_close(struct nbd_conn *c);
/* Asks a connection that is up what it leads to. */
int nbd_conn_export(struct nbd_conn *c, struct nbd_export *x, struct err *e);
/* libnbd's last error of this thread, without the name of its function. */
const char *nbd_conn_error(void);

/* ---- nbd_queue.c ---- */

int nbd_queue_open(struct target_queue **q, unsigned depth, struct err *e);
void nbd_queue_close(struct target_queue *q);
int nbd_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e);
int nbd_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e);

#endif
