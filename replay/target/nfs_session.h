/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls that are waited for, one after the other, while a target is opened: on a connection of their own.
 */
#ifndef IOTAPE_NFS_SESSION_H
#define IOTAPE_NFS_SESSION_H

#include "formats/base/cleanup.h"
#include "replay/target/nfs.h"

/* One connection and the call that is under way on it; results stay until the next call. */
struct nfs_session {
    struct nfs_target *t;
    struct rpc_context *rpc;
    const char *server; /* for messages: which one of a host's */
    bool done;
    int rpc_status;
    uint32_t status; /* nfsstat3, nfsstat4, mountstat3 */
    uint32_t port, granted;
    char handle[NFS_HANDLE_BYTES];
    uint32_t handle_bytes;
    bool has_attributes;
    fattr3 attributes;
    FSINFO3resok limits;
};

/* Finds the address of the target's host. */
int nfs_session_resolve(struct nfs_target *t, struct err *e);

/* Connects, instead of what it was connected to before; `server` is what messages call it. Within the stall
 * timeout, as every call. */
int nfs_session_begin(struct nfs_session *s, unsigned port, const char *server, struct err *e);
void nfs_session_end(struct nfs_session *s);
#define NFS_SESSION CLEANUP(nfs_session_end) struct nfs_session

/* Waits until the call that was just issued is answered; `issued` is what issuing it returned. */
int nfs_session_await(struct nfs_session *s, int issued, struct err *e);
/* What every callback does first, with its rpc status. True where there is a result to look at. */
bool nfs_session_answer(struct nfs_session *s, int status);
/* A file handle that came in; one that is too long leaves none. */
void nfs_session_keep_handle(struct nfs_session *s, uint32_t len, const char *value);
/* The most that a call may move where the server's limit is `most`: whole sectors; 0 where that is none. */
uint32_t nfs_transfer_bytes(uint64_t most);
/* An error of s->status: "cannot <what> '<url>'". */
int nfs_session_failed(const struct nfs_session *s, const char *what, struct err *e);

#endif
