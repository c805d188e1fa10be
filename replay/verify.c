/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/random.h"

#define BLOCK_SECTORS (CONTENT_BLOCK_BYTES / CONTENT_SECTOR_BYTES)
#define TEXT_BYTES    320
/* A write as a number: later writes are larger. */
#define RECORD_BITS 41

/* What a sector may hold: writes from `oldest` to `newest` (none where oldest > newest), or zeros. */
struct expect {
    uint64_t oldest, newest;
    bool zeros;
};

/* Different things in the sectors of one block. */
struct parts {
    uint64_t oldest[BLOCK_SECTORS], newest[BLOCK_SECTORS];
    uint8_t zeros; /* a bit for each sector */
    uint32_t next; /* of those that are free */
};

_Static_assert(sizeof(struct parts) <= VERIFY_PARTS_BYTES, "as the help says");

/* A slot of the table, an open hash table with linear probing. */
struct slot {
    uint64_t key;            /* block number + 1, and flags; 0: empty */
    uint64_t oldest, newest; /* with KEY_PARTS `oldest` is the index of its parts */
};
#define KEY_PARTS (UINT64_C(1) << 63)
#define KEY_ZEROS (UINT64_C(1) << 62)
#define KEY_BLOCK (KEY_ZEROS - 1)

_Static_assert(sizeof(struct slot) * 3 / 2 <= VERIFY_BYTES, "as the help says");

struct finding {
    uint64_t offset_bytes;
    char text[TEXT_BYTES];
};

struct verify {
    char *name;
    uint64_t seed;
    struct slot *slot;
    uint64_t slots;
    struct parts *parts;
    uint32_t parts_count, parts_room, parts_free; /* parts_free: the first free one + 1 */
    struct verify_counts counts;
    struct finding finding[VERIFY_SHOWN];
    unsigned findings, shown;
};

static uint64_t number_of(uint64_t record, uint32_t repetition)
{
    return (uint64_t)repetition << RECORD_BITS | record;
}

/* ---- the table ---- */

static uint64_t home(const struct verify *v, uint64_t block)
{
    return (uint64_t)((unsigned __int128)random_mix(block + RANDOM_GAMMA) * v->slots >> 64);
}

/* The slot of a block, or the empty one where it would have to be. */
static struct slot *find(const struct verify *v, uint64_t block)
{
    uint64_t i = home(v, block);
    while (v->slot[i].key && (v->slot[i].key & KEY_BLOCK) != block + 1)
        i = i + 1 < v->slots ? i + 1 : 0;
    return &v->slot[i];
}

static int add_blocks(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)e;
    struct verify *v = context;
    uint64_t end = (offset_bytes + len_bytes) / CONTENT_BLOCK_BYTES;
    for (uint64_t block = offset_bytes / CONTENT_BLOCK_BYTES; block < end; block++)
        *find(v, block) = (struct slot){(block + 1) | KEY_ZEROS, 0, UINT64_MAX};
    return 0;
}

int verify_open(
        struct verify **out, const char *name, const struct ranges *touched, uint64_t seed, struct err *e)
{
    uint64_t blocks = ranges_bytes(touched) / CONTENT_BLOCK_BYTES;
    struct verify *v = calloc(1, sizeof *v);
    if (v) {
        v->seed = seed;
        v->name = strdup(name);
        v->slots = blocks + blocks / 2 + 1;
        v->slot = calloc(v->slots, sizeof *v->slot);
    }
    if (!v || !v->name || !v->slot) {
        verify_close(v);
        return err_sys(
                e, ENOMEM, "cannot keep what %llu blocks of '%s' hold", (unsigned long long)blocks, name);
    }
    *out = v;
    return ranges_each(touched, RANGES_END_BYTES / 2, add_blocks, v, e);
}

void verify_close(struct verify *v)
{
    if (!v)
        return;
    free(v->name);
    free(v->slot);
    free(v->parts);
    free(v);
}

/* ---- blocks whose sectors differ ---- */

static struct expect expected(const struct verify *v, const struct slot *s, unsigned sector)
{
    if (!(s->key & KEY_PARTS))
        return (struct expect){s->oldest, s->newest, s->key & KEY_ZEROS};
    const struct parts *p = &v->parts[s->oldest];
    return (struct expect){p->oldest[sector], p->newest[sector], p->zeros >> sector & 1};
}

static void set_whole(struct verify *v, struct slot *s, struct expect x)
{
    if (s->key & KEY_PARTS) {
        v->parts[s->oldest].next = v->parts_free;
        v->parts_free = (uint32_t)s->oldest + 1;
    }
    s->key = (s->key & KEY_BLOCK) | (x.zeros ? KEY_ZEROS : 0);
    s->oldest = x.oldest;
    s->newest = x.newest;
}

static void set_part(struct parts *p, unsigned sector, struct expect x)
{
    p->oldest[sector] = x.oldest;
    p->newest[sector] = x.newest;
    p->zeros = (uint8_t)((p->zeros & ~(1u << sector)) | (unsigned)x.zeros << sector);
}

/* Room for the parts of one block more: its index, or -ENOMEM. */
static int64_t take_parts(struct verify *v, struct err *e)
{
    if (v->parts_free) {
        uint32_t index = v->parts_free - 1;
        v->parts_free = v->parts[index].next;
        return index;
    }
    if (v->parts_count == v->parts_room) {
        uint32_t room = v->parts_room ? v->parts_room + v->parts_room / 2 : 256;
        struct parts *p = room > v->parts_room ? reallocarray(v->parts, room, sizeof *p) : NULL;
        if (!p)
            return err_sys(e, ENOMEM, "cannot keep what parts of blocks of '%s' hold", v->name);
        v->parts = p;
        v->parts_room = room;
    }
    return v->parts_count++;
}

/* Gives a block parts of its own. */
static int split(struct verify *v, struct slot *s, struct err *e)
{
    if (s->key & KEY_PARTS)
        return 0;
    int64_t index = take_parts(v, e);
    if (index < 0)
        return (int)index;
    struct expect x = expected(v, s, 0);
    for (unsigned i = 0; i < BLOCK_SECTORS; i++)
        set_part(&v->parts[index], i, x);
    s->key |= KEY_PARTS;
    s->oldest = (uint64_t)index;
    return 0;
}

/* ---- changes ---- */

static struct expect after(struct expect x, enum block_op op, uint64_t number, bool sure)
{
    if (op == BLOCK_WRITE && sure)
        return (struct expect){number, number, false};
    if (op == BLOCK_WRITE)
        return (struct expect){
                number < x.oldest ? number : x.oldest, number > x.newest ? number : x.newest, x.zeros};
    if (op == BLOCK_WRITE_ZEROES && sure)
        return (struct expect){UINT64_MAX, 0, true};
    x.zeros = true;
    return x;
}

static int change_block(struct verify *v, struct slot *s, unsigned first, unsigned end, enum block_op op,
        uint64_t number, bool sure, struct err *e)
{
    bool whole = first == 0 && end == BLOCK_SECTORS;
    if (whole && (!(s->key & KEY_PARTS) || (sure && op != BLOCK_DISCARD))) {
        set_whole(v, s, after(expected(v, s, 0), op, number, sure));
        return 0;
    }
    int r = split(v, s, e);
    if (r < 0)
        return r;
    for (unsigned i = first; i < end; i++)
        set_part(&v->parts[s->oldest], i, after(expected(v, s, i), op, number, sure));
    return 0;
}

int verify_changed(struct verify *v, enum block_op op, uint64_t offset_bytes, uint64_t len_bytes,
        const struct content_write *w, bool sure, struct err *e)
{
    if (op == BLOCK_READ || op == BLOCK_FLUSH)
        return 0;
    uint64_t number = number_of(w->record, w->repetition);
    uint64_t sector = offset_bytes / CONTENT_SECTOR_BYTES;
    uint64_t end = (offset_bytes + len_bytes) / CONTENT_SECTOR_BYTES;
    while (sector < end) {
        uint64_t block = sector / BLOCK_SECTORS;
        uint64_t stop = (block + 1) * BLOCK_SECTORS < end ? (block + 1) * BLOCK_SECTORS : end;
        struct slot *s = find(v, block);
        int r = s->key ? change_block(v, s, (unsigned)(sector - block * BLOCK_SECTORS),
                                 (unsigned)(stop - block * BLOCK_SECTORS), op, number, sure, e)
                       : 0;
        if (r < 0)
            return r;
        sector = stop;
    }
    return 0;
}

/* ---- what is wrong, in words ---- */

static int say_write(char *text, size_t bytes, uint64_t record, uint64_t repetition)
{
    if (record == 0)
        return snprintf(text, bytes, "the fill before repetition %llu", (unsigned long long)repetition);
    return snprintf(text, bytes, "record %llu of repetition %llu", (unsigned long long)record,
            (unsigned long long)repetition);
}

static int say_number(char *text, size_t bytes, uint64_t number)
{
    return say_write(text, bytes, number & ((UINT64_C(1) << RECORD_BITS) - 1), number >> RECORD_BITS);
}

static void say_expected(char *text, size_t bytes, struct expect x)
{
    size_t used = 0;
    if (x.oldest == 0 && x.newest == UINT64_MAX)
        used = (size_t)snprintf(text, bytes, "data of iotape");
    else if (x.oldest <= x.newest)
        used = (size_t)say_number(text, bytes, x.newest);
    if (x.oldest < x.newest && x.oldest > 0 && used < bytes) {
        used += (size_t)snprintf(text + used, bytes - used, " or older, from ");
        used += (size_t)say_number(text + used, bytes - used, x.oldest);
    }
    if (x.zeros && used < bytes)
        snprintf(text + used, bytes - used, "%szeros", used ? " or " : "");
}

static void say_found(
        const struct verify *v, const void *sector, uint64_t at_bytes, bool torn, char *text, size_t bytes)
{
    struct content_origin o;
    char write[96];
    enum content_state state = content_inspect(sector, &o);
    const uint8_t *byte = sector;
    if (state == CONTENT_BLANK)
        snprintf(text, bytes, "zeros (%s)", torn ? "torn" : "lost");
    else if (state == CONTENT_UNKNOWN)
        snprintf(text, bytes, "data that were not written to be verified, %02x %02x %02x %02x ...", byte[0],
                byte[1], byte[2], byte[3]);
    if (state == CONTENT_BLANK || state == CONTENT_UNKNOWN)
        return;
    say_write(write, sizeof write, o.record, o.repetition);
    if (state == CONTENT_DAMAGED)
        snprintf(text, bytes, "the header of %s, CRC32C %08x where it says %08x (torn)", write, o.crc,
                o.crc_wanted);
    else if (o.seed != v->seed)
        snprintf(text, bytes, "%s, of seed %llu (lost or stale)", write, (unsigned long long)o.seed);
    else if (o.place_bytes != at_bytes)
        snprintf(text, bytes, "%s, which belongs at byte %llu (misplaced)", write,
                (unsigned long long)o.place_bytes);
    else
        snprintf(text, bytes, "%s (%s)", write, torn ? "torn" : "lost or stale");
}

static void keep_finding(struct verify *v, const void *sector, uint64_t at_bytes, struct expect x, bool torn)
{
    char wanted[128] = "nothing", found[160] = "";
    for (unsigned i = 0; i < v->findings; i++)
        if (v->finding[i].offset_bytes == at_bytes) /* seen by a read, and again at the end */
            return;
    if (v->findings == VERIFY_SHOWN)
        return;
    say_expected(wanted, sizeof wanted, x);
    say_found(v, sector, at_bytes, torn, found, sizeof found);
    struct finding *f = &v->finding[v->findings++];
    f->offset_bytes = at_bytes;
    snprintf(f->text, sizeof f->text, "expected %s, found %s", wanted, found);
}

/* ---- looking ---- */

static bool right(const struct verify *v, const void *sector, uint64_t at_bytes, struct expect x)
{
    struct content_origin o;
    switch (content_inspect(sector, &o)) {
    case CONTENT_BLANK:
        return x.zeros;
    case CONTENT_INTACT:
        break;
    default:
        return false;
    }
    uint64_t number = number_of(o.record, o.repetition);
    return o.place_bytes == at_bytes && o.seed == v->seed && o.record >> RECORD_BITS == 0 &&
           number >= x.oldest && number <= x.newest;
}

/* What was seen just before: a write whose beginning is there and whose rest is not was torn. */
struct neighbour {
    uint64_t newest;
    bool right, torn;
};

static void look_block(struct verify *v, const struct slot *s, const char *data, uint64_t at_bytes,
        unsigned sectors, struct neighbour *before)
{
    unsigned first = (unsigned)(at_bytes / CONTENT_SECTOR_BYTES % BLOCK_SECTORS);
    unsigned bad = sectors;
    bool torn = false; /* sectors beside it hold the write that is missing here */
    for (unsigned i = 0; i < sectors; i++) {
        struct expect x = expected(v, s, first + i);
        uint64_t at = i * CONTENT_SECTOR_BYTES;
        bool good = right(v, data + at, at_bytes + at, x);
        if (!good && bad == sectors) {
            bad = i;
            torn = before->newest == x.newest && (before->right || before->torn);
        } else if (good && bad < sectors && x.newest == expected(v, s, first + bad).newest) {
            torn = true;
        }
        *before = (struct neighbour){x.newest, good, torn && !good};
    }
    v->counts.blocks++;
    if (bad == sectors)
        return;
    v->counts.wrong++;
    keep_finding(v, data + bad * CONTENT_SECTOR_BYTES, at_bytes + bad * CONTENT_SECTOR_BYTES,
            expected(v, s, first + bad), torn);
}

void verify_look(struct verify *v, const void *data, uint64_t offset_bytes, uint64_t len_bytes)
{
    struct neighbour before = {0};
    uint64_t end = offset_bytes + len_bytes;
    for (uint64_t at = offset_bytes; at < end;) {
        uint64_t stop = (at / CONTENT_BLOCK_BYTES + 1) * CONTENT_BLOCK_BYTES;
        if (stop > end)
            stop = end;
        struct slot *s = find(v, at / CONTENT_BLOCK_BYTES);
        if (s->key)
            look_block(v, s, (const char *)data + (at - offset_bytes), at,
                    (unsigned)((stop - at) / CONTENT_SECTOR_BYTES), &before);
        else
            before = (struct neighbour){0};
        at = stop;
    }
}

struct verify_counts verify_counts(const struct verify *v)
{
    return v->counts;
}

int verify_outcome(struct verify *v, struct err *e)
{
    for (; v->shown < v->findings; v->shown++)
        fprintf(stderr, "%s: wrong data at byte %llu: %s\n", v->name,
                (unsigned long long)v->finding[v->shown].offset_bytes, v->finding[v->shown].text);
    if (v->counts.wrong == 0)
        return 0;
    return err_set(e, EIO,
            "%llu of %llu checks of blocks of '%s' found wrong data, the first at byte %llu: %s",
            (unsigned long long)v->counts.wrong, (unsigned long long)v->counts.blocks, v->name,
            (unsigned long long)v->finding[0].offset_bytes, v->finding[0].text);
}
