/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "formats/base/cleanup.h"
#include "formats/container.h"
#include "formats/describe.h"
#include "formats/run.h"

static int read_kind(struct container *c, enum tape_kind *kind, struct err *e)
{
    CLEANUP(bytes_release) struct bytes buf = {0};
    CLEANUP(unpacked_release) struct unpacked *u = NULL;
    const uint8_t *body;
    int r = container_read(c, 0, &buf, &body, e);
    if (r < 0)
        return r;
    size_t len = container_member(c, 0)->size_bytes;
    r = unpack_check_seal(body, len, e);
    if (!r)
        r = unpack(&u, body, len, PACK_OBJECTS_FEW, e);
    if (!r)
        r = describe_read_head(unpacked_root(u), kind, e);
    return r < 0 ? container_blame(c, 0, e) : 0;
}

int tape_file_kind(const char *path, enum tape_kind *kind, struct err *e)
{
    struct container *c;
    *kind = TAPE_KIND_NONE;
    int r = container_probe(path, e);
    if (r <= 0)
        return r;
    r = container_open(&c, path, e);
    if (r < 0)
        return r;
    r = read_kind(c, kind, e);
    container_close(c);
    return r;
}
