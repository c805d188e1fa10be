/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/container_end.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "formats/pack.h"

int container_end_pack(const struct container_end *end, struct bytes *out, struct err *e)
{
    struct packer p = {.out = out};
    pack_map(&p, 4);
    pack_str(&p, "index_offset");
    pack_fixed_uint(&p, end->index_offset_bytes);
    pack_str(&p, "index_size");
    pack_fixed_uint(&p, end->index_size_bytes);
    pack_str(&p, "index_digest");
    pack_fixed_uint(&p, end->index_digest);
    pack_seal(&p);
    return packer_end(&p, e);
}

static bool all_zero(const uint8_t *p, size_t len, size_t *where)
{
    for (*where = 0; *where < len; ++*where)
        if (p[*where])
            return false;
    return true;
}

int container_end_parse(const uint8_t tail[CONTAINER_TAIL], struct container_end *end, struct err *e)
{
    uint8_t header[ARCHIVE_BLOCK];
    const uint8_t *body = tail + ARCHIVE_BLOCK, *padding = body + CONTAINER_END_SIZE,
                  *trailer = body + ARCHIVE_BLOCK;
    size_t at;
    int r = archive_header_encode(CONTAINER_END, CONTAINER_END_SIZE, header, e);
    if (r < 0)
        return r;
    if (memcmp(header, tail, sizeof header) != 0)
        return err_set(e, EBADMSG, "header is damaged");
    r = unpack_check_seal(body, CONTAINER_END_SIZE, e);
    if (r < 0)
        return r;
    if (!all_zero(padding, (size_t)(trailer - padding), &at))
        return err_set(e, EBADMSG, "padding is not zero (byte %zu of the body)", at + CONTAINER_END_SIZE);
    if (!all_zero(trailer, ARCHIVE_TRAILER, &at))
        return err_set(e, EBADMSG, "trailer after it is not zero (its byte %zu)", at);
    struct unpacked *u = NULL;
    r = unpack(&u, body, CONTAINER_END_SIZE, PACK_OBJECTS_FEW, e);
    if (r < 0)
        return r;
    struct value map = unpacked_root(u);
    bool ok = value_uint(value_get(map, "index_offset"), &end->index_offset_bytes) &&
              value_uint(value_get(map, "index_size"), &end->index_size_bytes) &&
              value_uint(value_get(map, "index_digest"), &end->index_digest);
    unpacked_release(&u);
    return ok ? 0 : err_set(e, EBADMSG, "does not say where the index is");
}
