/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int look_up(struct address *a, const char *host, const char *port, int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *list;
    int r = getaddrinfo(host, port, &hints, &list);
    if (r)
        return r;
    memset(a, 0, sizeof *a);
    memcpy(&a->at, list->ai_addr, list->ai_addrlen);
    a->len = list->ai_addrlen;
    freeaddrinfo(list);
    return 0;
}

int address_parse(struct address *a, const char *text, struct err *e)
{
    char host[256];
    const char *port = NULL, *end = strchr(text, ']');
    size_t len = strlen(text);
    if (len >= sizeof host)
        return err_set(e, EINVAL, "'%.40s...' is no address", text);
    if (*text == '[' && end) {
        port = end[1] == ':' ? end + 2 : NULL;
        if (end[1] && !port)
            return err_set(e, EINVAL, "'%s' is no address", text);
        snprintf(host, sizeof host, "%.*s", (int)(end - text - 1), text + 1);
    } else {
        const char *colon = strchr(text, ':'), *last = strrchr(text, ',');
        if (!last && colon && colon == strrchr(text, ':'))
            last = colon;
        port = last ? last + 1 : NULL;
        snprintf(host, sizeof host, "%.*s", last ? (int)(last - text) : (int)len, text);
    }
    if ((port && !*port) || look_up(a, host, port, AI_NUMERICHOST | AI_NUMERICSERV))
        return err_set(e, EINVAL, "'%s' is no numeric address, with or without a port", text);
    return 0;
}

int address_resolve(struct address *a, const char *host, struct err *e)
{
    const char *at = strrchr(host, '@');
    const char *name = at ? at + 1 : host;
    int r = look_up(a, name, NULL, 0);
    if (r)
        return err_set(e, EINVAL, "cannot find the address of '%s': %s (--listen gives one for the data)",
                name, r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
    return 0;
}

void address_any(struct address *a)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    bool six = fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof any) == 0;
    if (fd >= 0)
        close(fd);
    memset(a, 0, sizeof *a);
    a->at.ss_family = six ? AF_INET6 : AF_INET;
    a->len = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

bool address_is_any(const struct address *a)
{
    if (a->at.ss_family == AF_INET6)
        return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&a->at)->sin6_addr);
    return ((const struct sockaddr_in *)&a->at)->sin_addr.s_addr == INADDR_ANY;
}
