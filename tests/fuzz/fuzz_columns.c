/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Fuzz target: the content of chunks of all three kinds, without zstd and digests around it. What is decoded
 * must survive being encoded and decoded again.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/chunk.h"
#include "formats/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct any {
    const struct chunk_spec *spec;
    void *arrays[COLUMNS_MAX], *again[COLUMNS_MAX];
};

static void require(int r)
{
    if (r < 0)
        abort();
}

static void again(struct chunk_decoder *d, const struct any *a, uint64_t number, uint32_t count)
{
    static struct chunk_encoder *encoder;
    const struct bytes *body;
    uint64_t number_again;
    uint32_t count_again;
    if (!encoder)
        require(chunk_encoder_open(&encoder, 1, NULL));
    require(chunk_encode(encoder, a->spec, a->arrays, number, count, &body, NULL));
    require(chunk_decode(d, a->spec, body->data, body->len, &number_again, &count_again, NULL));
    require(chunk_decode_columns(d, a->spec, a->again, NULL));
    if (number != number_again || count != count_again)
        abort();
    for (size_t i = 0; i < a->spec->column_count; i++)
        if (memcmp(a->arrays[i], a->again[i], (size_t)count * a->spec->columns[i].elem_bytes) != 0)
            abort();
}

/* Kept over all inputs: allocating anew for each would take most of the time. */
static struct any *kinds(void)
{
    static struct any list[3];
    static struct block_chunk block[2];
    static struct late_chunk late[2];
    static struct run_chunk result[2];
    if (list[0].spec)
        return list;
    for (int i = 0; i < 2; i++) {
        require(chunk_block_alloc(&block[i], COLUMNS_COUNT_MAX, NULL));
        require(chunk_late_alloc(&late[i], COLUMNS_COUNT_MAX, NULL));
        require(chunk_result_alloc(&result[i], COLUMNS_COUNT_MAX, NULL));
        chunk_block_arrays(&block[i], i ? list[0].again : list[0].arrays);
        chunk_late_arrays(&late[i], i ? list[1].again : list[1].arrays);
        chunk_result_arrays(&result[i], i ? list[2].again : list[2].arrays);
    }
    list[0].spec = &chunk_spec_block;
    list[1].spec = &chunk_spec_late;
    list[2].spec = &chunk_spec_result;
    return list;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct chunk_decoder *decoder;
    struct any *list = kinds();
    uint64_t number;
    uint32_t count;
    if (!decoder)
        require(chunk_decoder_open(&decoder, NULL));
    for (int i = 0; i < 3; i++)
        if (chunk_decode_content(decoder, list[i].spec, data, len, &number, &count, NULL) == 0 &&
                chunk_decode_columns(decoder, list[i].spec, list[i].arrays, NULL) == 0)
            again(decoder, &list[i], number, count);
    return 0;
}
