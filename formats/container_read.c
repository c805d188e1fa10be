/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/container_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/digest.h"

int container_read_at(int fd, void *buf, size_t len, uint64_t offset, struct err *e)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, errno, "cannot read at byte %" PRIu64, offset + done);
        if (n == 0)
            return err_set(e, EBADMSG, "ends at byte %" PRIu64, offset + done);
        done += (size_t)n;
    }
    return 0;
}

int container_blame_member(const struct container *c, const char *name, uint64_t offset, struct err *e)
{
    return err_prefix(e, "%s: member '%s' at byte %" PRIu64, c->path, name, offset);
}

int container_blame(const struct container *c, size_t i, struct err *e)
{
    return container_blame_member(c, c->members[i].name, c->members[i].offset_bytes, e);
}

bool container_is_zero(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i])
            return false;
    return true;
}

int container_add_member(struct container *c, const struct member *m, struct err *e)
{
    if (c->count == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 64;
        struct member *members = reallocarray(c->members, cap, sizeof *members);
        if (!members)
            return err_sys(e, ENOMEM, "%s: cannot hold its index", c->path);
        c->members = members;
        c->cap = cap;
    }
    c->members[c->count++] = *m;
    return 0;
}

/* ---- any member ---- */

static int check_header(const struct member *m, const uint8_t *block, struct err *e)
{
    uint8_t header[ARCHIVE_BLOCK];
    int r = archive_header_encode(m->name, m->size_bytes, header, e);
    for (size_t i = 0; !r && i < ARCHIVE_BLOCK; i++)
        if (block[i] != header[i])
            return err_set(e, EBADMSG, "header is damaged (its byte %zu)", i);
    return r;
}

int container_read_member(int fd, const struct member *m, const uint64_t *digest, struct bytes *buf,
        const uint8_t **body, struct err *e)
{
    size_t span = (size_t)archive_span(m->size_bytes);
    buf->len = 0;
    int r = bytes_reserve(buf, span, e);
    if (r < 0)
        return r;
    r = container_read_at(fd, buf->data, span, m->offset_bytes, e);
    if (r < 0)
        return r;
    r = check_header(m, buf->data, e);
    if (r < 0)
        return r;
    buf->len = span;
    *body = buf->data + ARCHIVE_BLOCK;
    if (digest && digest64(*body, m->size_bytes) != *digest)
        return err_set(e, EBADMSG, "digest does not match");
    size_t end = ARCHIVE_BLOCK + (size_t)m->size_bytes;
    if (!container_is_zero(buf->data + end, span - end))
        return err_set(e, EBADMSG, "padding is not zero");
    return 0;
}

int container_read(struct container *c, size_t i, struct bytes *buf, const uint8_t **body, struct err *e)
{
    const struct member *m = &c->members[i];
    int r = container_read_member(c->fd, m, c->finished ? &m->digest : NULL, buf, body, e);
    return r < 0 ? container_blame(c, i, e) : 0;
}

/* ---- finished files: from the end ---- */

static bool parse_member(struct value v, struct member *m)
{
    const char *name;
    size_t len;
    if (!value_str(value_at(v, 0), &name, &len) || len >= sizeof m->name || memchr(name, 0, len))
        return false;
    memcpy(m->name, name, len);
    m->name[len] = 0;
    return value_uint(value_at(v, 1), &m->offset_bytes) && value_uint(value_at(v, 2), &m->size_bytes) &&
           value_uint(value_at(v, 3), &m->digest) && value_uint(value_at(v, 4), &m->extent.first) &&
           value_uint(value_at(v, 5), &m->extent.count) && value_uint(value_at(v, 6), &m->extent.begin_ns) &&
           value_uint(value_at(v, 7), &m->extent.end_ns);
}

static int take_members(struct container *c, struct value list, struct err *e)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < value_count(list); i++) {
        struct member m;
        if (!parse_member(value_at(list, i), &m))
            return err_set(e, EBADMSG, "entry %zu is malformed", i);
        if (m.size_bytes > CONTAINER_MEMBER_MAX || m.offset_bytes != offset)
            return err_set(e, EBADMSG, "entry %zu, '%s', has an impossible size or place", i, m.name);
        offset += archive_span(m.size_bytes);
        int r = container_add_member(c, &m, e);
        if (r < 0)
            return r;
    }
    if (offset != c->end.index_offset_bytes)
        return err_set(e, EBADMSG, "does not list everything before it");
    return 0;
}

static struct member index_member(const struct container *c)
{
    return (struct member){.name = CONTAINER_INDEX,
            .offset_bytes = c->end.index_offset_bytes,
            .size_bytes = c->end.index_size_bytes,
            .digest = c->end.index_digest};
}

static int take_index(struct container *c, struct err *e)
{
    struct member m = index_member(c);
    const uint8_t *body;
    if (m.size_bytes > CONTAINER_INDEX_MAX || m.offset_bytes > c->file_bytes ||
            m.offset_bytes + archive_span(m.size_bytes) != c->file_bytes - CONTAINER_TAIL)
        return err_set(e, EBADMSG, "is not where the end says it is");
    int r = container_read_member(c->fd, &m, &m.digest, &c->index, &body, e);
    if (r < 0)
        return r;
    r = unpack_check_seal(body, m.size_bytes, e);
    if (r < 0)
        return r;
    r = unpack(&c->unpacked, body, m.size_bytes, m.size_bytes / 4 + 65536, e);
    if (r < 0)
        return r;
    return take_members(c, value_get(unpacked_root(c->unpacked), "members"), e);
}

/* 1 if the file ends as a finished one does; 0 if not, then `why` says what is wrong. */
static int read_end(struct container *c, struct err *why, struct err *e)
{
    uint8_t tail[CONTAINER_TAIL];
    if (c->file_bytes < sizeof tail || c->file_bytes % ARCHIVE_BLOCK)
        return err_set(why, EBADMSG, "trailer is not at the end of the file"), 0;
    int r = container_read_at(c->fd, tail, sizeof tail, c->file_bytes - sizeof tail, e);
    if (r < 0)
        return err_prefix(e, "%s", c->path);
    return container_end_parse(tail, &c->end, why) == 0;
}

int container_verify_end(struct container *c, struct err *e)
{
    struct bytes buf = {0};
    struct member m = index_member(c);
    const uint8_t *body;
    struct err why;
    int r = read_end(c, &why, e);
    if (r == 0) {
        err_set(e, EBADMSG, "%s", why.text);
        return container_blame_member(c, CONTAINER_END, c->file_bytes - CONTAINER_TAIL, e);
    }
    if (r < 0)
        return r;
    r = container_read_member(c->fd, &m, &m.digest, &buf, &body, e);
    bytes_release(&buf);
    return r < 0 ? container_blame_member(c, m.name, m.offset_bytes, e) : 0;
}

/* ---- opening ---- */

static int open_file(struct container *c, struct err *e)
{
    struct stat st;
    c->fd = open(c->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would be waited for */
    if (c->fd < 0)
        return err_sys(e, errno, "cannot open '%s'", c->path);
    if (fstat(c->fd, &st) < 0)
        return err_sys(e, errno, "cannot inspect '%s'", c->path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "'%s' is not a regular file", c->path);
    c->file_bytes = (uint64_t)st.st_size;
    return 0;
}

/* 1 if the file begins with the name of a first member, give or take two bytes: what is damaged shall be
 * called damaged. */
static int begins_as_container(const struct container *c, struct err *e)
{
    char name[sizeof CONTAINER_FIRST];
    unsigned other = 0;
    if (c->file_bytes < sizeof name)
        return 0;
    int r = container_read_at(c->fd, name, sizeof name, 0, e);
    if (r < 0)
        return err_prefix(e, "%s", c->path);
    for (size_t i = 0; i < sizeof name; i++)
        other += name[i] != CONTAINER_FIRST[i];
    return other <= 2;
}

static int open_content(struct container *c, struct err *e)
{
    struct err why;
    int r = read_end(c, &why, e);
    if (r < 0)
        return r;
    if (r) {
        c->finished = true;
        r = take_index(c, e);
        return r < 0 ? container_blame_member(c, CONTAINER_INDEX, c->end.index_offset_bytes, e) : 0;
    }
    r = begins_as_container(c, e);
    if (r < 0)
        return r;
    if (!r)
        return err_set(e, EINVAL, "'%s' is no tape (it does not begin with the member '" CONTAINER_FIRST "')",
                c->path);
    return container_walk(c, &why, e);
}

int container_open(struct container **out, const char *path, struct err *e)
{
    struct container *c = calloc(1, sizeof *c);
    if (!c)
        return err_sys(e, ENOMEM, "cannot open '%s'", path);
    c->fd = -1;
    c->path = strdup(path);
    int r = c->path ? open_file(c, e) : err_sys(e, ENOMEM, "cannot open '%s'", path);
    if (!r)
        r = open_content(c, e);
    if (!r && (!c->count || strcmp(c->members[0].name, CONTAINER_FIRST) != 0))
        r = err_set(e, EBADMSG, "%s: has no whole member '" CONTAINER_FIRST "' at its beginning", path);
    if (r < 0) {
        container_close(c);
        return r;
    }
    *out = c;
    return 0;
}

void container_close(struct container *c)
{
    if (!c)
        return;
    container_drop_totals(c);
    if (c->fd >= 0)
        close(c->fd);
    free(c->members);
    free(c->path);
    free(c);
}

bool container_finished(const struct container *c)
{
    return c->finished;
}

const char *container_path(const struct container *c)
{
    return c->path;
}

size_t container_count(const struct container *c)
{
    return c->count;
}

const struct member *container_member(const struct container *c, size_t i)
{
    return &c->members[i];
}

void container_set_extent(struct container *c, size_t i, const struct member_extent *extent)
{
    c->members[i].extent = *extent;
}

struct value container_totals(const struct container *c)
{
    return c->unpacked ? value_get(unpacked_root(c->unpacked), "totals") : (struct value){NULL};
}

void container_drop_totals(struct container *c)
{
    unpacked_release(&c->unpacked);
    bytes_release(&c->index);
}

int container_probe(const char *path, struct err *e)
{
    struct container c = {.path = (char *)path, .fd = -1};
    struct err why;
    int r = open_file(&c, e);
    if (r == -EINVAL) /* a device, a folder */
        r = 0;
    else if (!r && (r = begins_as_container(&c, e)) == 0)
        r = read_end(&c, &why, e);
    if (c.fd >= 0)
        close(c.fd);
    return r;
}
