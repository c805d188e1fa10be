/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/content.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "formats/base/random.h"

#define RECIPE       1
#define SECTOR_WORDS (CONTENT_SECTOR_BYTES / 8)
#define HEADER_WORDS (CONTENT_HEADER_BYTES / 8)
#define WORD_KEY     6
#define WORD_CHECK   7

static const char magic[8] = {'\x89', 'i', 'o', 't', 'a', 'p', 'e', '\n'};

static uint64_t write_key(const struct content_write *w)
{
    return random_mix(
            random_mix(w->seed + RANDOM_GAMMA) + random_mix(w->record * RANDOM_GAMMA + w->repetition));
}

static uint64_t hash_words(const uint64_t *word, unsigned count)
{
    uint64_t h = RANDOM_GAMMA;
    for (unsigned i = 0; i < count; i++)
        h = random_mix(h + le64toh(word[i]) + RANDOM_GAMMA);
    return h;
}

static void make_header(uint64_t *word, uint64_t place, uint64_t key, const struct content_write *w)
{
    memcpy(&word[0], magic, sizeof magic);
    word[1] = htole64(RECIPE);
    word[2] = htole64(w->seed);
    word[3] = htole64(place);
    word[4] = htole64(w->record);
    word[5] = htole64(w->repetition);
    word[WORD_KEY] = htole64(key);
    word[WORD_CHECK] = htole64(hash_words(word, WORD_CHECK));
}

void content_make(void *data, uint64_t offset_bytes, uint64_t len_bytes, const struct content_write *w)
{
    uint64_t base = write_key(w);
    uint64_t *word = data;
    for (uint64_t at = offset_bytes; at < offset_bytes + len_bytes; at += CONTENT_SECTOR_BYTES) {
        uint64_t key = random_mix(base ^ (at / CONTENT_SECTOR_BYTES * RANDOM_GAMMA));
        unsigned j = 1;
        if (at % CONTENT_BLOCK_BYTES == 0) {
            make_header(word, at, key, w);
            j = HEADER_WORDS;
        } else {
            word[0] = htole64(key);
        }
        for (; j < SECTOR_WORDS; j++)
            word[j] = htole64(random_mix(key + j * RANDOM_GAMMA));
        word += SECTOR_WORDS;
    }
}

static bool sector_zero(const uint64_t *word)
{
    uint64_t any = 0;
    for (unsigned j = 0; j < SECTOR_WORDS; j++)
        any |= word[j];
    return any == 0;
}

static bool sector_follows(const uint64_t *word, uint64_t key, unsigned from)
{
    uint64_t differ = 0;
    for (unsigned j = from; j < SECTOR_WORDS; j++)
        differ |= le64toh(word[j]) ^ random_mix(key + j * RANDOM_GAMMA);
    return differ == 0;
}

static bool has_header(const uint64_t *word)
{
    return memcmp(word, magic, sizeof magic) == 0 &&
           le64toh(word[WORD_CHECK]) == hash_words(word, WORD_CHECK);
}

static enum content_kind classify_sector(const uint64_t *word, uint64_t offset_bytes)
{
    bool first = offset_bytes % CONTENT_BLOCK_BYTES == 0;
    if (sector_zero(word))
        return CONTENT_ZERO;
    if (has_header(word) && sector_follows(word, le64toh(word[WORD_KEY]), HEADER_WORDS))
        return first && le64toh(word[3]) == offset_bytes ? CONTENT_OURS : CONTENT_PARTLY;
    if (sector_follows(word, le64toh(word[0]), 1))
        return first ? CONTENT_PARTLY : CONTENT_OURS;
    return CONTENT_FOREIGN;
}

enum content_kind content_classify(
        const void *block, uint64_t offset_bytes, size_t len_bytes, uint32_t *foreign)
{
    bool zero = false;
    bool ours = false;
    bool partly = false;
    const uint64_t *word = block;
    for (size_t at = 0; at < len_bytes; at += CONTENT_SECTOR_BYTES, word += SECTOR_WORDS) {
        enum content_kind kind = classify_sector(word, offset_bytes + at);
        if (kind == CONTENT_FOREIGN) {
            if (foreign)
                *foreign = (uint32_t)at;
            return CONTENT_FOREIGN;
        }
        zero |= kind == CONTENT_ZERO;
        ours |= kind == CONTENT_OURS;
        partly |= kind == CONTENT_PARTLY;
    }
    if (!ours && !partly)
        return CONTENT_ZERO;
    return zero || partly ? CONTENT_PARTLY : CONTENT_OURS;
}
