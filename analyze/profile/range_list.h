/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What was touched of very many ranges of 64 units, in ascending order of their keys, one after the other in
 * as few bytes as they need: how far the key is from the one before, how often the range was touched, which
 * units were read, which were written. A range that was touched once, near to the next, takes 3 bytes.
 *
 * Each begins with a tag of four times two bits, which say how long the four numbers are that follow. All is
 * read and written without a branch, for none could be predicted: eight bytes at once, of which as many count
 * as the tag says. So there must be RANGE_SLACK_BYTES of memory behind a list.
 */
#ifndef IOTAPE_PROFILE_RANGE_LIST_H
#define IOTAPE_PROFILE_RANGE_LIST_H

#include <stdint.h>
#include <string.h>

#define RANGE_SLACK_BYTES 64
#define RANGE_BYTES_MAX   33 /* of one */
#define RANGE_GROWTH_MAX  12 /* bytes by which one touch can make a list longer */

struct range {
    uint64_t key, touches;  /* touches: at least one */
    uint64_t read, written; /* a bit for each unit */
};

/* What follows for each of the four values of two bits: so many bytes, which are so much of eight. */
struct range_form {
    uint64_t mask;
    unsigned bytes;
};
/* A number less one. */
static const struct range_form range_numbers[4] = {{0, 0}, {UINT8_MAX, 1}, {UINT16_MAX, 2}, {UINT64_MAX, 8}};
/* A set of units: nothing, a run (its last unit * 64 + its first), not used, a bit for each. */
static const struct range_form range_sets[4] = {{0, 0}, {UINT16_MAX, 2}, {0, 0}, {UINT64_MAX, 8}};

/* Bytes of a whole range, its tag included. */
static inline unsigned range_length(uint8_t tag)
{
    return 1 + range_numbers[tag & 3].bytes + range_numbers[tag >> 2 & 3].bytes +
           range_sets[tag >> 4 & 3].bytes + range_sets[tag >> 6].bytes;
}

/* ---- reading ---- */

static inline uint64_t range_take(const uint8_t **p, const struct range_form *f)
{
    uint64_t v;
    memcpy(&v, *p, sizeof v);
    *p += f->bytes;
    return v & f->mask;
}

/* Units first .. last. */
static inline uint64_t range_run(unsigned first, unsigned last)
{
    return ~UINT64_C(0) >> (63 - last + first) << first;
}

static inline uint64_t range_take_units(const uint8_t **p, unsigned form)
{
    uint64_t v = range_take(p, &range_sets[form]), run = -(uint64_t)(form == 1);
    uint64_t units = ~UINT64_C(0) >> (63 - (v >> 6) + v) % 64 << v % 64;
    return (units & run) | (v & ~run);
}

/* The key of the range at `p`, where the one before has key `before`. */
static inline uint64_t range_key(const uint8_t *p, uint64_t before)
{
    unsigned tag = *p++;
    return before + 1 + range_take(&p, &range_numbers[tag & 3]);
}

/* Reads the range at `p`; returns where the next one begins. */
static inline const uint8_t *range_read(const uint8_t *p, uint64_t before, struct range *r)
{
    unsigned tag = *p++;
    r->key = before + 1 + range_take(&p, &range_numbers[tag & 3]);
    r->touches = 1 + range_take(&p, &range_numbers[tag >> 2 & 3]);
    r->read = range_take_units(&p, tag >> 4 & 3);
    r->written = range_take_units(&p, tag >> 6);
    return p;
}

/* ---- writing ---- */

static inline unsigned range_number_form(uint64_t v)
{
    return (v > 0) + (v > UINT8_MAX) + (v > UINT16_MAX);
}

static inline unsigned range_units_form(uint64_t units)
{
    uint64_t above = units + (units & -units); /* of a run: the bit above it alone */
    return (units != 0) + 2U * ((above & units) != 0);
}

static inline uint8_t *range_put(uint8_t *p, uint64_t v, unsigned bytes)
{
    memcpy(p, &v, sizeof v);
    return p + bytes;
}

static inline uint8_t *range_put_units(uint8_t *p, uint64_t units, unsigned form)
{
    uint64_t run = (63U ^ (unsigned)__builtin_clzll(units | 1)) << 6 |
                   (unsigned)__builtin_ctzll(units | UINT64_C(1) << 63);
    uint64_t is_run = -(uint64_t)(form == 1);
    return range_put(p, (run & is_run) | (units & ~is_run), range_sets[form].bytes);
}

/* Writes `r` behind the one with key `before`; returns where the next one begins. */
static inline uint8_t *range_write(uint8_t *p, uint64_t before, const struct range *r)
{
    uint64_t gap = r->key - before - 1, more = r->touches - 1;
    unsigned gap_form = range_number_form(gap), more_form = range_number_form(more);
    unsigned read = range_units_form(r->read), written = range_units_form(r->written);
    *p++ = (uint8_t)(gap_form | more_form << 2 | read << 4 | written << 6);
    p = range_put(p, gap, range_numbers[gap_form].bytes);
    p = range_put(p, more, range_numbers[more_form].bytes);
    p = range_put_units(p, r->read, read);
    return range_put_units(p, r->written, written);
}

#endif
