/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/content.h"

#include <endian.h>
#include <string.h>

#include "formats/base/random.h"
#include "replay/crc32c.h"

#define KIND_PLAIN    1
#define KIND_VERIFY   2
#define SECTOR_WORDS  (CONTENT_SECTOR_BYTES / 8)
#define HEADER_WORDS  (CONTENT_HEADER_BYTES / 8)
#define BLOCK_SECTORS (CONTENT_BLOCK_BYTES / CONTENT_SECTOR_BYTES)
#define BLOCK_WORDS   (CONTENT_BLOCK_BYTES / 8)
#define WORD_RECIPE   1
#define WORD_KEY      6
#define WORD_CHECK    7
#define CRC_AT        12
/* Words of a header that no compressor removes, about: key, hash, CRC32C and the ends of the numbers. */
#define HEADER_DENSE_WORDS 3
/* A sector without a header proves itself by its key and one word more. */
#define FRESH_MIN  2
#define EVERYWHERE UINT64_MAX

static const char magic[8] = {'\x89', 'i', 'o', 't', 'a', 'p', 'e', '\n'};

static uint64_t write_key(const struct content_write *w)
{
    return random_mix(
            random_mix(w->seed + RANDOM_GAMMA) + random_mix(w->record * RANDOM_GAMMA + w->repetition));
}

static uint64_t hash_words(const uint64_t *word, unsigned count)
{
    uint64_t h = RANDOM_GAMMA;
    for (unsigned i = 0; i < count; i++) {
        uint64_t v = le64toh(word[i]);
        h = random_mix(h + (i == WORD_RECIPE ? v & UINT32_MAX : v) + RANDOM_GAMMA);
    }
    return h;
}

static bool needs_header(const struct content_recipe *recipe, unsigned sector)
{
    return sector == 0 || recipe->verify;
}

static uint32_t recipe_code(const struct content_recipe *r)
{
    return (r->verify ? KIND_VERIFY : KIND_PLAIN) | (uint32_t)r->compressible << 8 |
           (uint32_t)r->dedupe << 16;
}

/* The word of a sector (0 to 7 of its block) from which on the one before it is repeated; SECTOR_WORDS: none.
 * The words of a block are shared out so that they sum to what the recipe wants. */
static unsigned fresh_words(const struct content_recipe *recipe, unsigned sector)
{
    unsigned block = (BLOCK_WORDS * (100u - recipe->compressible) + 50) / 100;
    unsigned n = block * (sector + 1) / BLOCK_SECTORS - block * sector / BLOCK_SECTORS;
    if (!needs_header(recipe, sector))
        return n > FRESH_MIN ? n : FRESH_MIN;
    n = HEADER_WORDS + (n > HEADER_DENSE_WORDS ? n - HEADER_DENSE_WORDS : 0);
    return n < SECTOR_WORDS ? n : SECTOR_WORDS;
}

/* ---- making ---- */

/* What is the same in all sectors of one block. */
struct block_identity {
    uint64_t base;               /* keys follow from it and from `first` + the sector */
    uint64_t first;              /* number of the block's first sector; 0 in a duplicate */
    uint64_t place_bytes;        /* of the block; EVERYWHERE in a duplicate */
    uint64_t record, repetition; /* as the header says */
};

static void make_header(uint64_t *word, const struct block_identity *b, unsigned sector, uint64_t key,
        const struct content_write *w)
{
    uint64_t place =
            b->place_bytes == EVERYWHERE ? EVERYWHERE : b->place_bytes + sector * CONTENT_SECTOR_BYTES;
    memcpy(&word[0], magic, sizeof magic);
    word[WORD_RECIPE] = htole64(recipe_code(&w->recipe));
    word[2] = htole64(w->seed);
    word[3] = htole64(place);
    word[4] = htole64(b->record);
    word[5] = htole64(b->repetition);
    word[WORD_KEY] = htole64(key);
    word[WORD_CHECK] = htole64(hash_words(word, WORD_CHECK));
}

/* Whether a block is a duplicate, and of which: as seed, place and write will have it. */
static void identify(struct block_identity *b, uint64_t block, uint64_t base, const struct content_write *w)
{
    uint64_t drawn = w->recipe.dedupe ? random_mix(base + random_mix(block * RANDOM_GAMMA)) : 0;
    *b = (struct block_identity){.base = base,
            .first = block * BLOCK_SECTORS,
            .place_bytes = block * CONTENT_BLOCK_BYTES,
            .record = w->record,
            .repetition = w->repetition};
    if ((drawn >> 32) * 100 >> 32 >= w->recipe.dedupe)
        return;
    b->first = 0;
    b->place_bytes = EVERYWHERE;
    b->record = drawn % CONTENT_DUPLICATES;
    b->repetition = 0;
    b->base = random_mix(random_mix(w->seed + RANDOM_GAMMA) ^ random_mix(~b->record));
}

static void seal(uint64_t *word)
{
    uint32_t crc = htole32(crc32c(0, word, CONTENT_SECTOR_BYTES));
    memcpy((char *)word + CRC_AT, &crc, sizeof crc);
}

static inline void make_sector(uint64_t *word, const struct block_identity *b, unsigned sector,
        unsigned fresh, const struct content_write *w)
{
    uint64_t key = random_mix(b->base ^ ((b->first + sector) * RANDOM_GAMMA));
    unsigned j = 1;
    if (needs_header(&w->recipe, sector)) {
        make_header(word, b, sector, key, w);
        j = HEADER_WORDS;
    } else {
        word[0] = htole64(key);
    }
    for (; j < fresh; j++)
        word[j] = htole64(random_mix(key + j * RANDOM_GAMMA));
    for (; j < SECTOR_WORDS; j++)
        word[j] = word[fresh - 1];
    if (w->recipe.verify)
        seal(word);
}

void content_make(void *data, uint64_t offset_bytes, uint64_t len_bytes, const struct content_write *w)
{
    uint64_t base = write_key(w);
    uint64_t *word = data;
    uint64_t at = offset_bytes / CONTENT_SECTOR_BYTES;
    uint64_t end = at + len_bytes / CONTENT_SECTOR_BYTES;
    unsigned fresh[BLOCK_SECTORS];
    for (unsigned i = 0; i < BLOCK_SECTORS; i++)
        fresh[i] = fresh_words(&w->recipe, i);
    while (at < end) {
        struct block_identity b;
        identify(&b, at / BLOCK_SECTORS, base, w);
        unsigned sector = at % BLOCK_SECTORS;
        for (; sector < BLOCK_SECTORS && at < end; sector++, at++, word += SECTOR_WORDS)
            make_sector(word, &b, sector, fresh[sector], w);
    }
}

/* ---- recognising ---- */

static bool sector_zero(const uint64_t *word)
{
    uint64_t any = 0;
    for (unsigned j = 0; j < SECTOR_WORDS; j++)
        any |= word[j];
    return any == 0;
}

/* Whether the words from `from` on follow from the key; *fresh is where repeating begins. */
static bool sector_follows(const uint64_t *word, uint64_t key, unsigned from, unsigned *fresh)
{
    uint64_t differ = 0;
    for (unsigned j = from; j < SECTOR_WORDS; j++)
        differ |= le64toh(word[j]) ^ random_mix(key + j * RANDOM_GAMMA);
    *fresh = SECTOR_WORDS;
    if (differ == 0)
        return true;
    unsigned j = from;
    while (le64toh(word[j]) == random_mix(key + j * RANDOM_GAMMA))
        j++;
    *fresh = j;
    for (differ = 0; j < SECTOR_WORDS; j++)
        differ |= word[j] ^ word[j - 1];
    return differ == 0 && *fresh >= FRESH_MIN;
}

static bool has_header(const uint64_t *word)
{
    return memcmp(word, magic, sizeof magic) == 0 &&
           le64toh(word[WORD_CHECK]) == hash_words(word, WORD_CHECK);
}

static uint32_t sector_crc(const uint64_t *word)
{
    static const uint8_t none[sizeof(uint32_t)];
    const char *at = (const char *)word;
    uint32_t crc = crc32c(0, at, CRC_AT);
    crc = crc32c(crc, none, sizeof none);
    return crc32c(crc, at + CRC_AT + sizeof none, CONTENT_SECTOR_BYTES - CRC_AT - sizeof none);
}

static enum content_kind classify_with_header(
        const uint64_t *word, uint64_t offset_bytes, const struct content_recipe *wanted)
{
    uint32_t code = (uint32_t)le64toh(word[WORD_RECIPE]);
    uint32_t crc = (uint32_t)(le64toh(word[WORD_RECIPE]) >> 32);
    uint64_t place = le64toh(word[3]);
    bool verify = (code & 0xff) == KIND_VERIFY;
    unsigned sector = (unsigned)(offset_bytes / CONTENT_SECTOR_BYTES % BLOCK_SECTORS);
    unsigned fresh;
    if (!sector_follows(word, le64toh(word[WORD_KEY]), HEADER_WORDS, &fresh) ||
            crc != (verify ? sector_crc(word) : 0))
        return CONTENT_FOREIGN;
    bool everywhere = place == EVERYWHERE && code >> 16 && sector == 0;
    if ((sector && !verify) || (place != offset_bytes && !everywhere))
        return CONTENT_PARTLY;
    return code == recipe_code(wanted) && fresh == fresh_words(wanted, sector) ? CONTENT_OURS : CONTENT_OTHER;
}

static enum content_kind classify_sector(
        const uint64_t *word, uint64_t offset_bytes, const struct content_recipe *wanted)
{
    unsigned sector = (unsigned)(offset_bytes / CONTENT_SECTOR_BYTES % BLOCK_SECTORS);
    unsigned fresh;
    if (sector_zero(word))
        return CONTENT_ZERO;
    if (has_header(word))
        return classify_with_header(word, offset_bytes, wanted);
    if (!sector_follows(word, le64toh(word[0]), 1, &fresh))
        return CONTENT_FOREIGN;
    if (sector == 0)
        return CONTENT_PARTLY;
    return !wanted->verify && fresh == fresh_words(wanted, sector) ? CONTENT_OURS : CONTENT_OTHER;
}

enum content_kind content_classify(const void *block, uint64_t offset_bytes, size_t len_bytes,
        const struct content_recipe *wanted, uint32_t *foreign)
{
    bool seen[CONTENT_FOREIGN] = {false};
    const uint64_t *word = block;
    for (size_t at = 0; at < len_bytes; at += CONTENT_SECTOR_BYTES, word += SECTOR_WORDS) {
        enum content_kind kind = classify_sector(word, offset_bytes + at, wanted);
        if (kind == CONTENT_FOREIGN) {
            if (foreign)
                *foreign = (uint32_t)at;
            return CONTENT_FOREIGN;
        }
        seen[kind] = true;
    }
    bool whole = seen[CONTENT_OURS] || seen[CONTENT_OTHER];
    if (!whole && !seen[CONTENT_PARTLY])
        return CONTENT_ZERO;
    if (seen[CONTENT_ZERO] || seen[CONTENT_PARTLY])
        return CONTENT_PARTLY;
    return seen[CONTENT_OTHER] ? CONTENT_OTHER : CONTENT_OURS;
}

enum content_state content_inspect(const void *sector, struct content_origin *origin)
{
    const uint64_t *word = sector;
    if (memcmp(word, magic, sizeof magic) != 0)
        return sector_zero(word) ? CONTENT_BLANK : CONTENT_UNKNOWN;
    uint64_t recipe = le64toh(word[WORD_RECIPE]);
    if (!has_header(word) || (recipe & 0xff) != KIND_VERIFY)
        return CONTENT_UNKNOWN;
    *origin = (struct content_origin){.seed = le64toh(word[2]),
            .place_bytes = le64toh(word[3]),
            .record = le64toh(word[4]),
            .repetition = (uint32_t)le64toh(word[5]),
            .crc = sector_crc(word),
            .crc_wanted = (uint32_t)(recipe >> 32)};
    return origin->crc == origin->crc_wanted ? CONTENT_INTACT : CONTENT_DAMAGED;
}
