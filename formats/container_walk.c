/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/container_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* 1 if nothing but zeros follows: what a file system may leave where a machine died. */
static int zero_to_end(const struct container *c, uint64_t offset, struct err *e)
{
    uint8_t buf[16384];
    while (offset < c->file_bytes) {
        size_t len = c->file_bytes - offset < sizeof buf ? (size_t)(c->file_bytes - offset) : sizeof buf;
        int r = container_read_at(c->fd, buf, len, offset, e);
        if (r < 0)
            return r;
        if (!container_is_zero(buf, len))
            return 0;
        offset += len;
    }
    return 1;
}

/* A whole end member was met in a file that does not end as it should: damaged, or cut off within the
 * trailer. */
static int judge_end(const struct container *c, const struct member *m, const struct err *why, struct err *e)
{
    struct bytes buf = {0};
    const uint8_t *body;
    int r = container_read_member(c->fd, m, NULL, &buf, &body, e);
    if (!r)
        r = unpack_check_seal(body, m->size_bytes, e);
    bytes_release(&buf);
    if (r < 0)
        return r;
    uint64_t trailer = m->offset_bytes + archive_span(m->size_bytes);
    r = zero_to_end(c, trailer, e);
    if (r < 0 || (r == 1 && c->file_bytes < trailer + ARCHIVE_TRAILER))
        return r;
    return err_set(e, EBADMSG, "%s", why->text);
}

/* The member at `offset`: 1 in *m; 0 where the readable part ends. */
static int walk_step(
        struct container *c, uint64_t offset, struct member *m, const struct err *why, struct err *e)
{
    uint8_t block[ARCHIVE_BLOCK];
    if (c->file_bytes - offset < sizeof block)
        return 0;
    int r = container_read_at(c->fd, block, sizeof block, offset, e);
    if (r < 0)
        return r;
    if (container_is_zero(block, sizeof block) && (r = zero_to_end(c, offset, e)))
        return r < 0 ? r : 0;
    r = archive_header_decode(block, m->name, &m->size_bytes, e);
    if (r < 0)
        return r;
    m->offset_bytes = offset;
    uint64_t limit = strcmp(m->name, CONTAINER_INDEX) == 0 ? CONTAINER_INDEX_MAX : CONTAINER_MEMBER_MAX;
    if (m->size_bytes > limit)
        return err_set(e, EBADMSG, "size of %" PRIu64 " bytes is above the limit", m->size_bytes);
    if (archive_span(m->size_bytes) > c->file_bytes - offset)
        return 0;
    if (strcmp(m->name, CONTAINER_END) == 0)
        return judge_end(c, m, why, e) < 0 ? -EBADMSG : 0;
    return 1;
}

int container_walk(struct container *c, const struct err *why, struct err *e)
{
    uint64_t offset = 0;
    for (;;) {
        struct member m = {.name = "?"};
        if (c->file_bytes - offset == CONTAINER_TAIL)
            strcpy(m.name, CONTAINER_END); /* for the case that its header is damaged */
        int r = walk_step(c, offset, &m, why, e);
        if (r < 0)
            return container_blame_member(c, m.name, offset, e);
        if (r == 0)
            return 0;
        offset += archive_span(m.size_bytes);
        if (strcmp(m.name, CONTAINER_INDEX) == 0)
            continue; /* an index without its end: the file is read as if it were not there */
        r = container_add_member(c, &m, e);
        if (r < 0)
            return r;
    }
}
