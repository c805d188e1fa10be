/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Fuzz target: members of any content in a sound container, so that what lies behind seals and digests is
 * reached.
 *
 * The input: a byte (bit 0: finished; bit 1: the index tells the truth of chunks), then members: a byte for
 * the kind, two for the length, the content. What is chunks is compressed, what is plain is sealed: its
 * content is the pairs of a map without its head, of which the first byte tells how many they are. The last
 * kind is the totals.
 */
#include "formats/chunk.h"
#include "formats/compress.h"
#include "formats/container.h"
#include "formats/container_end.h"
#include "formats/digest.h"
#include "formats/pack.h"
#include "tests/fuzz/fuzz_container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct {
    const char *name;
    bool packed;
} kinds[] = {{CONTAINER_FIRST, false}, {"dict/000000.msgpack", false}, {"block/00000000.msgpack.zst", true},
        {"late/000000.msgpack.zst", true}, {"result/00000000.msgpack.zst", true},
        {"repetition/000000.msgpack", false}, {"totals", true}};
#define KINDS (sizeof kinds / sizeof *kinds)
enum { BLOCK = 2, LATE = 3, RESULT = 4, TOTALS = KINDS - 1 };

struct forge {
    struct archive_out *archive;
    struct compressor *compressor;
    struct bytes body, totals, index;
    struct packer members;
    size_t count;
    bool extents;
};

static void make_body(struct forge *f, unsigned kind, const uint8_t *data, size_t len)
{
    struct bytes content = {0};
    f->body.len = 0;
    if (kinds[kind].packed) {
        bytes_append(&content, data, len, NULL);
        compress_frame(f->compressor, &content, NULL, 0, &f->body, NULL);
    } else if (len) {
        struct packer p = {.out = &f->body};
        pack_map(&p, data[0] + 1U);
        bytes_append(&f->body, data + 1, len - 1, NULL);
        pack_seal(&p);
    }
    bytes_release(&content);
}

/* What a true index would say of a chunk that can be decoded. */
static struct member_extent extent_of(unsigned kind, const uint8_t *data, size_t len)
{
    static struct chunk_decoder *decoder;
    static struct block_chunk block;
    static struct late_chunk late;
    static struct run_chunk result;
    struct member_extent x = {0};
    void *arrays[COLUMNS_MAX];
    uint32_t count;
    if (!decoder && (chunk_decoder_open(&decoder, NULL) < 0 ||
                            chunk_block_alloc(&block, COLUMNS_COUNT_MAX, NULL) < 0 ||
                            chunk_late_alloc(&late, COLUMNS_COUNT_MAX, NULL) < 0 ||
                            chunk_result_alloc(&result, COLUMNS_COUNT_MAX, NULL) < 0))
        abort();
    const struct chunk_spec *spec = kind == BLOCK  ? &chunk_spec_block
                                    : kind == LATE ? &chunk_spec_late
                                                   : &chunk_spec_result;
    const uint64_t *times = kind == BLOCK ? block.t_ns : kind == LATE ? late.t_ns : result.issued_ns;
    chunk_block_arrays(&block, arrays);
    if (kind == LATE)
        chunk_late_arrays(&late, arrays);
    else if (kind == RESULT)
        chunk_result_arrays(&result, arrays);
    if (chunk_decode_content(decoder, spec, data, len, &x.first, &count, NULL) < 0 ||
            chunk_decode_columns(decoder, spec, arrays, NULL) < 0)
        return (struct member_extent){0};
    x.count = count;
    x.begin_ns = times[0];
    x.end_ns = times[count - 1];
    return x;
}

static void add(struct forge *f, unsigned kind, const uint8_t *data, size_t len)
{
    struct packer *p = &f->members;
    uint64_t begin = archive_out_bytes(f->archive);
    struct member_extent x = {0};
    make_body(f, kind, data, len);
    archive_out_add(f->archive, kinds[kind].name, f->body.data, f->body.len, NULL);
    if (f->extents && kinds[kind].packed)
        x = extent_of(kind, data, len);
    pack_array(p, 8);
    pack_str(p, kinds[kind].name);
    pack_uint(p, begin);
    pack_uint(p, f->body.len);
    pack_uint(p, digest64(f->body.data, f->body.len));
    pack_uint(p, x.first);
    pack_uint(p, x.count);
    pack_uint(p, x.begin_ns);
    pack_uint(p, x.end_ns);
    f->count++;
}

static void finish(struct forge *f)
{
    struct container_end end = {.index_offset_bytes = archive_out_bytes(f->archive)};
    struct packer p = {.out = &f->body};
    f->body.len = 0;
    pack_map(&p, 3);
    pack_str(&p, "members");
    pack_array(&p, f->count);
    pack_raw(&p, &f->index);
    pack_str(&p, "totals");
    if (f->totals.len)
        pack_raw(&p, &f->totals);
    else
        pack_map(&p, 0);
    pack_seal(&p);
    end.index_size_bytes = f->body.len;
    end.index_digest = digest64(f->body.data, f->body.len);
    archive_out_add(f->archive, CONTAINER_INDEX, f->body.data, f->body.len, NULL);
    f->body.len = 0;
    container_end_pack(&end, &f->body, NULL);
    archive_out_add(f->archive, CONTAINER_END, f->body.data, f->body.len, NULL);
    archive_out_finish(f->archive, NULL);
}

static void build(struct forge *f, const uint8_t *data, size_t len)
{
    bool finished = data[0] & 1;
    f->extents = data[0] & 2;
    f->members.out = &f->index;
    for (size_t at = 1; len - at >= 3;) {
        unsigned kind = data[at] % KINDS;
        size_t n = data[at + 1] | (size_t)data[at + 2] << 8;
        at += 3;
        n = n < len - at ? n : len - at;
        if (kind == TOTALS) {
            f->totals.len = 0;
            bytes_append(&f->totals, data + at, n, NULL);
        } else {
            add(f, kind, data + at, n);
        }
        at += n;
    }
    if (finished)
        finish(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[64];
    struct forge f = {0};
    int fd = len ? fuzz_file(path, sizeof path) : -1;
    if (fd < 0 || archive_out_open(&f.archive, fd, NULL) < 0 || compressor_open(&f.compressor, 1, NULL) < 0)
        return 0;
    build(&f, data, len);
    fuzz_read(path);
    archive_out_close(f.archive);
    compressor_close(f.compressor);
    bytes_release(&f.body);
    bytes_release(&f.totals);
    bytes_release(&f.index);
    close(fd);
    return 0;
}
