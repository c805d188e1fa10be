/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/target/nfs_address.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

#define SCHEME "nfs://"
#define ID_MAX UINT32_MAX /* of users and groups: RFC 5531, 8.2, authsys_parms */

/* ---- query ---- */

static const struct parameter {
    const char *name;
    size_t at; /* of a uint64_t in struct nfs_address */
    uint64_t least, most;
} parameters[] = {
        {"version", offsetof(struct nfs_address, version), 3, 4},
        {"nfsport", offsetof(struct nfs_address, nfs_port), 1, 65535},
        {"mountport", offsetof(struct nfs_address, mount_port), 1, 65535},
        {"connections", offsetof(struct nfs_address, connections), 1, NFS_CONNECTIONS_MAX},
        {"uid", offsetof(struct nfs_address, uid), 0, ID_MAX},
        {"gid", offsetof(struct nfs_address, gid), 0, ID_MAX},
        {"stable", offsetof(struct nfs_address, stable), 0, 1},
};
#define PARAMETERS (sizeof parameters / sizeof *parameters)

static int set_parameter(struct nfs_address *a, const char *name, const char *text, struct err *e)
{
    const struct parameter *p = parameters;
    while (p < parameters + PARAMETERS && strcmp(p->name, name) != 0)
        p++;
    if (p == parameters + PARAMETERS)
        return err_set(e, EINVAL,
                "unknown parameter '%s': known are version, nfsport, mountport, connections, uid, gid and "
                "stable",
                name);
    uint64_t value;
    int r = units_parse_u64(text, &value, e);
    if (r < 0)
        return err_prefix(e, "%s", name);
    if (value < p->least || value > p->most)
        return err_set(e, EINVAL, "%s=%s is not between %llu and %llu", name, text,
                (unsigned long long)p->least, (unsigned long long)p->most);
    memcpy((char *)a + p->at, &value, sizeof value);
    return 0;
}

static int parse_query(struct nfs_address *a, char *query, struct err *e)
{
    char *rest = query;
    while (rest && *rest) {
        char *name = strsep(&rest, "&");
        char *value = strchr(name, '=');
        if (!value)
            return err_set(e, EINVAL, "parameter '%s' has no value", name);
        *value++ = '\0';
        int r = set_parameter(a, name, value, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- host and path ---- */

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Percent escapes (RFC 3986, 2.1), in place. */
static int unescape(char *text, struct err *e)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        int high = hex_value(from[1]);
        int low = high < 0 ? -1 : hex_value(from[2]);
        if (low < 0 || (high == 0 && low == 0))
            return err_set(e, EINVAL, "bad percent escape");
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return 0;
}

static int parse_host(struct nfs_address *a, char *host, struct err *e)
{
    size_t len = strlen(host);
    if (host[0] == '[') {
        if (len < 3 || host[len - 1] != ']')
            return err_set(e, EINVAL, "bad IPv6 address");
        host[len - 1] = '\0';
        host++;
    } else if (strchr(host, ':')) {
        return err_set(e, EINVAL, "a port is given as ?nfsport=");
    } else if (strchr(host, '@')) {
        return err_set(e, EINVAL, "NFS knows no user in the URL: see ?uid=");
    }
    if (!*host)
        return err_set(e, EINVAL, "it names no host");
    a->host = strdup(host);
    return a->host ? 0 : err_sys(e, ENOMEM, "cannot keep it");
}

static int parse_path(struct nfs_address *a, char *path, struct err *e)
{
    char *slash = strrchr(path, '/');
    if (!slash[1])
        return err_set(e, EINVAL, "it names no file");
    a->file = strdup(slash + 1);
    while (slash > path && slash[-1] == '/')
        slash--;
    *slash = '\0';
    a->dir = strdup(slash > path ? path : "/");
    return a->dir && a->file ? 0 : err_sys(e, ENOMEM, "cannot keep it");
}

static int parse(struct nfs_address *a, char *text, struct err *e)
{
    char *query = strchr(text, '?');
    if (query)
        *query++ = '\0';
    int r = query ? parse_query(a, query, e) : 0;
    char *path = strchr(text, '/');
    if (r == 0 && !path)
        r = err_set(e, EINVAL, "it names no file");
    if (r < 0)
        return r;
    CLEANUP_FREE char *whole = strdup(path);
    if (!whole)
        return err_sys(e, ENOMEM, "cannot keep it");
    *path = '\0';
    r = unescape(text, e);
    if (r == 0)
        r = unescape(whole, e);
    if (r == 0)
        r = parse_host(a, text, e);
    return r < 0 ? r : parse_path(a, whole, e);
}

int nfs_address_parse(struct nfs_address *a, const char *url, struct err *e)
{
    *a = (struct nfs_address){.version = 3, .connections = 1, .uid = NFS_OWN_ID, .gid = NFS_OWN_ID};
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
        return err_set(e, EINVAL, "'%s' is no " SCHEME " URL", url);
    CLEANUP_FREE char *text = strdup(url + strlen(SCHEME));
    int r = text ? parse(a, text, e) : err_sys(e, ENOMEM, "cannot keep it");
    if (r < 0) {
        nfs_address_release(a);
        return err_prefix(e, "bad URL '%s'", url);
    }
    return 0;
}

void nfs_address_release(struct nfs_address *a)
{
    free(a->host);
    free(a->dir);
    free(a->file);
    a->host = a->dir = a->file = NULL;
}
