/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * URLs of NBD exports: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/uri.md, which libnbd takes
 * apart, and parameters of our own, which it does not know. It skips what it does not know in silence.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "replay/target/nbd.h"

/* Those of libnbd; their values are its business. */
static const char *const passed_on[] = {"socket", "tls-certificates", "tls-psk-file", NULL};

static bool is_named(const char *parameter, size_t len, const char *name)
{
    return len > strlen(name) && strncmp(parameter, name, strlen(name)) == 0 &&
           parameter[strlen(name)] == '=';
}

static int parse_connections(const char *text, size_t len, unsigned *connections, struct err *e)
{
    char number[16];
    uint64_t n;
    if (len < sizeof number) {
        memcpy(number, text, len);
        number[len] = 0;
        if (units_parse_u64(number, &n, NULL) == 0 && n >= 1 && n <= NBD_CONNECTIONS_MAX) {
            *connections = (unsigned)n;
            return 0;
        }
    }
    return err_set(
            e, EINVAL, "connections=%.*s is not a number from 1 to %d", (int)len, text, NBD_CONNECTIONS_MAX);
}

/* Keeps one parameter, or understands it. */
static int take_parameter(char *uri, const char *p, size_t len, unsigned *connections, struct err *e)
{
    if (is_named(p, len, "connections"))
        return parse_connections(p + sizeof "connections", len - sizeof "connections", connections, e);
    for (const char *const *name = passed_on; *name; name++) {
        if (is_named(p, len, *name)) {
            strcat(uri, strchr(uri, '?') ? "&" : "?");
            strncat(uri, p, len);
            return 0;
        }
    }
    return err_set(e, EINVAL,
            "unknown parameter '%.*s': known are connections=N, socket=PATH, tls-certificates=DIR and "
            "tls-psk-file=FILE",
            (int)len, p);
}

/* NBD has no passwords; one would end up in runs. */
static bool has_password(const char *url)
{
    const char *host = strstr(url, "://");
    if (!host)
        return false;
    host += 3;
    const char *at = memchr(host, '@', strcspn(host, "/?"));
    return at && memchr(host, ':', (size_t)(at - host));
}

int nbd_url_parse(const char *url, char **uri, unsigned *connections, struct err *e)
{
    *connections = 1;
    if (has_password(url))
        return err_set(e, EINVAL, "an NBD URL has no password");
    char *out = calloc(1, strlen(url) + 2);
    if (!out)
        return err_sys(e, ENOMEM, "cannot open '%s'", url);
    size_t base = strcspn(url, "?");
    memcpy(out, url, base);
    const char *p = url + base;
    int r = 0;
    while (*p && r == 0) {
        p++; /* '?' or '&' */
        size_t len = strcspn(p, "&");
        if (len)
            r = take_parameter(out, p, len, connections, e);
        p += len;
    }
    if (r < 0) {
        free(out);
        return err_prefix(e, "target '%s'", url);
    }
    *uri = out;
    return 0;
}
