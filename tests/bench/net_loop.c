/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What replaying requests and answers of 64 bytes is measured against: a plain blocking loop of send and
 * recv.
 *
 *   net_loop serve ADDRESS PORT             one connection, then ends
 *   net_loop ask ADDRESS PORT COUNT         prints exchanges a second
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define MESSAGE_BYTES 64

static int serve(int s, const struct sockaddr_in *a)
{
    char data[MESSAGE_BYTES];
    int one = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(s, (const struct sockaddr *)a, sizeof *a) < 0 || listen(s, 1) < 0)
        return 1;
    int fd = accept(s, NULL, NULL);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while (recv(fd, data, sizeof data, MSG_WAITALL) == sizeof data && send(fd, data, sizeof data, 0) > 0)
        continue;
    return 0;
}

static int ask(int s, const struct sockaddr_in *a, long count)
{
    char data[MESSAGE_BYTES] = {0};
    int one = 1;
    struct timespec from, to;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(s, (const struct sockaddr *)a, sizeof *a) < 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < count; i++)
        if (send(s, data, sizeof data, 0) < 0 || recv(s, data, sizeof data, MSG_WAITALL) != sizeof data)
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.0f\n",
            (double)count / ((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[3]))};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || inet_pton(AF_INET, argv[2], &a.sin_addr) != 1)
        return 1;
    return strcmp(argv[1], "serve") == 0 ? serve(s, &a) : ask(s, &a, argc > 4 ? atol(argv[4]) : 10000);
}
