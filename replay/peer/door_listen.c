/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/door_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "replay/peer/arrival.h"

#define BACKLOG 4096 /* the kernel's bound, net.core.somaxconn, is below or the same */

static void set_port(struct sockaddr_storage *a, uint16_t port)
{
    if (a->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)a)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)a)->sin_port = htons(port);
}

uint16_t door_port(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t len = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}

/* Datagrams: several sockets share a port, one for each conversation; the one that is connected is preferred.
 */
static int bind_socket(int fd, int type, const struct sockaddr *address, socklen_t len)
{
    int one = 1, zero = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (type == SOCK_DGRAM && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0)
        return -errno;
    if (address->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    return bind(fd, address, len) < 0 ? -errno : 0;
}

int door_listen(const struct sockaddr *address, socklen_t address_len, int type, uint16_t port, struct err *e)
{
    struct sockaddr_storage a = {0};
    CLEANUP_FD int fd = socket(address->sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, errno, "cannot open a socket");
    memcpy(&a, address, address_len);
    set_port(&a, port);
    arrival_enable(fd); /* those that are accepted have it, too */
    int r = bind_socket(fd, type, (struct sockaddr *)&a, address_len);
    if (r == 0 && type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
        r = -errno;
    return r < 0 ? err_sys(e, r, "cannot listen on the address of --listen") : take_fd(&fd);
}

int door_branch(int main_fd, const struct sockaddr *peer, socklen_t peer_len, struct err *e)
{
    struct sockaddr_storage own = {0};
    socklen_t len = sizeof own;
    if (getsockname(main_fd, (struct sockaddr *)&own, &len) < 0)
        return err_sys(e, errno, "cannot open a socket");
    CLEANUP_FD int fd = socket(own.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, errno, "cannot open a socket");
    int r = bind_socket(fd, SOCK_DGRAM, (struct sockaddr *)&own, len);
    if (r == 0 && connect(fd, peer, peer_len) < 0)
        r = -errno;
    return r < 0 ? err_sys(e, r, "cannot open a socket for a conversation") : take_fd(&fd);
}
