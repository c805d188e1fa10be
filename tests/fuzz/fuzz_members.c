/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Fuzz target: members of any content in a sound container, so that what lies behind seals and digests is
 * reached.
 *
 * The input: a byte (bit 0: finished; bit 1: the index tells the truth of chunks), then members: a byte for
 * the kind, two for the length, the content. What is chunks is compressed, what is plain is sealed: its
 * content is the pairs of a map without its head, of which the first byte tells how many they are. One
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
        {"repetition/000000.msgpack", false}, {"totals", true}, {"conversation/00000000.msgpack.zst", true},
        {"net/00000000.msgpack.zst", true}};
#define KINDS (sizeof kinds / sizeof *kinds)
enum { BLOCK = 2, LATE = 3, RESULT = 4, TOTALS = 6, CONVERSATION = 7, NET = 8 };

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

struct decoded {
    struct chunk_decoder *decoder;
    struct block_chunk block;
    struct late_chunk late;
    struct run_chunk result;
    struct conversation_chunk conversation;
    struct net_chunk net;
};

static void decoded_open(struct decoded *d)
{
    if (chunk_decoder_open(&d->decoder, NULL) < 0 ||
            chunk_block_alloc(&d->block, COLUMNS_COUNT_MAX, NULL) < 0 ||
            chunk_late_alloc(&d->late, COLUMNS_COUNT_MAX, NULL) < 0 ||
            chunk_result_alloc(&d->result, COLUMNS_COUNT_MAX, NULL) < 0 ||
            chunk_conversation_alloc(&d->conversation, COLUMNS_COUNT_MAX, NULL) < 0 ||
            chunk_net_alloc(&d->net, COLUMNS_COUNT_MAX, NULL) < 0)
        abort();
}

/* The arrays of a kind, and in *times those that the index tells of (NULL: none). */
static const struct chunk_spec *kind_of(
        const struct decoded *d, unsigned kind, void *arrays[COLUMNS_MAX], const uint64_t **times)
{
    switch (kind) {
    case LATE:
        chunk_late_arrays(&d->late, arrays);
        *times = d->late.t_ns;
        return &chunk_spec_late;
    case RESULT:
        chunk_result_arrays(&d->result, arrays);
        *times = d->result.issued_ns;
        return &chunk_spec_result;
    case CONVERSATION:
        chunk_conversation_arrays(&d->conversation, arrays);
        *times = NULL;
        return &chunk_spec_conversation;
    case NET:
        chunk_net_arrays(&d->net, arrays);
        *times = d->net.t_ns;
        return &chunk_spec_net;
    default:
        chunk_block_arrays(&d->block, arrays);
        *times = d->block.t_ns;
        return &chunk_spec_block;
    }
}

/* What a true index would say of a chunk that can be decoded. */
static struct member_extent extent_of(unsigned kind, const uint8_t *data, size_t len)
{
    static struct decoded d;
    struct member_extent x = {0};
    const uint64_t *times;
    void *arrays[COLUMNS_MAX];
    uint32_t count;
    if (!d.decoder)
        decoded_open(&d);
    const struct chunk_spec *spec = kind_of(&d, kind, arrays, &times);
    if (chunk_decode_content(d.decoder, spec, data, len, &x.first, &count, NULL) < 0 ||
            chunk_decode_columns(d.decoder, spec, arrays, NULL) < 0)
        return (struct member_extent){0};
    x.count = count;
    if (times) {
        x.begin_ns = times[0];
        x.end_ns = times[count - 1];
    }
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
