/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/select.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/order.h"

/* First pass: buckets as wide as the leading bit's place less MANTISSA_BITS, so below 2^(MANTISSA_BITS + 1)
 * each value is its own bucket. */
#define MANTISSA_BITS 10
#define FIRST_BUCKETS ((64 - MANTISSA_BITS + 1) << MANTISSA_BITS)
/* Later passes: a window with no more than 2^CUT_BITS values has them listed, others are cut into so many
 * parts. */
#define CUT_BITS 16
#define LIST_MAX (UINT64_C(1) << CUT_BITS)

/* Where one percentile lies, and how many values lie below. */
struct window {
    double q;
    uint64_t lo, width; /* values lo .. lo + width - 1, width a power of two; 1: found */
    uint64_t rank;      /* from 1, among the values in the window */
    bool listed;        /* `parts` are its values, else how many there are in each part */
    size_t list_count;
    unsigned shift; /* width of a part, as a power of two */
    uint64_t *parts;
};

struct select {
    size_t count; /* of windows */
    bool narrowing;
    uint64_t values;
    uint64_t first[FIRST_BUCKETS];
    struct window windows[SELECT_MAX];
};

static size_t bucket_of(uint64_t value)
{
    if (value < (UINT64_C(1) << MANTISSA_BITS))
        return value;
    unsigned shift = 63U - (unsigned)__builtin_clzll(value) - MANTISSA_BITS;
    return ((size_t)(shift + 1) << MANTISSA_BITS) + ((value >> shift) & ((UINT64_C(1) << MANTISSA_BITS) - 1));
}

static void bucket_range(size_t bucket, uint64_t *lo, uint64_t *width)
{
    uint64_t mantissa = bucket & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    size_t group = bucket >> MANTISSA_BITS;
    if (!group) {
        *lo = mantissa;
        *width = 1;
        return;
    }
    *lo = (mantissa | (UINT64_C(1) << MANTISSA_BITS)) << (group - 1);
    *width = UINT64_C(1) << (group - 1);
}

int select_open(struct select **out, const double *q, size_t count, struct err *e)
{
    if (count > SELECT_MAX)
        return err_set(e, EINVAL, "cannot select %zu percentiles: %d are the most", count, SELECT_MAX);
    struct select *s = calloc(1, sizeof *s);
    if (!s)
        return err_sys(e, ENOMEM, "cannot select percentiles");
    for (s->count = 0; s->count < count; s->count++) {
        struct window *w = &s->windows[s->count];
        w->q = q[s->count];
        w->parts = calloc((size_t)1 << CUT_BITS, sizeof *w->parts);
        if (!w->parts || !(w->q > 0 && w->q <= 1)) {
            int rc = w->parts ? err_set(e, EINVAL, "%g is no percentile's fraction", w->q)
                              : err_sys(e, ENOMEM, "cannot select percentiles");
            free(w->parts);
            select_close(s);
            return rc;
        }
    }
    *out = s;
    return 0;
}

void select_close(struct select *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->windows[i].parts);
    free(s);
}

void select_reset(struct select *s)
{
    s->narrowing = false;
    s->values = 0;
    memset(s->first, 0, sizeof s->first);
}

static void narrow_add(struct window *w, uint64_t value)
{
    if (!w->listed)
        w->parts[(value - w->lo) >> w->shift]++;
    else if (w->list_count < LIST_MAX)
        w->parts[w->list_count++] = value;
}

void select_add_many(struct select *s, const uint64_t *values, size_t count)
{
    if (!s->narrowing) {
        for (size_t i = 0; i < count; i++)
            s->first[bucket_of(values[i])]++;
        s->values += count;
        return;
    }
    for (size_t k = 0; k < s->count; k++) {
        struct window *w = &s->windows[k];
        const uint64_t lo = w->lo, width = w->width;
        for (size_t i = 0; width > 1 && i < count; i++)
            if (values[i] - lo < width)
                narrow_add(w, values[i]);
    }
}

/* ceil(q n) as people mean it: 0.95 * 20 is rank 19, though the product in binary lies above 19. */
static uint64_t rank_of(double q, uint64_t n)
{
    long double exact = (long double)q * (long double)n;
    long double whole = roundl(exact);
    uint64_t rank = (uint64_t)(fabsl(exact - whole) < 1e-9L * (whole + 1) ? whole : ceill(exact));
    return rank < 1 ? 1 : rank > n ? n : rank;
}

/* The part in which the window's rank falls; *rank becomes that within the part. */
static size_t find_part(const uint64_t *parts, uint64_t *rank)
{
    size_t i = 0;
    while (parts[i] < *rank)
        *rank -= parts[i++];
    return i;
}

/* Prepares the window, in which `values` lie, for its next pass; true where it needs one. */
static bool narrow(struct window *w, uint64_t values)
{
    if (w->width == 1)
        return false;
    unsigned bits = 63U - (unsigned)__builtin_clzll(w->width);
    w->shift = bits > CUT_BITS ? bits - CUT_BITS : 0;
    w->listed = values <= LIST_MAX;
    w->list_count = 0;
    if (!w->listed)
        memset(w->parts, 0, sizeof *w->parts << (bits - w->shift));
    return true;
}

/* Ends the window's pass; true where it needs another. */
static bool window_next(struct window *w)
{
    if (w->width == 1)
        return false;
    if (w->listed) {
        qsort(w->parts, w->list_count, sizeof *w->parts, order_u64);
        w->lo = w->rank <= w->list_count ? w->parts[w->rank - 1] : w->lo;
        w->width = 1;
        return false;
    }
    size_t part = find_part(w->parts, &w->rank);
    w->lo += (uint64_t)part << w->shift;
    w->width = UINT64_C(1) << w->shift;
    return narrow(w, w->parts[part]);
}

bool select_next(struct select *s)
{
    bool more = false;
    for (size_t i = 0; i < s->count && s->values; i++) {
        struct window *w = &s->windows[i];
        if (s->narrowing) {
            more |= window_next(w);
            continue;
        }
        w->rank = rank_of(w->q, s->values);
        size_t bucket = find_part(s->first, &w->rank);
        bucket_range(bucket, &w->lo, &w->width);
        more |= narrow(w, s->first[bucket]);
    }
    s->narrowing = true;
    return more;
}

uint64_t select_count(const struct select *s)
{
    return s->values;
}

uint64_t select_value(const struct select *s, size_t i)
{
    return s->values ? s->windows[i].lo : 0;
}

uint64_t select_least(double q)
{
    if (!(q > 0 && q < 1))
        return 1;
    return (uint64_t)ceil(log(0.05) / log(q));
}
