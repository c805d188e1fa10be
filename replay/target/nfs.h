/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the files of the NFS target: nfs.c is the table, nfs_open.c finds the file and makes it
 * (nfs_open4.c: with version 4; nfs_session.c: calls that are waited for), nfs_conn.c keeps connections,
 * nfs_io.c cuts I/Os into pieces, nfs_call.c makes calls of these, nfs_again.c sends again what a server may
 * have lost, nfs_queue.c waits. All of it runs in one thread.
 *
 * NFS version 3 (RFC 1813), version 4 for reading only, by libnfs's raw calls rather than by its file-like
 * ones: they show how a write was committed and by which instance of the server (its write verifier), and
 * file handles outlive a connection and a restart of the server, so that reconnecting needs no mount. Quirks
 * of libnfs 4.0.0: nothing may be issued on a context from a callback that reports an error; without
 * automatic reconnection a context is dead as soon as rpc_service fails, and calls back all that is in
 * flight; calls that are in flight when a context is destroyed are called back, too; it sets neither
 * TCP_NODELAY nor a timeout; each rpc_service goes through all its queues.
 */
#ifndef IOTAPE_NFS_H
#define IOTAPE_NFS_H

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nfs4.h>
#include <nfsc/libnfs-raw-portmap.h>

#include "replay/target.h"
#include "replay/target/nfs_address.h"
#include "replay/target/nfs_log.h"

/* A connection that is not up and answering by then is tried anew. */
#define NFS_CONNECT_NS (3 * UINT64_C(1000000000))
#define NFS_RETRY_NS   UINT64_C(100000000)
/* What an uncommitted write occupies: a COMMIT is sent at the first bound, whatever the tape says, and writes
 * wait at the second one. */
#define NFS_LOG_COMMIT_BYTES (UINT64_C(32) << 20)
#define NFS_LOG_BYTES        (UINT64_C(64) << 20)
/* libnfs takes no larger message. */
#define NFS_TRANSFER_MAX_BYTES (1u << 20)
/* Writes that are sent again at a time. */
#define NFS_AGAIN_MAX      16

#define NFS_HANDLE_BYTES   128 /* RFC 7530, 2.2: NFS4_FHSIZE; of version 3 64 */
#define NFS_VERIFIER_BYTES 8

struct nfs_piece;

enum nfs_conn_state { NFS_DOWN, NFS_CONNECTING, NFS_UP };

struct nfs_conn {
    struct nfs_target *target;
    struct rpc_context *rpc; /* NULL while down */
    enum nfs_conn_state state;
    struct nfs_piece *first, *last; /* in flight, the oldest first */
    uint64_t since_ns;              /* CONNECTING: it began; DOWN: the next attempt */
    uint64_t heard_ns;              /* the last answer, or when the first piece was sent after idling */
    unsigned unsent;                /* calls in libnfs's queue that were not there at the last send */
    bool refused;                   /* an answer was no valid one: some pieces failed alone */
    bool heard;                     /* something was answered in this turn */
    int error;                      /* why it went down */
};

/* A part of an I/O that fits a call, or a call of our own. */
struct nfs_piece {
    struct nfs_piece *next, *prev;
    struct nfs_target *target;
    struct nfs_conn *conn;
    struct target_io *io;        /* NULL: of our own */
    struct nfs_log_entry *entry; /* what is sent again */
    uint64_t offset_bytes;
    char *data;
    uint32_t len_bytes;
    uint8_t op; /* BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH (a COMMIT) */
    bool stable, refused;
    /* Of a COMMIT: what it covers. */
    uint64_t log_seq, instance;
};

/* What happens to an I/O, in its `space`. */
struct nfs_progress {
    struct target_io *next; /* among those that are done */
    uint64_t done_bytes;
    uint32_t pieces; /* not yet done */
    int32_t error;
    bool then_write; /* the flush before a write is under way */
};

struct nfs_target {
    struct target base;
    struct nfs_address address;
    struct target_options options;
    /* Found by opening. */
    char *server; /* the host's address, numeric */
    unsigned nfs_port, mount_port;
    char handle[NFS_HANDLE_BYTES], dir_handle[NFS_HANDLE_BYTES];
    uint32_t handle_bytes, dir_handle_bytes; /* 0: no file yet */
    uint32_t read_max_bytes, write_max_bytes;
    /* Connections and what goes over them. */
    struct nfs_conn *conn;
    unsigned conns, next_conn, up;
    struct nfs_piece *pending, *pending_last; /* to be sent, or to be sent again */
    struct nfs_piece *spare;
    unsigned in_flight, again_in_flight;
    uint64_t delayed_until_ns; /* the server asked for patience */
    bool gone;                 /* nothing was answered for too long: I/Os fail at once until it answers */
    uint64_t ios, busy_ns;     /* I/Os taken and not done; since when there are any */
    uint64_t heard_ns;         /* the last answer to an I/O */
    struct target_events events;
    /* Writes to be committed. */
    struct nfs_log log;
    char verifier[NFS_VERIFIER_BYTES];
    bool verifier_known, committing;
    uint64_t instance; /* counts changes of the verifier */
    /* Sending again: see nfs_again.c. */
    bool check, lost, again_begun;
    bool fickle; /* its verifier says nothing: every flush fails */
    int failed;  /* a negative errno that the next flush will report */
    unsigned again_rounds;
    uint64_t again_instance;
    struct nfs_log_entry *again_next;
    const struct nfs_log_entry *again[NFS_AGAIN_MAX]; /* in flight */
    /* Where completions go. */
    struct target_queue *queue;
    struct nfs_target *queue_next;
};

static inline struct nfs_target *nfs_target_of(struct target *t)
{
    return (struct nfs_target *)t;
}

static inline struct nfs_progress *nfs_progress_of(struct target_io *io)
{
    _Static_assert(sizeof(struct nfs_progress) <= sizeof io->space, "the progress fits an I/O's space");
    return (struct nfs_progress *)io->space;
}

/* ---- nfs_open.c, nfs_open4.c: calls that are waited for, within the stall timeout each ---- */

/* Resolves the host, mounts, looks the file up, asks for limits and rights. Sets size_bytes and absent. */
int nfs_find(struct nfs_target *t, struct err *e);
/* The same with version 4, for reading. */
int nfs4_find(struct nfs_target *t, struct err *e);
/* Makes the file where there is none, and makes it `size_bytes` long. */
int nfs_make(struct nfs_target *t, uint64_t size_bytes, struct err *e);

/* ---- nfs_conn.c ---- */

/* Opens all connections and waits until they are up. */
int nfs_conns_open(struct nfs_target *t, struct err *e);
void nfs_conns_close(struct nfs_target *t);
/* Ends a connection; what was in flight on it goes back to `pending`. It is tried again from now on. */
void nfs_conn_drop(struct nfs_conn *c, int error);
/* Gives libnfs what poll saw. A connection that dies is dropped. */
void nfs_conn_service(struct nfs_conn *c, int revents);
/* Sends what is queued. */
void nfs_conn_send(struct nfs_conn *c);
/* What poll shall look for, 0 for nothing. */
short nfs_conn_events(const struct nfs_conn *c);
int nfs_conn_fd(const struct nfs_conn *c);
/* Retries, and timeouts: to be called about ten times a second while anything is awaited. */
void nfs_conns_tick(struct nfs_target *t, uint64_t now_ns);

/* ---- nfs_io.c ---- */

/* Takes an I/O. -ENOMEM: not taken. */
int nfs_io_start(struct nfs_target *t, struct target_io *io);
/* Sends what can be sent. */
void nfs_pump(struct nfs_target *t);
/* All that waits fails with `error`, a negative errno. Nothing may be in flight. */
void nfs_fail_pending(struct nfs_target *t, int error);
/* A piece is in flight on a connection; it no longer is. */
void nfs_piece_give(struct nfs_piece *p, struct nfs_conn *c);
void nfs_piece_take(struct nfs_piece *p);
/* It is to be sent next; it is done, and freed. */
void nfs_piece_again(struct nfs_piece *p);
void nfs_piece_done(struct nfs_piece *p);

/* ---- nfs_call.c ---- */

/* A read of version 4; `cb` gets a COMPOUND4res. */
int nfs4_call_read(struct nfs_conn *c, struct nfs_piece *p, rpc_cb cb);
/* What it brought, of one that succeeded; false where the server makes no sense. The data stay libnfs's. */
bool nfs4_read_result(const void *result, READ4resok *ok);
/* Brings a piece to libnfs. */
void nfs_piece_issue(struct nfs_conn *c, struct nfs_piece *p);
struct nfs_piece *nfs_piece_new(struct nfs_target *t);
void nfs_piece_free(struct nfs_piece *p);
/* A piece on which the connection gave up: back to the begin of `pending`, or dropped where it is our own. */
void nfs_piece_return(struct nfs_piece *p);
void nfs_piece_fail(struct nfs_piece *p, int error);
struct nfs_conn *nfs_conn_next(struct nfs_target *t);

/* ---- nfs_again.c ---- */

/* A write verifier came in: the same instance of the server as before? */
void nfs_verifier_seen(struct nfs_target *t, const char *verifier);
/* A connection came back: has the server lost anything? */
void nfs_again_check(struct nfs_target *t);
/* True while nothing else may be sent. */
bool nfs_again_busy(const struct nfs_target *t);
void nfs_again_step(struct nfs_target *t);
/* A piece of our own for an entry ended: `error` 0 or a negative errno; gone: with its connection. */
void nfs_again_done(struct nfs_piece *p, int error, bool gone);

/* ---- nfs_queue.c ---- */

int nfs_queue_open(struct target_queue **q, unsigned depth, struct err *e);
void nfs_queue_close(struct target_queue *q);
int nfs_queue_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e);
int nfs_queue_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e);
/* An I/O has its result. */
void nfs_queue_done(struct target_queue *q, struct target_io *io);
/* A target that is closed. */
void nfs_queue_forget(struct target_queue *q, struct nfs_target *t);

#endif
