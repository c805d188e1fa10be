/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/channel.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "replay/pace.h"

#define HEAD_BYTES 4
#define READ_BYTES 65536

static void make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void channel_init(struct channel *c, int in_fd, int out_fd)
{
    *c = (struct channel){.in_fd = in_fd, .out_fd = out_fd, .heard_ns = pace_now_ns()};
    make_nonblocking(in_fd);
    make_nonblocking(out_fd);
}

void channel_release(struct channel *c)
{
    bytes_release(&c->in);
}

/* Waits until `fd` is ready or the deadline. 1, 0, or -errno. */
static int wait_ready(int fd, short events, uint64_t deadline_ns)
{
    uint64_t now_ns = pace_now_ns();
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    struct timespec t = {(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};
    struct pollfd p = {fd, events, 0};
    int r = ppoll(&p, 1, &t, NULL);
    return r < 0 ? -errno : r;
}

static int send_all(struct channel *c, const uint8_t *data, size_t len, uint64_t deadline_ns, struct err *e)
{
    while (len) {
        ssize_t n = write(c->out_fd, data, len);
        if (n > 0) {
            data += n;
            len -= (size_t)n;
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return err_sys(e, errno, "cannot write to the control channel");
        int r = wait_ready(c->out_fd, POLLOUT, deadline_ns);
        if (r == 0)
            return err_set(e, ETIMEDOUT, "the other end takes nothing from the control channel");
        if (r < 0 && r != -EINTR)
            return err_sys(e, r, "cannot wait for the control channel");
    }
    return 0;
}

int channel_send(struct channel *c, const struct bytes *body, uint64_t timeout_ns, struct err *e)
{
    uint64_t deadline_ns = pace_now_ns() + timeout_ns;
    if (!body->len || body->len > CHANNEL_FRAME_MAX)
        return err_set(e, EMSGSIZE, "a control message of %zu bytes", body->len);
    uint8_t head[HEAD_BYTES] = {(uint8_t)(body->len >> 24), (uint8_t)(body->len >> 16),
            (uint8_t)(body->len >> 8), (uint8_t)body->len};
    int r = send_all(c, head, sizeof head, deadline_ns, e);
    return r < 0 ? r : send_all(c, body->data, body->len, deadline_ns, e);
}

/* A remote shell whose start-up files print something breaks the channel: show what was printed. */
static int bad_length(const struct channel *c, uint64_t len, struct err *e)
{
    char shown[41];
    size_t n = 0;
    const uint8_t *at = c->in.data + c->taken;
    for (; n + 1 < sizeof shown && n < c->in.len - c->taken && isprint(at[n]); n++)
        shown[n] = (char)at[n];
    shown[n] = 0;
    if (n >= HEAD_BYTES)
        return err_set(e, EPROTO,
                "the other end does not speak iotape's protocol: '%s' (does the remote shell print something "
                "when it starts?)",
                shown);
    return err_set(e, EPROTO, "a control message of %llu bytes, of which there are none (1 to %d)",
            (unsigned long long)len, CHANNEL_FRAME_MAX);
}

/* A whole frame in what was read: 1, 0 or -EPROTO. */
static int take(struct channel *c, const uint8_t **body, size_t *len, struct err *e)
{
    size_t have = c->in.len - c->taken;
    if (have < HEAD_BYTES)
        return 0;
    const uint8_t *p = c->in.data + c->taken;
    uint64_t n = (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];
    if (n == 0 || n > CHANNEL_FRAME_MAX)
        return bad_length(c, n, e);
    if (have - HEAD_BYTES < n)
        return 0;
    *body = p + HEAD_BYTES;
    *len = (size_t)n;
    c->taken += HEAD_BYTES + (size_t)n;
    return 1;
}

/* Reads what is there: 1, 0 where nothing is, or -errno. */
static int fill(struct channel *c, struct err *e)
{
    if (c->taken) {
        memmove(c->in.data, c->in.data + c->taken, c->in.len - c->taken);
        c->in.len -= c->taken;
        c->taken = 0;
    }
    int r = bytes_reserve(&c->in, READ_BYTES, e);
    if (r < 0)
        return r;
    ssize_t n = read(c->in_fd, c->in.data + c->in.len, READ_BYTES);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : err_sys(e, errno, "cannot read the control channel");
    if (n == 0)
        return c->in.len ? err_set(e, EPROTO, "the control channel ended within a message")
                         : err_set(e, EPIPE, "the control channel has ended");
    c->in.len += (size_t)n;
    c->heard_ns = pace_now_ns();
    return 1;
}

int channel_receive(struct channel *c, uint64_t deadline_ns, const uint8_t **body, size_t *len, struct err *e)
{
    for (;;) {
        int r = take(c, body, len, e);
        if (r == 0)
            r = fill(c, e);
        else
            return r;
        if (r < 0)
            return r;
        if (r == 1)
            continue;
        r = deadline_ns ? wait_ready(c->in_fd, POLLIN, deadline_ns) : 0;
        if (r == 0 || r == -EINTR)
            return 0;
        if (r < 0)
            return err_sys(e, r, "cannot wait for the control channel");
    }
}
