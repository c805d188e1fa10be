/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/chunk.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/compress.h"
#include "formats/pack.h"

struct chunk_encoder {
    struct columns *columns;
    struct compressor *compressor;
    struct bytes content, body;
};

int chunk_encoder_open(struct chunk_encoder **out, int level, struct err *e)
{
    struct chunk_encoder *c = calloc(1, sizeof *c);
    int r = c ? columns_open(&c->columns, true, e) : err_sys(e, ENOMEM, "cannot set up encoding");
    if (!r)
        r = compressor_open(&c->compressor, level, e);
    if (r < 0) {
        chunk_encoder_close(c);
        return r;
    }
    *out = c;
    return 0;
}

void chunk_encoder_close(struct chunk_encoder *c)
{
    if (!c)
        return;
    columns_close(c->columns);
    compressor_close(c->compressor);
    bytes_release(&c->content);
    bytes_release(&c->body);
    free(c);
}

int chunk_encode(struct chunk_encoder *c, const struct chunk_spec *spec, void *const *arrays, uint64_t number,
        uint32_t count, const struct bytes **body, struct err *e)
{
    struct packer p = {.out = &c->content};
    c->content.len = c->body.len = 0;
    pack_map(&p, 3);
    pack_str(&p, spec->key);
    pack_uint(&p, number);
    pack_str(&p, "count");
    pack_uint(&p, count);
    pack_str(&p, "columns");
    columns_pack(c->columns, spec->columns, (const void *const *)arrays, spec->column_count, count, &p);
    int r = packer_end(&p, e);
    if (r < 0)
        return r;
    const size_t *cuts;
    size_t cut_count = columns_cuts(c->columns, &cuts);
    r = compress_frame(c->compressor, &c->content, cuts, cut_count, &c->body, e);
    if (r < 0)
        return r;
    *body = &c->body;
    return 0;
}

/* Its parts are made when they are needed: many tapes are opened only to be described. */
struct chunk_decoder {
    struct columns *columns;
    struct decompressor *decompressor;
    struct bytes content;
    struct unpacked *unpacked; /* between the two steps */
    uint32_t count;
};

int chunk_decoder_open(struct chunk_decoder **out, struct err *e)
{
    struct chunk_decoder *c = calloc(1, sizeof *c);
    if (!c)
        return err_sys(e, ENOMEM, "cannot set up decoding");
    *out = c;
    return 0;
}

void chunk_decoder_close(struct chunk_decoder *c)
{
    if (!c)
        return;
    columns_close(c->columns);
    decompressor_close(c->decompressor);
    unpacked_release(&c->unpacked);
    bytes_release(&c->content);
    free(c);
}

int chunk_decode_content(struct chunk_decoder *c, const struct chunk_spec *spec, const uint8_t *content,
        size_t len, uint64_t *number, uint32_t *count, struct err *e)
{
    unpacked_release(&c->unpacked);
    int r = unpack(&c->unpacked, content, len, PACK_OBJECTS_FEW, e);
    if (r < 0)
        return r;
    struct value map = unpacked_root(c->unpacked);
    uint64_t n;
    if (!value_uint(value_get(map, spec->key), number) || !value_uint(value_get(map, "count"), &n) || !n ||
            n > COLUMNS_COUNT_MAX)
        return err_set(e, EBADMSG, "'%s' or 'count' is missing or out of bounds", spec->key);
    *count = c->count = (uint32_t)n;
    return 0;
}

int chunk_decode(struct chunk_decoder *c, const struct chunk_spec *spec, const uint8_t *body, size_t len,
        uint64_t *number, uint32_t *count, struct err *e)
{
    int r = c->decompressor ? 0 : decompressor_open(&c->decompressor, e);
    if (!r)
        r = decompress_frame(c->decompressor, body, len, CHUNK_CONTENT_MAX, &c->content, e);
    if (r < 0)
        return r;
    return chunk_decode_content(c, spec, c->content.data, c->content.len, number, count, e);
}

int chunk_decode_columns(
        struct chunk_decoder *c, const struct chunk_spec *spec, void *const *arrays, struct err *e)
{
    int r = c->columns ? 0 : columns_open(&c->columns, false, e);
    if (!r)
        r = columns_unpack(c->columns, spec->columns, arrays, spec->column_count, c->count,
                value_get(unpacked_root(c->unpacked), "columns"), e);
    unpacked_release(&c->unpacked);
    return r;
}
