/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One connection to an NBD server: a libnbd handle. Quirks of libnbd: a handle connects once, so that coming
 * back means a new one; callbacks come from within its functions and must not call them; when a connection
 * ends, what was in flight is called back with ENOTCONN, which no server can send, but not by nbd_close; the
 * end of an orderly stream is a state (closed) and no error.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "formats/base/units.h"
#include "replay/pace.h"
#include "replay/target/nbd.h"

/* Between tries to connect again: doubled from the one to the other. */
#define BACKOFF_MIN_NS (20 * NS_PER_MS)
#define BACKOFF_MAX_NS (500 * NS_PER_MS)
/* What one try may take, so that a lost packet does not cost the whole stall timeout. */
#define TRY_MIN_NS NS_PER_S

void nbd_list_add(struct nbd_list *l, struct target_io *io)
{
    nbd_io_of(io)->next = NULL;
    nbd_io_of(io)->previous = l->tail;
    if (l->tail)
        nbd_io_of(l->tail)->next = io;
    else
        l->head = io;
    l->tail = io;
    l->count++;
}

void nbd_list_remove(struct nbd_list *l, struct target_io *io)
{
    struct nbd_io *n = nbd_io_of(io);
    if (n->previous)
        nbd_io_of(n->previous)->next = n->next;
    else
        l->head = n->next;
    if (n->next)
        nbd_io_of(n->next)->previous = n->previous;
    else
        l->tail = n->previous;
    l->count--;
}

const char *nbd_conn_error(void)
{
    const char *text = nbd_get_error();
    if (!text)
        return "unknown error";
    const char *colon = strncmp(text, "nbd_", 4) == 0 ? strstr(text, ": ") : NULL;
    return colon ? colon + 2 : text;
}

/* ---- beginning ---- */

/* Structured replies are not asked for: without them every byte that is read crosses the network, holes too,
 * and a reply takes two system calls, not four. The kernel's client does the same. */
static int configure(struct nbd_handle *h, const char *uri)
{
    uint32_t transports = LIBNBD_ALLOW_TRANSPORT_TCP | LIBNBD_ALLOW_TRANSPORT_UNIX;
    if (nbd_set_debug(h, false) < 0 || nbd_set_request_structured_replies(h, false) < 0)
        return -1;
    if (nbd_set_uri_allow_local_file(h, true) < 0 || nbd_set_uri_allow_transports(h, transports) < 0)
        return -1;
    return nbd_aio_connect_uri(h, uri);
}

void nbd_conn_start(struct nbd_conn *c, uint64_t now_ns)
{
    uint64_t try_ns = c->target->stall_ns / 4;
    c->ending = false;
    c->state = NBD_CONNECTING;
    c->deadline_ns = now_ns + (try_ns > TRY_MIN_NS ? try_ns : TRY_MIN_NS);
    c->handle = nbd_create();
    if (!c->handle || configure(c->handle, c->target->uri) < 0)
        nbd_conn_drop(c, now_ns, nbd_conn_error());
}

/* ---- events ---- */

short nbd_conn_wants(const struct nbd_conn *c)
{
    unsigned d = nbd_aio_get_direction(c->handle);
    return (short)((d & LIBNBD_AIO_DIRECTION_READ ? POLLIN : 0) |
                   (d & LIBNBD_AIO_DIRECTION_WRITE ? POLLOUT : 0));
}

/* One call takes in one reply, and without one to take libnbd would be stuck: it then waits for nothing else,
 * neither to send what is half sent nor what is new. So only as many as are there for sure are read. */
static int read_replies(struct nbd_conn *c)
{
    int available = -1;
    for (;;) {
        c->consumed_bytes = 0;
        if (nbd_aio_notify_read(c->handle) < 0)
            return -1;
        if (c->consumed_bytes == 0 || c->ios.count == 0 || c->ending || c->tls)
            return 0;
        if (available >= 0)
            available -= (int)(c->consumed_bytes < INT_MAX ? c->consumed_bytes : INT_MAX);
        else if (ioctl(nbd_aio_get_fd(c->handle), FIONREAD, &available) < 0)
            return 0;
        if (available < NBD_REPLY_BYTES)
            return 0;
    }
}

void nbd_conn_service(struct nbd_conn *c, short events)
{
    short wants = nbd_conn_wants(c);
    int r = 0;
    if (events & (POLLIN | POLLHUP | POLLERR) && wants & POLLIN)
        r = read_replies(c);
    else if (events & (POLLOUT | POLLHUP | POLLERR) && wants & POLLOUT)
        r = nbd_aio_notify_write(c->handle);
    if (r == 0 && nbd_aio_get_direction(c->handle) != 0)
        return;
    c->ending = true;
    snprintf(c->target->last, sizeof c->target->last, "%s",
            r < 0 ? nbd_conn_error() : "the server closed the connection");
}

/* ---- coming up ---- */

static bool changed(const struct nbd_target *t, const struct nbd_export *x)
{
    const struct nbd_export *was = &t->export;
    return x->size_bytes != was->size_bytes || x->flush != was->flush || x->fua != was->fua ||
           x->trim != was->trim || x->zero != was->zero || (x->read_only && !t->read_only) ||
           x->max_bytes != was->max_bytes || x->min_bytes != was->min_bytes;
}

static void came_up(struct nbd_conn *c)
{
    struct nbd_target *t = c->target;
    struct nbd_export x;
    c->state = NBD_UP;
    c->tls = nbd_get_tls_negotiated(c->handle) > 0;
    c->answered_ns = pace_now_ns();
    t->last[0] = 0;
    if (t->export.size_bytes == 0) /* still opening */
        return;
    t->events.path_changes++;
    if (nbd_conn_export(c, &x, &t->gone) == 0 && changed(t, &x))
        err_set(&t->gone, ESTALE, "'%s' came back as something else: %llu bytes where %llu were", t->base.url,
                (unsigned long long)x.size_bytes, (unsigned long long)t->export.size_bytes);
}

void nbd_conn_check(struct nbd_conn *c, uint64_t now_ns)
{
    if (c->state == NBD_DOWN)
        return;
    if (c->ending) {
        nbd_conn_drop(c, now_ns, NULL);
        return;
    }
    if (c->state != NBD_CONNECTING)
        return;
    if (nbd_aio_is_ready(c->handle) > 0)
        came_up(c);
    else if (now_ns >= c->deadline_ns)
        nbd_conn_drop(c, now_ns, "the server did not answer");
}

int nbd_conn_wait(struct nbd_conn *c, struct err *e)
{
    struct nbd_target *t = c->target;
    c->deadline_ns = pace_now_ns() + t->stall_ns;
    while (c->state == NBD_CONNECTING) {
        uint64_t now_ns = pace_now_ns();
        uint64_t left_ns = c->deadline_ns > now_ns ? c->deadline_ns - now_ns : 0;
        struct timespec timeout = {(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
        struct pollfd p = {nbd_aio_get_fd(c->handle), nbd_conn_wants(c), 0};
        int n = ppoll(&p, 1, &timeout, NULL);
        if (n < 0)
            return errno == EINTR ? err_set(e, EINTR, "cut short by a signal")
                                  : err_sys(e, errno, "cannot wait for '%s'", t->base.url);
        if (n)
            nbd_conn_service(c, p.revents);
        nbd_conn_check(c, pace_now_ns());
    }
    if (c->state == NBD_UP)
        return 0;
    return err_set(e, ENOTCONN, "cannot connect to '%s': %s", t->base.url, t->last);
}

/* ---- ending ---- */

/* Its I/Os wait for another connection. */
static void give_up_ios(struct nbd_conn *c)
{
    while (c->ios.head) {
        struct target_io *io = c->ios.head;
        struct nbd_io *n = nbd_io_of(io);
        nbd_list_remove(&c->ios, io);
        n->conn = NULL;
        n->requests = 0;
        n->lost = false;
        n->error = 0;
        n->again = true;
        nbd_list_add(&c->target->waiting, io);
    }
}

void nbd_conn_drop(struct nbd_conn *c, uint64_t now_ns, const char *why)
{
    struct nbd_target *t = c->target;
    if (why)
        snprintf(t->last, sizeof t->last, "%s", why);
    if (c->state == NBD_UP) {
        t->events.path_changes++;
        c->backoff_ns = c->backoff_ns ? c->backoff_ns : BACKOFF_MIN_NS;
    }
    nbd_close(c->handle);
    c->handle = NULL;
    c->ending = false;
    c->state = NBD_DOWN;
    c->retry_ns = now_ns + c->backoff_ns;
    c->backoff_ns = c->backoff_ns < BACKOFF_MIN_NS       ? BACKOFF_MIN_NS
                    : c->backoff_ns * 2 < BACKOFF_MAX_NS ? c->backoff_ns * 2
                                                         : BACKOFF_MAX_NS;
    give_up_ios(c);
}

void nbd_conn_close(struct nbd_conn *c)
{
    if (c->handle && c->state == NBD_UP)
        nbd_aio_disconnect(c->handle, 0);
    nbd_close(c->handle);
    c->handle = NULL;
    c->state = NBD_DOWN;
}

/* ---- what it leads to ---- */

int nbd_conn_export(struct nbd_conn *c, struct nbd_export *x, struct err *e)
{
    struct nbd_handle *h = c->handle;
    int64_t size = nbd_get_size(h);
    int64_t min = nbd_get_block_size(h, LIBNBD_SIZE_MINIMUM);
    int64_t preferred = nbd_get_block_size(h, LIBNBD_SIZE_PREFERRED);
    int64_t max = nbd_get_block_size(h, LIBNBD_SIZE_MAXIMUM);
    if (size < 0 || min < 0 || preferred < 0 || max < 0)
        return err_set(e, EPROTO, "cannot use '%s': %s", c->target->base.url, nbd_conn_error());
    *x = (struct nbd_export){.size_bytes = (uint64_t)size,
            .min_bytes = (uint32_t)min,
            .preferred_bytes = (uint32_t)preferred,
            .max_bytes = (uint32_t)max,
            .read_only = nbd_is_read_only(h) > 0,
            .rotational = nbd_is_rotational(h) > 0,
            .multi_conn = nbd_can_multi_conn(h) > 0,
            .flush = nbd_can_flush(h) > 0,
            .fua = nbd_can_fua(h) > 0,
            .trim = nbd_can_trim(h) > 0,
            .zero = nbd_can_zero(h) > 0};
    return 0;
}
