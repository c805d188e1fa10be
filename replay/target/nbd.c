/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Exports of NBD servers, by libnbd: no mount, no root, no page cache in between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "replay/pace.h"
#include "replay/target/nbd.h"

/* What a server can do that does not say (proto.md, "Block size constraints"); we never ask for more. */
#define REQUEST_MAX_BYTES (UINT32_C(32) << 20)
#define STALL_DEFAULT_NS  (30 * NS_PER_S)

extern const struct target_ops target_nbd;

static struct nbd_target *nbd_of(struct target *t)
{
    return (struct nbd_target *)t;
}

static void close_target(struct target *target)
{
    struct nbd_target *t = nbd_of(target);
    for (unsigned i = 0; t->conn && i < t->conns; i++)
        nbd_conn_close(&t->conn[i]);
    free(t->conn);
    free(t->uri);
    free(target->url);
    free(t);
}

/* Sets what follows from what the server said. */
static int accept_export(struct nbd_target *t, struct err *e)
{
    const struct nbd_export *x = &t->export;
    uint32_t sector = x->min_bytes > 512 ? x->min_bytes : 512;
    uint32_t max = x->max_bytes && x->max_bytes < REQUEST_MAX_BYTES ? x->max_bytes : REQUEST_MAX_BYTES;
    if (x->size_bytes == 0)
        return err_set(e, ENOSPC, "'%s' is empty", t->base.url);
    if (x->read_only && !t->read_only)
        return err_set(e, EROFS, "'%s' is read-only (--read-only replays reads alone)", t->base.url);
    if ((sector & (sector - 1)) || max < sector)
        return err_set(e, EPROTO, "'%s' wants requests of %u to %u bytes, which is not possible", t->base.url,
                sector, max);
    if (t->conns > 1 && !x->multi_conn)
        return err_set(e, EINVAL,
                "'%s': the server does not say that several connections are safe (connections=%u)",
                t->base.url, t->conns);
    t->base.size_bytes = x->size_bytes;
    t->base.sector_bytes = sector;
    t->request_bytes = max & ~(sector - 1);
    return 0;
}

static int connect_all(struct nbd_target *t, struct err *e)
{
    struct nbd_export first = {0};
    for (unsigned i = 0; i < t->conns; i++) {
        struct nbd_export x;
        nbd_conn_start(&t->conn[i], pace_now_ns());
        int r = nbd_conn_wait(&t->conn[i], e);
        if (r == 0)
            r = nbd_conn_export(&t->conn[i], &x, e);
        if (r < 0)
            return r;
        if (i == 0)
            first = x;
        else if (x.size_bytes != first.size_bytes)
            return err_set(e, EPROTO, "'%s' has another size on its second connection", t->base.url);
    }
    t->export = first;
    return accept_export(t, e);
}

static int open_target(struct target **out, const char *url, const struct target_options *o, struct err *e)
{
    struct nbd_target *t = calloc(1, sizeof *t);
    if (!t)
        return err_sys(e, ENOMEM, "cannot open '%s'", url);
    t->base.ops = &target_nbd;
    t->read_only = o->read_only;
    t->stall_ns = o->stall_timeout_ns ? o->stall_timeout_ns : STALL_DEFAULT_NS;
    t->base.url = strdup(url);
    int r = t->base.url ? nbd_url_parse(url, &t->uri, &t->conns, e)
                        : err_sys(e, ENOMEM, "cannot open '%s'", url);
    if (r == 0) {
        t->conn = calloc(t->conns, sizeof *t->conn);
        if (!t->conn)
            r = err_sys(e, ENOMEM, "cannot open '%s'", url);
    }
    for (unsigned i = 0; r == 0 && i < t->conns; i++)
        t->conn[i].target = t;
    if (r == 0)
        r = connect_all(t, e);
    if (r < 0) {
        close_target(&t->base);
        return r;
    }
    *out = &t->base;
    return 0;
}

static int describe_limit(struct facts *f, const char *key, uint32_t bytes, struct err *e)
{
    return bytes ? facts_set(f, e, key, "%u", bytes) : facts_set(f, e, key, "not said");
}

static int describe(struct target *target, struct facts *f, struct err *e)
{
    struct nbd_target *t = nbd_of(target);
    const struct nbd_export *x = &t->export;
    struct nbd_handle *h = t->conn[0].handle; /* NULL while it is down */
    int r = facts_set(f, e, "type", "NBD export");
    if (r == 0)
        r = facts_set(f, e, "protocol", "%s%s", h ? nbd_get_protocol(h) : "unknown",
                h && nbd_get_tls_negotiated(h) > 0 ? ", TLS" : "");
    if (r == 0)
        r = facts_set(f, e, "client", "libnbd %s", h ? nbd_get_version(h) : "");
    if (r == 0)
        r = facts_set(f, e, "connections", "%u", t->conns);
    if (r == 0)
        r = describe_limit(f, "request_min_bytes", x->min_bytes, e);
    if (r == 0)
        r = describe_limit(f, "request_preferred_bytes", x->preferred_bytes, e);
    if (r == 0)
        r = describe_limit(f, "request_max_bytes", x->max_bytes, e);
    if (r == 0)
        r = facts_set(f, e, "rotational", "%s", x->rotational ? "yes" : "no");
    if (r == 0)
        r = facts_set(f, e, "offers", "%s%s%s%s%s", x->flush ? "flush " : "", x->fua ? "fua " : "",
                x->trim ? "trim " : "", x->zero ? "zero " : "", x->multi_conn ? "multi-conn" : "");
    return r;
}

static void events(struct target *t, struct target_events *ev)
{
    *ev = nbd_of(t)->events;
}

static const char *const prefixes[] = {"nbd://", "nbds://", "nbd+unix://", "nbds+unix://", NULL};

const struct target_ops target_nbd = {
        .name = "nbd",
        .help = "nbd://HOST[:PORT]/EXPORT, nbd+unix:///EXPORT?socket=PATH\n"
                "                   an export of an NBD server, by libnbd; nbds:// and nbds+unix:// with TLS "
                "(user\n"
                "                   USER@, tls-certificates=DIR, tls-psk-file=FILE). connections=N: over N\n"
                "                   connections, where the server says that this is safe",
        .prefixes = prefixes,
        .stores = true,
        .open = open_target,
        .close = close_target,
        .describe = describe,
        .events = events,
        .queue_open = nbd_queue_open,
        .queue_close = nbd_queue_close,
        .submit = nbd_submit,
        .reap = nbd_reap,
};
