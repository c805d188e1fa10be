/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "replay/pace.h"
#include "replay/target/nfs.h"

/* How long opening sleeps between two looks. */
#define LOOK_MS 50

/* ---- up ---- */

/* A peer that vanished without a word is noticed within seconds, and requests do not wait for one another's
 * acknowledgements. Failing to set one is no reason to fail. */
static void set_socket(int fd)
{
    const struct {
        int level, name, value;
    } option[] = {{IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1},
            {IPPROTO_TCP, TCP_KEEPIDLE, 3}, {IPPROTO_TCP, TCP_KEEPINTVL, 2}, {IPPROTO_TCP, TCP_KEEPCNT, 3},
            {IPPROTO_TCP, TCP_USER_TIMEOUT, 10000}};
    for (unsigned i = 0; i < sizeof option / sizeof *option; i++)
        (void)setsockopt(fd, option[i].level, option[i].name, &option[i].value, sizeof option[i].value);
}

static void on_null(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    (void)data;
    struct nfs_conn *c = private_data;
    struct nfs_target *t = c->target;
    if (status != RPC_STATUS_SUCCESS) {
        c->refused = true;
        return;
    }
    c->state = NFS_UP;
    t->up++;
    t->gone = false;
    if (c->error) { /* it was up before */
        t->events.path_changes++;
        nfs_again_check(t);
    }
}

static void on_connected(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)data;
    struct nfs_conn *c = private_data;
    if (status != RPC_STATUS_SUCCESS)
        return; /* rpc_service fails, too */
    set_socket(rpc_get_fd(rpc));
    int r = c->target->address.version == 4 ? rpc_nfs4_null_async(rpc, on_null, c)
                                            : rpc_nfs3_null_async(rpc, on_null, c);
    if (r < 0)
        c->refused = true;
    c->unsent++;
}

static void start(struct nfs_conn *c, uint64_t now_ns)
{
    const struct nfs_target *t = c->target;
    c->state = NFS_CONNECTING;
    c->since_ns = now_ns;
    c->rpc = rpc_init_context();
    if (c->rpc && t->address.uid != NFS_OWN_ID)
        rpc_set_uid(c->rpc, (int)t->address.uid);
    if (c->rpc && t->address.gid != NFS_OWN_ID)
        rpc_set_gid(c->rpc, (int)t->address.gid);
    if (!c->rpc || rpc_connect_async(c->rpc, t->server, (int)t->nfs_port, on_connected, c) < 0)
        nfs_conn_drop(c, c->rpc ? ECONNREFUSED : ENOMEM);
}

/* ---- down ---- */

void nfs_conn_drop(struct nfs_conn *c, int error)
{
    struct nfs_target *t = c->target;
    if (c->rpc)
        rpc_destroy_context(c->rpc); /* calls back all that is in flight */
    c->rpc = NULL;
    c->refused = c->heard = false;
    c->unsent = 0;
    c->since_ns = 0;
    if (c->state == NFS_UP) {
        t->up--;
        t->events.path_changes++;
    } else {
        c->since_ns = pace_now_ns() + NFS_RETRY_NS;
    }
    if (c->state == NFS_UP || !c->error)
        c->error = error;
    c->state = NFS_DOWN;
    while (c->last)
        nfs_piece_return(c->last);
}

static int socket_error(const struct nfs_conn *c)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(rpc_get_fd(c->rpc), SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return errno;
    return error ? error : ECONNRESET;
}

/* Answers that were no valid ones: their pieces fail; a connection that was not up yet is none. */
static void sort_out(struct nfs_conn *c)
{
    c->refused = false;
    if (c->state != NFS_UP) {
        nfs_conn_drop(c, EPROTO);
        return;
    }
    struct nfs_piece *next;
    for (struct nfs_piece *p = c->first; p; p = next) {
        next = p->next;
        if (p->refused)
            nfs_piece_fail(p, -EIO);
    }
}

static void serve(struct nfs_conn *c, int revents)
{
    int error = revents & (POLLERR | POLLHUP) ? socket_error(c) : ECONNRESET;
    if (rpc_service(c->rpc, revents) < 0) {
        nfs_conn_drop(c, error);
        return;
    }
    if (c->refused)
        sort_out(c);
    if (c->heard) {
        c->heard = false;
        c->heard_ns = c->target->heard_ns = pace_now_ns();
    }
}

void nfs_conn_service(struct nfs_conn *c, int revents)
{
    if (c->rpc)
        serve(c, revents);
    if (c->rpc && c->unsent)
        nfs_conn_send(c);
}

static void cork(const struct nfs_conn *c, int on)
{
    (void)setsockopt(rpc_get_fd(c->rpc), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

/* libnfs sends each call on its own: several go out in as few packets as will do. */
void nfs_conn_send(struct nfs_conn *c)
{
    bool several = c->unsent > 1;
    c->unsent = 0;
    if (!c->rpc)
        return;
    if (several)
        cork(c, 1);
    serve(c, POLLOUT);
    if (several && c->rpc)
        cork(c, 0);
}

short nfs_conn_events(const struct nfs_conn *c)
{
    return c->rpc ? (short)rpc_which_events(c->rpc) : 0;
}

int nfs_conn_fd(const struct nfs_conn *c)
{
    return c->rpc ? rpc_get_fd(c->rpc) : -1;
}

/* ---- time ---- */

/* Nothing was answered for too long. */
static void give_up(struct nfs_target *t)
{
    for (unsigned i = 0; i < t->conns; i++)
        if (t->conn[i].rpc)
            nfs_conn_drop(&t->conn[i], ETIMEDOUT);
    t->gone = true;
    nfs_fail_pending(t, -ETIMEDOUT);
}

void nfs_conns_tick(struct nfs_target *t, uint64_t now_ns)
{
    uint64_t stall_ns = t->options.stall_timeout_ns;
    for (unsigned i = 0; i < t->conns; i++) {
        struct nfs_conn *c = &t->conn[i];
        bool slow = c->state == NFS_CONNECTING && now_ns > c->since_ns + NFS_CONNECT_NS;
        /* The others may still work. */
        bool silent = c->first && t->conns > 1 && now_ns > c->heard_ns + stall_ns / 2;
        if (slow || silent)
            nfs_conn_drop(c, ETIMEDOUT);
        if (c->state == NFS_DOWN && now_ns >= c->since_ns)
            start(c, now_ns);
    }
    uint64_t heard_ns = t->heard_ns > t->busy_ns ? t->heard_ns : t->busy_ns;
    if (t->ios && now_ns > heard_ns + stall_ns)
        give_up(t);
}

/* ---- all ---- */

static void wait_for_events(struct nfs_target *t)
{
    struct pollfd fd[NFS_CONNECTIONS_MAX];
    for (unsigned i = 0; i < t->conns; i++)
        fd[i] = (struct pollfd){.fd = nfs_conn_fd(&t->conn[i]), .events = nfs_conn_events(&t->conn[i])};
    if (poll(fd, t->conns, LOOK_MS) <= 0)
        return;
    for (unsigned i = 0; i < t->conns; i++)
        if (fd[i].fd >= 0 && fd[i].revents)
            nfs_conn_service(&t->conn[i], fd[i].revents);
}

int nfs_conns_open(struct nfs_target *t, struct err *e)
{
    uint64_t until_ns = pace_now_ns() + t->options.stall_timeout_ns;
    t->conn = calloc(t->address.connections, sizeof *t->conn);
    if (!t->conn)
        return err_sys(e, ENOMEM, "cannot open '%s'", t->base.url);
    t->conns = (unsigned)t->address.connections;
    for (unsigned i = 0; i < t->conns; i++) {
        t->conn[i].target = t;
        start(&t->conn[i], pace_now_ns());
    }
    while (t->up < t->conns && pace_now_ns() < until_ns) {
        for (unsigned i = 0; i < t->conns; i++)
            if (t->conn[i].error)
                return err_sys(e, t->conn[i].error, "cannot open connection %u of %u to '%s'", i + 1,
                        t->conns, t->base.url);
        wait_for_events(t);
    }
    if (t->up < t->conns)
        return err_sys(e, ETIMEDOUT, "cannot open %u connections to '%s'", t->conns, t->base.url);
    return 0;
}

void nfs_conns_close(struct nfs_target *t)
{
    for (unsigned i = 0; i < t->conns; i++)
        if (t->conn[i].rpc)
            nfs_conn_drop(&t->conn[i], ESHUTDOWN);
    free(t->conn);
    t->conn = NULL;
    t->conns = 0;
}
