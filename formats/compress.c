/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/compress.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/digest.h"

/* Matches across the planes of a chunk are worthless; a small window keeps the working set in the cache. */
#define WINDOW_LOG 17

/* A skippable frame (RFC 8878, 3.1.2) with the XXH3-64 of the frame before it: a flipped bit need not change
 * the content, and still is damage. */
#define SEAL_MAGIC "\x58\x2a\x4d\x18\x08\0\0\0"
#define SEAL_HEAD  8
#define SEAL_BYTES 16

struct compressor {
    ZSTD_CCtx *context;
};

struct decompressor {
    ZSTD_DCtx *context;
};

int compressor_open(struct compressor **out, int level, struct err *e)
{
    struct compressor *c = malloc(sizeof *c);
    ZSTD_CCtx *z = c ? ZSTD_createCCtx() : NULL;
    if (!z) {
        free(c);
        return err_sys(e, ENOMEM, "cannot set up compression");
    }
    size_t r = ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(r))
        r = ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    if (!ZSTD_isError(r))
        r = ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, WINDOW_LOG);
    if (ZSTD_isError(r)) {
        ZSTD_freeCCtx(z);
        free(c);
        return err_set(e, EINVAL, "cannot set up compression: %s", ZSTD_getErrorName(r));
    }
    c->context = z;
    *out = c;
    return 0;
}

void compressor_close(struct compressor *c)
{
    if (!c)
        return;
    ZSTD_freeCCtx(c->context);
    free(c);
}

static void make_seal(const void *data, size_t len, uint8_t seal[SEAL_BYTES])
{
    uint64_t sum = digest64(data, len);
    memcpy(seal, SEAL_MAGIC, SEAL_HEAD);
    for (int i = 0; i < 8; i++)
        seal[SEAL_HEAD + i] = (uint8_t)(sum >> (8 * i));
}

int compress_frame(struct compressor *c, const struct bytes *in, const size_t *cuts, size_t cut_count,
        struct bytes *out, struct err *e)
{
    /* Each block has a header of three bytes (RFC 8878, 3.1.1.2). */
    int r = bytes_reserve(out, ZSTD_compressBound(in->len) + 3 * (cut_count + 1) + SEAL_BYTES, e);
    if (r < 0)
        return r;
    ZSTD_inBuffer from = {in->data, 0, 0};
    ZSTD_outBuffer to = {out->data + out->len, out->cap - out->len - SEAL_BYTES, 0};
    size_t z = ZSTD_CCtx_reset(c->context, ZSTD_reset_session_only);
    if (!ZSTD_isError(z))
        z = ZSTD_CCtx_setPledgedSrcSize(c->context, in->len);
    for (size_t i = 0; i <= cut_count && !ZSTD_isError(z); i++) {
        from.size = i < cut_count ? cuts[i] : in->len;
        z = ZSTD_compressStream2(c->context, &to, &from, i < cut_count ? ZSTD_e_flush : ZSTD_e_end);
        if (z > 0 && !ZSTD_isError(z))
            return err_set(e, EINVAL, "cannot compress: no room is left");
    }
    if (ZSTD_isError(z))
        return err_set(e, EINVAL, "cannot compress: %s", ZSTD_getErrorName(z));
    make_seal(to.dst, to.pos, (uint8_t *)to.dst + to.pos);
    out->len += to.pos + SEAL_BYTES;
    return 0;
}

int decompressor_open(struct decompressor **out, struct err *e)
{
    struct decompressor *d = malloc(sizeof *d);
    ZSTD_DCtx *z = d ? ZSTD_createDCtx() : NULL;
    if (!z) {
        free(d);
        return err_sys(e, ENOMEM, "cannot set up decompression");
    }
    d->context = z;
    *out = d;
    return 0;
}

void decompressor_close(struct decompressor *d)
{
    if (!d)
        return;
    ZSTD_freeDCtx(d->context);
    free(d);
}

static bool seal_ok(const uint8_t *data, size_t len)
{
    uint8_t seal[SEAL_BYTES];
    if (len < SEAL_BYTES)
        return false;
    make_seal(data, len - SEAL_BYTES, seal);
    return memcmp(seal, data + len - SEAL_BYTES, SEAL_BYTES) == 0;
}

int decompress_frame(struct decompressor *d, const void *data, size_t len, size_t max_bytes,
        struct bytes *out, struct err *e)
{
    if (!seal_ok(data, len))
        return err_set(e, EBADMSG, "digest at its end does not match");
    len -= SEAL_BYTES;
    unsigned long long size = ZSTD_getFrameContentSize(data, len);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return err_set(e, EBADMSG, "is no zstd frame with a content size");
    if (size > max_bytes)
        return err_set(e, EBADMSG, "content of %llu bytes is above the limit of %zu", size, max_bytes);
    size_t frame = ZSTD_findFrameCompressedSize(data, len);
    if (ZSTD_isError(frame) || frame != len)
        return err_set(e, EBADMSG, "is not one whole zstd frame");
    out->len = 0;
    int r = bytes_reserve(out, (size_t)size, e);
    if (r < 0)
        return r;
    size_t got = ZSTD_decompressDCtx(d->context, out->data, (size_t)size, data, len);
    if (ZSTD_isError(got))
        return err_set(e, EBADMSG, "zstd: %s", ZSTD_getErrorName(got));
    if (got != size)
        return err_set(e, EBADMSG, "content has %zu bytes where %llu were announced", got, size);
    out->len = got;
    return 0;
}
