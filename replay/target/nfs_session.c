/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/target/nfs_session.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "replay/pace.h"

#define LOOK_MS 50

/* ---- waiting ---- */

static int broken(struct nfs_session *s, int error, struct err *e)
{
    const char *host = s->t->address.host;
    if (error)
        return err_sys(e, error, "cannot reach the %s of '%s'", s->server, host);
    const char *text = rpc_get_error(s->rpc);
    return err_set(e, EPROTO, "the %s of '%s' closed the connection or sent what it should not (libnfs: %s)",
            s->server, host, text ? text : "end of stream");
}

static int look(struct nfs_session *s, struct err *e)
{
    struct pollfd fd = {.fd = rpc_get_fd(s->rpc), .events = (short)rpc_which_events(s->rpc)};
    if (poll(&fd, 1, LOOK_MS) <= 0)
        return 0;
    int error = 0;
    socklen_t len = sizeof error;
    if (fd.revents & (POLLERR | POLLHUP))
        (void)getsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &len);
    return rpc_service(s->rpc, fd.revents) < 0 ? broken(s, error, e) : 0;
}

/* Waits until the call that was just issued is answered. `issued` is its result. */
int nfs_session_await(struct nfs_session *s, int issued, struct err *e)
{
    uint64_t until_ns = pace_now_ns() + s->t->options.stall_timeout_ns;
    if (issued < 0)
        return broken(s, 0, e);
    while (!s->done) {
        int r = look(s, e);
        if (r < 0)
            return r;
        if (!s->done && pace_now_ns() > until_ns)
            return broken(s, ETIMEDOUT, e);
    }
    s->done = false;
    if (s->rpc_status != RPC_STATUS_SUCCESS)
        return broken(s, 0, e);
    return 0;
}

/* What every answer does. True where there is a result to look at. */
bool nfs_session_answer(struct nfs_session *s, int status)
{
    s->done = true;
    s->rpc_status = status;
    return status == RPC_STATUS_SUCCESS;
}

static void on_connected(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    (void)data;
    if (status == RPC_STATUS_SUCCESS) /* else rpc_service fails, too, and the reason is at the socket */
        nfs_session_answer(private_data, status);
}

void nfs_session_end(struct nfs_session *s)
{
    if (s->rpc)
        rpc_destroy_context(s->rpc);
    s->rpc = NULL;
}

int nfs_session_begin(struct nfs_session *s, unsigned port, const char *server, struct err *e)
{
    const struct nfs_address *a = &s->t->address;
    nfs_session_end(s);
    s->server = server;
    s->done = false;
    s->rpc = rpc_init_context();
    if (!s->rpc)
        return err_sys(e, ENOMEM, "cannot open '%s'", s->t->base.url);
    if (a->uid != NFS_OWN_ID)
        rpc_set_uid(s->rpc, (int)a->uid);
    if (a->gid != NFS_OWN_ID)
        rpc_set_gid(s->rpc, (int)a->gid);
    return nfs_session_await(s, rpc_connect_async(s->rpc, s->t->server, (int)port, on_connected, s), e);
}

int nfs_session_resolve(struct nfs_target *t, struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    char text[NI_MAXHOST];
    int r = getaddrinfo(t->address.host, NULL, &hints, &list);
    if (r == 0)
        r = getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    if (list)
        freeaddrinfo(list);
    if (r != 0)
        return err_set(e, EHOSTUNREACH, "cannot find host '%s': %s", t->address.host, gai_strerror(r));
    t->server = strdup(text);
    return t->server ? 0 : err_sys(e, ENOMEM, "cannot open '%s'", t->base.url);
}

void nfs_session_keep_handle(struct nfs_session *s, uint32_t len, const char *value)
{
    s->handle_bytes = len <= NFS_HANDLE_BYTES ? len : 0;
    memcpy(s->handle, value, s->handle_bytes);
}

int nfs_session_failed(const struct nfs_session *s, const char *what, struct err *e)
{
    return err_sys(e, nfsstat3_to_errno((int)s->status), "cannot %s '%s'", what, s->t->base.url);
}

uint32_t nfs_transfer_bytes(uint64_t most)
{
    return most < NFS_TRANSFER_MAX_BYTES ? (uint32_t)most & ~511u : NFS_TRANSFER_MAX_BYTES;
}
