/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pieces as calls, and what comes back for them. A flush is a COMMIT of the whole file, FUA is a FILE_SYNC
 * write (RFC 1813, 3.3.7 and 3.3.21).
 */
#include <errno.h>
#include <string.h>

#include "replay/pace.h"
#include "replay/target/nfs.h"

/* ---- answers ---- */

/* "Try again later"; version 4 says so after a restart, too. */
static bool is_delay(nfsstat3 status)
{
    return status == NFS3ERR_JUKEBOX || status == (nfsstat3)NFS4ERR_GRACE;
}

static void answered_error(struct nfs_piece *p, nfsstat3 status)
{
    struct nfs_target *t = p->target;
    if (is_delay(status) && !p->entry) {
        t->delayed_until_ns = pace_now_ns() + NFS_RETRY_NS;
        if (p->io)
            nfs_piece_again(p);
        else
            nfs_piece_done(p);
        return;
    }
    int error = nfsstat3_to_errno((int)status);
    nfs_piece_fail(p, error == -EOPNOTSUPP ? -EIO : error); /* which would mean: cannot be done at all */
}

/* A piece is called back. True where it succeeded. Without an answer, or with none that can be read, what
 * becomes of it turns out when rpc_service returns. Every result begins with an nfsstat3. */
static bool answered(struct nfs_piece *p, int rpc_status, const void *result)
{
    if (rpc_status != RPC_STATUS_SUCCESS) {
        p->refused = p->conn->refused = true;
        return false;
    }
    nfsstat3 status = *(const nfsstat3 *)result;
    p->conn->heard |= !is_delay(status);
    nfs_piece_take(p);
    if (status != NFS3_OK)
        answered_error(p, status);
    return status == NFS3_OK;
}

/* `count` bytes of it are done; the rest goes again. */
static void advance(struct nfs_piece *p, uint32_t count)
{
    if (p->io)
        nfs_progress_of(p->io)->done_bytes += count;
    p->offset_bytes += count;
    p->data += count;
    p->len_bytes -= count;
}

static void take_in(struct nfs_piece *p, const void *data, uint32_t count, bool eof)
{
    if (count > p->len_bytes) {
        nfs_piece_fail(p, -EIO);
        return;
    }
    memcpy(p->data, data, count);
    advance(p, count);
    if (p->len_bytes && count && !eof)
        nfs_piece_again(p);
    else
        nfs_piece_done(p);
}

static void on_read(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_piece *p = private_data;
    const READ3resok *ok = data ? &((const READ3res *)data)->READ3res_u.resok : NULL;
    if (answered(p, status, data))
        take_in(p, ok->data.data_val, ok->data.data_len, ok->eof);
}

static void on_read4(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_piece *p = private_data;
    if (!answered(p, status, data))
        return;
    READ4resok ok;
    if (nfs4_read_result(data, &ok))
        take_in(p, ok.data.data_val, ok.data.data_len, ok.eof);
    else
        nfs_piece_fail(p, -EIO);
}

/* Keeps what the server may still lose. */
static int keep(struct nfs_piece *p, uint32_t count, bool durable)
{
    struct nfs_target *t = p->target;
    if (t->fickle || (durable && !t->log.first))
        return 0;
    return nfs_log_add(&t->log, p->offset_bytes, p->data, count, durable);
}

static void on_write(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_piece *p = private_data;
    const WRITE3res *res = data;
    struct nfs_conn *c = p->conn;
    if (!answered(p, status, data))
        return;
    const WRITE3resok *ok = &res->WRITE3res_u.resok;
    bool durable = ok->committed != UNSTABLE;
    nfs_verifier_seen(p->target, ok->verf);
    int r = ok->count == 0 || ok->count > p->len_bytes ? -EIO : 0;
    if (r == 0 && !p->entry)
        r = keep(p, ok->count, durable);
    if (r < 0) {
        nfs_piece_fail(p, r);
        return;
    }
    advance(p, ok->count);
    if (p->len_bytes && p->entry)
        nfs_piece_issue(c, p);
    else if (p->entry)
        nfs_again_done(p, 0, false);
    else if (p->len_bytes)
        nfs_piece_again(p);
    else
        nfs_piece_done(p);
}

static void on_commit(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_piece *p = private_data;
    struct nfs_target *t = p->target;
    const COMMIT3res *res = data;
    if (!answered(p, status, data))
        return;
    nfs_verifier_seen(t, res->COMMIT3res_u.resok.verf);
    if (t->lost || p->instance != t->instance) { /* it covered less than it should */
        if (p->io)
            nfs_piece_again(p);
        else
            nfs_piece_done(p);
        return;
    }
    nfs_log_trim(&t->log, p->log_seq);
    int failed = !p->io ? 0 : t->fickle ? -EIO : t->failed;
    if (failed) {
        t->failed = 0;
        nfs_piece_fail(p, failed);
    } else {
        nfs_piece_done(p);
    }
}

/* ---- calls ---- */

static int call_read(struct nfs_conn *c, struct nfs_piece *p)
{
    struct nfs_target *t = p->target;
    if (t->address.version == 4)
        return nfs4_call_read(c, p, on_read4);
    READ3args args = {
            .file.data = {t->handle_bytes, t->handle}, .offset = p->offset_bytes, .count = p->len_bytes};
    return rpc_nfs3_read_async(c->rpc, on_read, &args, p);
}

static int call_write(struct nfs_conn *c, struct nfs_piece *p)
{
    struct nfs_target *t = p->target;
    WRITE3args args = {.file.data = {t->handle_bytes, t->handle},
            .offset = p->offset_bytes,
            .count = p->len_bytes,
            .stable = p->stable ? FILE_SYNC : UNSTABLE,
            .data = {p->len_bytes, p->data}};
    return rpc_nfs3_write_async(c->rpc, on_write, &args, p);
}

static int call_commit(struct nfs_conn *c, struct nfs_piece *p)
{
    struct nfs_target *t = p->target;
    COMMIT3args args = {.file.data = {t->handle_bytes, t->handle}}; /* offset and count 0: all of it */
    p->log_seq = t->log.next_seq;
    p->instance = t->instance;
    return rpc_nfs3_commit_async(c->rpc, on_commit, &args, p);
}

void nfs_piece_issue(struct nfs_conn *c, struct nfs_piece *p)
{
    nfs_piece_give(p, c);
    int r = p->op == BLOCK_READ    ? call_read(c, p)
            : p->op == BLOCK_WRITE ? call_write(c, p)
                                   : call_commit(c, p);
    if (r < 0)
        nfs_piece_fail(p, -ENOMEM);
}
