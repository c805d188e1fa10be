/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/touch_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 12

/* Bits in which the keys differ; 0 where they are in order. */
static uint64_t differing(const struct touch *list, size_t count)
{
    uint64_t differ = 0;
    bool ordered = true;
    for (size_t i = 1; i < count; i++) {
        differ |= list[i].key ^ list[i - 1].key;
        ordered &= list[i].key >= list[i - 1].key;
    }
    return ordered ? 0 : differ;
}

static void by_digit(const struct touch *from, struct touch *to, size_t count, unsigned shift)
{
    uint32_t next[1 << DIGIT_BITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        next[from[i].key >> shift & ((1 << DIGIT_BITS) - 1)]++;
    for (size_t i = 0; i < 1 << DIGIT_BITS; i++) {
        uint32_t n = next[i];
        next[i] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[next[from[i].key >> shift & ((1 << DIGIT_BITS) - 1)]++] = from[i];
}

/* By digits, the least first, of the bits that differ (Knuth, The Art of Computer Programming 3, 5.2.5). */
void touch_sort(struct touch *list, struct touch *spare, size_t count)
{
    uint64_t differ = differing(list, count);
    struct touch *from = list, *to = spare;
    while (differ) {
        unsigned shift = (unsigned)__builtin_ctzll(differ);
        by_digit(from, to, count, shift);
        differ &= ~(((UINT64_C(1) << DIGIT_BITS) - 1) << shift);
        struct touch *swap = from;
        from = to;
        to = swap;
    }
    if (from != list)
        memcpy(list, from, count * sizeof *list);
}
