/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/target/iscsi_url.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

#define SCHEME            "iscsi://"
#define SYNTAX            "iscsi://[USER@]HOST[:PORT][,HOST[:PORT]...]/TARGET/LUN"
#define DEFAULT_PORT      "3260"
#define DEFAULT_INITIATOR "iqn.2026-01.invalid.iotape:replay"
#define LUN_MAX           16383 /* flat space addressing (SAM-5, 4.7.7.4) */

static int bad(const char *shown, const char *why, struct err *e)
{
    return err_set(e, EINVAL, "target '%s': %s (expected %s)", shown, why, SYNTAX);
}

/* Copies text[0..len) where it fits. */
static bool copy(char out[ISC_TEXT_BYTES], const char *text, size_t len)
{
    if (len >= ISC_TEXT_BYTES)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

/* Takes USER%SECRET@ off the front of the authority, and makes the URL that may be shown. */
static int split_user(struct isc_url *u, const char *authority, size_t len, char **shown, struct err *e)
{
    const char *at = memrchr(authority, '@', len);
    const char *user_end = at ? memchr(authority, '%', (size_t)(at - authority)) : NULL;
    if (!user_end)
        user_end = at;
    /* A secret without its '@', or with a slash in it: nothing of this may be shown. */
    if (!at && memchr(authority, '%', len) && authority[0] != '[')
        return err_set(e, EINVAL,
                "an iSCSI URL has a '%%' before its first '/', and no '@' (expected %s; secrets go into "
                "IOTAPE_CHAP_SECRET)",
                SYNTAX);
    int r = asprintf(
            shown, SCHEME "%.*s%s", at ? (int)(user_end - authority) : 0, authority, at ? at : authority);
    if (r < 0) {
        *shown = NULL;
        return err_sys(e, ENOMEM, "cannot keep an iSCSI URL");
    }
    if (at && !copy(u->user, authority, (size_t)(user_end - authority)))
        return bad(*shown, "the user's name is too long", e);
    if (at && user_end < at && !copy(u->secret, user_end + 1, (size_t)(at - user_end - 1)))
        return bad(*shown, "the secret is too long", e);
    return 0;
}

static int set_port(struct isc_portal *p, const char *text, size_t len, const char *shown, struct err *e)
{
    unsigned long port = 0;
    for (size_t i = 0; i < len && port <= 65535; i++)
        port = isdigit((unsigned char)text[i]) ? port * 10 + (unsigned long)(text[i] - '0') : 65536;
    if (len == 0 || port == 0 || port > 65535)
        return bad(shown, "a port is no number from 1 to 65535", e);
    snprintf(p->port, sizeof p->port, "%lu", port);
    return 0;
}

/* HOST, HOST:PORT, [V6] or [V6]:PORT. */
static int add_portal(struct isc_url *u, const char *text, size_t len, const char *shown, struct err *e)
{
    if (u->portals == ISC_PORTALS_MAX)
        return bad(shown, "too many portals", e);
    struct isc_portal *p = &u->portal[u->portals++];
    bool bracket = len && text[0] == '[';
    const char *end = memchr(text, bracket ? ']' : ':', len);
    const char *host = bracket ? text + 1 : text;
    if (bracket && !end)
        return bad(shown, "a bracket is not closed", e);
    size_t host_len = end ? (size_t)(end - host) : len;
    size_t used = bracket ? host_len + 2 : host_len;
    if (host_len == 0 || !copy(p->host, host, host_len) || !copy(p->text, text, len))
        return bad(shown, "a portal has no host or too long a name", e);
    strcpy(p->port, DEFAULT_PORT);
    if (used == len)
        return 0;
    if (text[used] != ':' || memchr(text + used + 1, ':', len - used - 1))
        return bad(shown, "a portal is not HOST:PORT (IPv6 addresses stand in brackets)", e);
    return set_port(p, text + used + 1, len - used - 1, shown, e);
}

static int split_portals(struct isc_url *u, const char *text, size_t len, const char *shown, struct err *e)
{
    int r = 0;
    while (r == 0) {
        const char *comma = memchr(text, ',', len);
        size_t one = comma ? (size_t)(comma - text) : len;
        r = add_portal(u, text, one, shown, e);
        if (!comma)
            break;
        text += one + 1;
        len -= one + 1;
    }
    return r;
}

/* %3A -> ':' (RFC 3986, 2.1). */
static bool unescape(char *text)
{
    char *out = text;
    for (char *in = text; *in; in++) {
        if (*in == '%') {
            char digits[3] = {in[1], in[1] ? in[2] : '\0', '\0'};
            if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
                return false;
            *out = (char)strtol(digits, NULL, 16);
            if (*out++ == '\0')
                return false;
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return true;
}

static int split_target(struct isc_url *u, const char *text, const char *shown, struct err *e)
{
    if (strpbrk(text, "?#"))
        return bad(shown, "it takes no query parameters", e);
    const char *slash = strrchr(text, '/');
    if (!slash || slash == text || !slash[1])
        return bad(shown, "it names no target or no LUN", e);
    if (!copy(u->name, text, (size_t)(slash - text)) || !unescape(u->name) || strchr(u->name, '/'))
        return bad(shown, "the target's name is no iSCSI name", e);
    for (const char *c = slash + 1; *c; c++) {
        if (!isdigit((unsigned char)*c))
            return bad(shown, "the LUN is no number", e);
        u->lun = u->lun * 10 + (uint32_t)(*c - '0');
        if (u->lun > LUN_MAX)
            return bad(shown, "the LUN is beyond 16383", e);
    }
    return 0;
}

int isc_url_parse(struct isc_url *u, const char *url, char **shown, struct err *e)
{
    memset(u, 0, sizeof *u);
    *shown = NULL;
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
        return err_set(e, EINVAL, "an iSCSI URL begins with " SCHEME);
    const char *authority = url + strlen(SCHEME);
    size_t len = strcspn(authority, "/");
    int r = split_user(u, authority, len, shown, e);
    if (r < 0)
        return r;
    const char *at = memrchr(authority, '@', len);
    const char *portals = at ? at + 1 : authority;
    r = split_portals(u, portals, (size_t)(authority + len - portals), *shown, e);
    if (r < 0)
        return r;
    return authority[len] ? split_target(u, authority + len + 1, *shown, e)
                          : bad(*shown, "it names no target and no LUN", e);
}

/* ---- secrets ---- */

static int read_line(char out[ISC_TEXT_BYTES], const char *path, struct err *e)
{
    CLEANUP_FILE FILE *f = fopen(path, "re");
    if (!f)
        return err_sys(e, errno, "cannot open '%s', which should hold a CHAP secret", path);
    if (!fgets(out, ISC_TEXT_BYTES, f))
        return err_set(e, EINVAL, "'%s' should hold a CHAP secret, and is empty", path);
    if (!strchr(out, '\n') && fgetc(f) != EOF)
        return err_set(e, EINVAL, "the CHAP secret in '%s' is too long", path);
    out[strcspn(out, "\r\n")] = '\0';
    return 0;
}

static int secret_from(char out[ISC_TEXT_BYTES], const char *variable, const char *file, struct err *e)
{
    const char *text = getenv(variable), *path = getenv(file);
    if (out[0])
        return 0;
    if (text && *text)
        return copy(out, text, strlen(text)) ? 0 : err_set(e, EINVAL, "%s is too long", variable);
    return path && *path ? read_line(out, path, e) : 0;
}

int isc_url_secrets(struct isc_url *u, const char *shown, struct err *e)
{
    if (!u->user[0])
        return 0;
    const char *mutual = getenv("IOTAPE_CHAP_MUTUAL_USER");
    int r = secret_from(u->secret, "IOTAPE_CHAP_SECRET", "IOTAPE_CHAP_SECRET_FILE", e);
    if (r == 0 && !u->secret[0])
        return err_set(e, EINVAL,
                "'%s' names a user, and there is no secret: put it into IOTAPE_CHAP_SECRET or into a file "
                "that "
                "IOTAPE_CHAP_SECRET_FILE names",
                shown);
    if (r < 0 || !mutual || !*mutual)
        return r;
    if (!copy(u->mutual_user, mutual, strlen(mutual)))
        return err_set(e, EINVAL, "IOTAPE_CHAP_MUTUAL_USER is too long");
    r = secret_from(u->mutual_secret, "IOTAPE_CHAP_MUTUAL_SECRET", "IOTAPE_CHAP_MUTUAL_SECRET_FILE", e);
    if (r == 0 && !u->mutual_secret[0])
        return err_set(e, EINVAL,
                "IOTAPE_CHAP_MUTUAL_USER is set, and there is no secret: put it into "
                "IOTAPE_CHAP_MUTUAL_SECRET or into a file that IOTAPE_CHAP_MUTUAL_SECRET_FILE names");
    return r;
}

void isc_initiator_name(char name[ISC_TEXT_BYTES])
{
    const char *given = getenv("IOTAPE_ISCSI_INITIATOR");
    if (given && *given && copy(name, given, strlen(given)))
        return;
    CLEANUP_FILE FILE *f = fopen("/etc/iscsi/initiatorname.iscsi", "re");
    char line[ISC_TEXT_BYTES + 32];
    while (f && fgets(line, sizeof line, f)) {
        char *value = line + strlen("InitiatorName=");
        if (strncmp(line, "InitiatorName=", strlen("InitiatorName=")) != 0)
            continue;
        size_t len = strcspn(value, " \t\r\n");
        if (len && copy(name, value, len))
            return;
    }
    strcpy(name, DEFAULT_INITIATOR);
}
