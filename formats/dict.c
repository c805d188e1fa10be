/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/describe.h"

#define MEMBER_BYTES (256U << 10)

void dict_release(struct dict *d)
{
    for (size_t i = 0; i < d->stream_count; i++)
        tape_stream_release(&d->streams[i]);
    for (size_t i = 0; i < d->issuer_count; i++)
        free(d->issuers[i]);
    for (size_t i = 0; i < d->host_count; i++)
        free(d->hosts[i]);
    free(d->streams);
    free(d->issuers);
    free(d->hosts);
    free(d->lost_stream);
    *d = (struct dict){0};
}

static int read_streams(struct dict *d, struct value list, struct err *e)
{
    size_t n = value_count(list);
    if (n > TAPE_STREAMS_MAX - d->stream_count)
        return err_set(e, EBADMSG, "has more than %d streams", TAPE_STREAMS_MAX);
    if (!n)
        return 0;
    struct tape_stream *streams = reallocarray(d->streams, d->stream_count + n, sizeof *streams);
    if (!streams)
        return err_sys(e, ENOMEM, "cannot hold %zu streams", n);
    d->streams = streams;
    for (size_t i = 0; i < n; i++) {
        int r = describe_read_stream(value_at(list, i), &streams[d->stream_count], e);
        if (r < 0)
            return r;
        d->stream_count++;
    }
    return 0;
}

/* Issuers or hosts: `what` they are, at most `max` of them. */
static int read_names(char ***names, size_t *count, size_t *cap, size_t max, const char *what,
        struct value list, struct err *e)
{
    size_t n = value_count(list);
    if (n > max - *count)
        return err_set(e, EBADMSG, "has more than %zu %s", max, what);
    if (n > *cap - *count) {
        size_t room = *count + n > 2 * *cap ? *count + n : 2 * *cap;
        char **larger = reallocarray(*names, room, sizeof *larger);
        if (!larger)
            return err_sys(e, ENOMEM, "cannot hold %zu %s", room, what);
        *names = larger;
        *cap = room;
    }
    for (size_t i = 0; i < n; i++) {
        int r = describe_read_text(value_at(list, i), DESCRIBE_ISSUER_MAX, &(*names)[*count], e);
        if (r < 0)
            return r;
        ++*count;
    }
    return 0;
}

static int read_lost(struct dict *d, struct value list, struct err *e)
{
    size_t n = value_count(list);
    if (!list.node)
        return 0;
    if (!n || n - 1 > d->stream_count || !value_uint(value_at(list, 0), &d->lost))
        return err_set(e, EBADMSG, "'lost' is malformed");
    uint64_t *lost = reallocarray(d->lost_stream, n, sizeof *lost);
    if (!lost)
        return err_sys(e, ENOMEM, "cannot hold %zu counts", n);
    d->lost_stream = lost;
    d->lost_count = n - 1;
    for (size_t i = 0; i + 1 < n; i++)
        if (!value_uint(value_at(list, i + 1), &lost[i]))
            return d->lost_count = 0, err_set(e, EBADMSG, "'lost' is malformed");
    return 0;
}

int dict_read(struct dict *d, const uint8_t *body, size_t len, struct err *e)
{
    struct unpacked *u = NULL;
    int r = unpack_check_seal(body, len, e);
    if (!r)
        r = unpack(&u, body, len, len / 2 + PACK_OBJECTS_FEW, e);
    if (r < 0)
        return r;
    struct value map = unpacked_root(u);
    struct value streams = value_get(map, "streams"), issuers = value_get(map, "issuers");
    struct value hosts = value_get(map, "hosts");
    if (!value_is_array(streams) || !value_is_array(issuers) || (hosts.node && !value_is_array(hosts)))
        r = err_set(e, EBADMSG, "has no list of streams, issuers or hosts");
    if (!r)
        r = read_streams(d, streams, e);
    if (!r)
        r = read_names(
                &d->issuers, &d->issuer_count, &d->issuer_cap, TAPE_ISSUERS_MAX, "issuers", issuers, e);
    if (!r && hosts.node)
        r = read_names(&d->hosts, &d->host_count, &d->host_cap, NET_HOSTS_MAX, "hosts", hosts, e);
    if (!r)
        r = read_lost(d, value_get(map, "lost"), e);
    unpacked_release(&u);
    return r;
}

void dict_pending_release(struct dict_pending *d)
{
    bytes_release(&d->streams);
    bytes_release(&d->issuers);
    bytes_release(&d->hosts);
    *d = (struct dict_pending){0};
}

int dict_add_stream(struct dict_pending *d, const struct tape_stream *s, struct err *e)
{
    size_t before = d->streams.len;
    struct packer p = {.out = &d->streams};
    describe_pack_stream(&p, s);
    int r = packer_end(&p, e);
    if (r < 0)
        d->streams.len = before;
    else
        d->stream_count++;
    return r;
}

static int add_name(struct bytes *names, size_t *count, const char *name, struct err *e)
{
    size_t before = names->len;
    struct packer p = {.out = names};
    pack_str(&p, name);
    int r = packer_end(&p, e);
    if (r < 0)
        names->len = before;
    else
        ++*count;
    return r;
}

int dict_add_issuer(struct dict_pending *d, const char *name, struct err *e)
{
    return add_name(&d->issuers, &d->issuer_count, name, e);
}

int dict_add_host(struct dict_pending *d, const char *name, struct err *e)
{
    return add_name(&d->hosts, &d->host_count, name, e);
}

bool dict_is_pending(const struct dict_pending *d)
{
    return d->stream_count || d->issuer_count || d->host_count;
}

bool dict_is_large(const struct dict_pending *d)
{
    return d->streams.len + d->issuers.len + d->hosts.len > MEMBER_BYTES;
}

static void pack_lost(struct packer *p, const struct tape_totals *t)
{
    pack_str(p, "lost");
    pack_array(p, t->stream_count + 1);
    pack_uint(p, t->lost);
    for (size_t i = 0; i < t->stream_count; i++)
        pack_uint(p, t->streams[i].lost);
}

int dict_pack(struct dict_pending *d, const struct tape_totals *lost, struct bytes *out, struct err *e)
{
    struct packer p = {.out = out};
    pack_map(&p, 3U + (lost != NULL) + (d->host_count > 0));
    pack_str(&p, "streams");
    pack_array(&p, d->stream_count);
    pack_raw(&p, &d->streams);
    pack_str(&p, "issuers");
    pack_array(&p, d->issuer_count);
    pack_raw(&p, &d->issuers);
    if (d->host_count) {
        pack_str(&p, "hosts");
        pack_array(&p, d->host_count);
        pack_raw(&p, &d->hosts);
    }
    if (lost)
        pack_lost(&p, lost);
    pack_seal(&p);
    d->streams.len = d->issuers.len = d->hosts.len = 0;
    d->stream_count = d->issuer_count = d->host_count = 0;
    return packer_end(&p, e);
}
