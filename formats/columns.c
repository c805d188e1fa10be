/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/planes.h"

#define BLOCK         2048 /* numbers handled while they are in the first-level cache */
#define SAMPLES       512  /* looked at to choose a coding */
#define CUT_COUNT_MIN 384  /* shorter planes do not pay for entropy tables of their own */

static const char *const coding_names[COLUMN_CODINGS] = {"value", "delta", "end", "lag"};

struct columns {
    uint64_t *x; /* COLUMNS_COUNT_MAX numbers, for packing */
    uint64_t last_end[COLUMNS_STREAMS_MAX];
    size_t cuts[COLUMNS_MAX * 10];
    size_t cut_count;
};

int columns_open(struct columns **out, bool packs, struct err *e)
{
    struct columns *c = calloc(1, sizeof *c);
    if (c && packs)
        c->x = malloc(COLUMNS_COUNT_MAX * sizeof *c->x);
    if (!c || (packs && !c->x)) {
        free(c);
        return err_sys(e, ENOMEM, "cannot set up columns");
    }
    *out = c;
    return 0;
}

void columns_close(struct columns *c)
{
    if (!c)
        return;
    free(c->x);
    free(c);
}

size_t columns_cuts(const struct columns *c, const size_t **cuts)
{
    *cuts = c->cuts;
    return c->cut_count;
}

/* ---- packing ---- */

static bool all_equal(const void *data, uint32_t count, size_t elem_bytes)
{
    return memcmp(data, (const char *)data + elem_bytes, (count - 1) * elem_bytes) == 0;
}

static void widen(const void *data, size_t elem_bytes, size_t count, uint64_t *x)
{
    switch (elem_bytes) {
    case 1:
        for (size_t i = 0; i < count; i++)
            x[i] = ((const uint8_t *)data)[i];
        break;
    case 2:
        for (size_t i = 0; i < count; i++)
            x[i] = ((const uint16_t *)data)[i];
        break;
    case 4:
        for (size_t i = 0; i < count; i++)
            x[i] = ((const uint32_t *)data)[i];
        break;
    default:
        memcpy(x, data, count * sizeof *x);
    }
}

/* x[0] is left to the caller, who chooses `start`. */
static void differences(const uint64_t *v, uint32_t count, uint64_t *x)
{
    for (uint32_t i = 1; i < count; i++)
        x[i] = v[i] - v[i - 1];
}

static void distances(
        struct columns *c, const uint32_t *stream, const uint64_t *len, const uint64_t *v, uint32_t count)
{
    c->x[0] = 0;
    if (all_equal(stream, count, sizeof *stream)) {
        for (uint32_t i = 1; i < count; i++)
            c->x[i] = v[i] - (v[i - 1] + len[i - 1]);
        return;
    }
    for (size_t i = 0; i < COLUMNS_STREAMS_MAX; i++)
        c->last_end[i] = v[0];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *end = &c->last_end[stream[i] % COLUMNS_STREAMS_MAX];
        c->x[i] = v[i] - *end;
        *end = v[i] + len[i];
    }
}

static unsigned bits(uint64_t v)
{
    return v ? 64U - (unsigned)__builtin_clzll(v) : 0;
}

/* Whether distances from the end of what came before (in x) need fewer bits than the places themselves. */
static bool distances_pay(const uint64_t *x, const uint64_t *v, uint32_t count)
{
    uint64_t near = 0, plain = 0, least = UINT64_MAX;
    uint32_t step = count / SAMPLES + 1;
    for (uint32_t i = 0; i < count; i++)
        least = v[i] < least ? v[i] : least;
    for (uint32_t i = 0; i < count; i += step) {
        near += bits(x[i] << 1 ^ (uint64_t)((int64_t)x[i] >> 63)); /* zigzag */
        plain += bits(v[i] - least);
    }
    return near <= plain;
}

struct packing {
    enum column_coding coding;
    uint64_t start;
    struct planes planes;
    const uint64_t *x;
};

static void prepare_delta(struct columns *c, const uint64_t *v, uint32_t count, struct packing *k)
{
    differences(v, count, c->x);
    k->planes = count > 1 ? planes_measure(c->x + 1, count - 1) : (struct planes){0};
    c->x[0] = k->planes.base;
    k->start = v[0] - k->planes.base;
}

static void prepare(struct columns *c, const struct column_spec *s, const void *const *data, size_t at,
        uint32_t count, struct packing *k)
{
    const void *v = data[at];
    *k = (struct packing){.coding = s->coding, .x = c->x};
    if (s->coding == COLUMN_DELTA) {
        prepare_delta(c, v, count, k);
        return;
    }
    if (s->coding == COLUMN_LAG) {
        const uint64_t *before = data[at - 1], *own = v;
        for (uint32_t i = 0; i < count; i++)
            c->x[i] = before[i] - own[i];
    } else if (s->coding == COLUMN_END) {
        distances(c, data[0], data[1], v, count);
        k->start = ((const uint64_t *)v)[0];
        if (!distances_pay(c->x, v, count)) {
            k->coding = COLUMN_VALUE;
            k->start = 0;
            k->x = v;
        }
    } else if (all_equal(v, count, s->elem_bytes)) {
        widen(v, s->elem_bytes, 1, c->x);
        k->planes.base = c->x[0];
        return;
    } else if (s->elem_bytes == sizeof(uint64_t)) {
        k->x = v;
    } else {
        widen(v, s->elem_bytes, count, c->x);
    }
    k->planes = planes_measure(k->x, count);
}

static void pack_column(
        struct columns *c, const char *name, const struct packing *k, uint32_t count, struct packer *p)
{
    pack_str(p, name);
    pack_array(p, 5);
    pack_str(p, coding_names[k->coding]);
    pack_int(p, (int64_t)k->planes.base);
    pack_uint(p, k->planes.shift);
    pack_uint(p, k->start);
    uint8_t *room = pack_bin_room(p, (size_t)k->planes.width * count);
    if (!room || !k->planes.width)
        return;
    planes_write(k->x, count, k->planes, room);
    size_t begin = (size_t)(room - p->out->data);
    for (unsigned b = 0; count >= CUT_COUNT_MIN && b <= k->planes.width; b++)
        c->cuts[c->cut_count++] = begin + (size_t)b * count;
}

void columns_pack(struct columns *c, const struct column_spec *spec, const void *const *data, size_t n,
        uint32_t count, struct packer *p)
{
    c->cut_count = 0;
    pack_map(p, n);
    for (size_t i = 0; i < n; i++) {
        struct packing k;
        prepare(c, &spec[i], data, i, count, &k);
        pack_column(c, spec[i].name, &k, count, p);
    }
}

/* ---- unpacking ---- */

struct unpacking {
    enum column_coding coding;
    uint64_t start;
    struct planes planes;
    const uint8_t *in;
};

static int parse_coding(struct value v)
{
    for (int i = 0; i < COLUMN_CODINGS; i++)
        if (value_str_is(v, coding_names[i]))
            return i;
    return -1;
}

static int parse_column(
        const struct column_spec *s, uint32_t count, struct value v, struct unpacking *k, struct err *e)
{
    int64_t base;
    uint64_t shift;
    size_t len;
    int coding = parse_coding(value_at(v, 0));
    if (coding < 0 || !value_int(value_at(v, 1), &base) || !value_uint(value_at(v, 2), &shift) ||
            !value_uint(value_at(v, 3), &k->start) || !value_bin(value_at(v, 4), &k->in, &len))
        return err_set(e, EBADMSG, "column '%s' is missing or malformed", s->name);
    if ((enum column_coding)coding != s->coding && !(s->coding == COLUMN_END && coding == COLUMN_VALUE))
        return err_set(e, EBADMSG, "column '%s' cannot be coded as '%s'", s->name, coding_names[coding]);
    if (shift > 63 || len % count || len / count > 8)
        return err_set(e, EBADMSG, "column '%s' has %zu bytes for %u values, shifted by %llu", s->name, len,
                count, (unsigned long long)shift);
    k->coding = (enum column_coding)coding;
    k->planes = (struct planes){(uint64_t)base, (unsigned)shift, (unsigned)(len / count)};
    return 0;
}

static uint64_t narrow(const uint64_t *x, size_t n, size_t elem_bytes, void *out)
{
    uint64_t all = 0;
    switch (elem_bytes) {
    case 1:
        for (size_t i = 0; i < n; i++)
            all |= x[i], ((uint8_t *)out)[i] = (uint8_t)x[i];
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            all |= x[i], ((uint16_t *)out)[i] = (uint16_t)x[i];
        break;
    default:
        for (size_t i = 0; i < n; i++)
            all |= x[i], ((uint32_t *)out)[i] = (uint32_t)x[i];
    }
    return all >> (8 * elem_bytes);
}

/* Columns of small numbers: plain values. False where one does not fit. */
static bool unpack_narrow(const struct unpacking *k, uint32_t count, size_t elem_bytes, uint8_t *out)
{
    uint64_t x[BLOCK], beyond = 0;
    for (size_t from = 0; from < count; from += BLOCK) {
        size_t n = count - from < BLOCK ? count - from : BLOCK;
        if (k->planes.width || !from)
            planes_read(k->in, count, k->planes, from, k->planes.width ? n : BLOCK, x);
        beyond |= narrow(x, n, elem_bytes, out + from * elem_bytes);
    }
    return !beyond;
}

/* Sums up in place. False where `ascending` is wanted and a value is below the one before. */
static bool sum_up(uint64_t *v, size_t n, uint64_t *last)
{
    uint64_t sum = *last, descents = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t next = sum + v[i];
        descents |= next < sum;
        v[i] = sum = next;
    }
    *last = sum;
    return !descents;
}

struct streams {
    const uint32_t *stream;
    const uint64_t *len;
    bool one;
};

static bool check_streams(const uint32_t *stream, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = stream[i] > most ? stream[i] : most;
    return most < COLUMNS_STREAMS_MAX;
}

static void add_ends(struct columns *c, const struct streams *s, size_t from, size_t n, uint64_t *v)
{
    if (s->one) {
        uint64_t end = c->last_end[0];
        for (size_t i = 0; i < n; i++) {
            v[i] += end;
            end = v[i] + s->len[from + i];
        }
        c->last_end[0] = end;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t *end = &c->last_end[s->stream[from + i]];
        v[i] += *end;
        *end = v[i] + s->len[from + i];
    }
}

static void begin_ends(
        struct columns *c, const struct unpacking *k, struct streams *s, void *const *data, uint32_t count)
{
    *s = (struct streams){data[0], data[1], all_equal(data[0], count, sizeof *s->stream)};
    for (size_t i = 0; i < (s->one ? 1 : COLUMNS_STREAMS_MAX); i++)
        c->last_end[i] = k->start;
}

/* Columns of 64 bits. False: not ascending, or a stream is out of range. */
static bool unpack_wide(struct columns *c, const struct unpacking *k, void *const *data, size_t at,
        uint32_t count, bool ascending)
{
    uint64_t *out = data[at], last = 0;
    struct streams s = {0};
    bool good = true;
    if (k->coding == COLUMN_END)
        begin_ends(c, k, &s, data, count);
    for (size_t from = 0; good && from < count; from += BLOCK) {
        size_t n = count - from < BLOCK ? count - from : BLOCK;
        uint64_t *v = out + from;
        planes_read(k->in, count, k->planes, from, n, v);
        if (k->coding == COLUMN_DELTA && !from)
            v[0] += k->start;
        if (k->coding == COLUMN_DELTA)
            good = sum_up(v, n, &last) || !ascending;
        else if (k->coding == COLUMN_END)
            add_ends(c, &s, from, n, v);
        else if (k->coding == COLUMN_LAG)
            for (size_t i = 0; i < n; i++)
                v[i] = ((const uint64_t *)data[at - 1])[from + i] - v[i];
    }
    return good;
}

int columns_unpack(struct columns *c, const struct column_spec *spec, void *const *data, size_t n,
        uint32_t count, struct value map, struct err *e)
{
    if (!count || count > COLUMNS_COUNT_MAX)
        return err_set(e, EBADMSG, "has %u records", count);
    for (size_t i = 0; i < n; i++) {
        struct unpacking k;
        int r = parse_column(&spec[i], count, value_get(map, spec[i].name), &k, e);
        if (r < 0)
            return r;
        if (spec[i].coding == COLUMN_END && !check_streams(data[0], count))
            return err_set(e, EBADMSG, "column '%s' holds an impossible value", spec[0].name);
        bool good = spec[i].elem_bytes == sizeof(uint64_t)
                            ? unpack_wide(c, &k, data, i, count, spec[i].ascending)
                            : unpack_narrow(&k, count, spec[i].elem_bytes, data[i]);
        if (!good)
            return err_set(e, EBADMSG, "column '%s' holds an impossible value", spec[i].name);
    }
    return 0;
}
