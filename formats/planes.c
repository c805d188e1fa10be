/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/planes.h"

/* gcc vectorises at -O2 only what needs no remainder loop; clang ignores the attribute and vectorises anyhow.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((optimize("O3")))
#else
#define HOT
#endif

HOT struct planes planes_measure(const uint64_t *x, size_t count)
{
    int64_t least = (int64_t)x[0];
    uint64_t all = 0;
    for (size_t i = 1; i < count; i++)
        least = (int64_t)x[i] < least ? (int64_t)x[i] : least;
    struct planes p = {.base = (uint64_t)least};
    for (size_t i = 0; i < count; i++)
        all |= x[i] - p.base;
    if (!all)
        return p;
    p.shift = (unsigned)__builtin_ctzll(all);
    p.width = (unsigned)(64 - __builtin_clzll(all >> p.shift) + 7) / 8;
    return p;
}

HOT void planes_write(const uint64_t *restrict x, size_t count, struct planes p, uint8_t *restrict out)
{
    for (unsigned b = 0; b < p.width; b++, out += count) {
        unsigned down = p.shift + 8 * b;
        for (size_t i = 0; i < count; i++)
            out[i] = (uint8_t)((x[i] - p.base) >> down);
    }
}

/* One loop for each width up to four, where the sum of planes fits 32 bits: half the work of 64. */
#define READ_LOOP(sum)                                                                                       \
    for (size_t i = 0; i < n; i++)                                                                           \
        x[i] = base + ((uint64_t)(uint32_t)(sum) << shift);                                                  \
    break

HOT static void read_narrow(
        const uint8_t *restrict in, size_t count, struct planes p, size_t n, uint64_t *restrict x)
{
    uint64_t base = p.base;
    unsigned shift = p.shift;
    switch (p.width) {
    case 0:
        READ_LOOP(0);
    case 1:
        READ_LOOP(in[i]);
    case 2:
        READ_LOOP(in[i] | in[count + i] << 8);
    case 3:
        READ_LOOP(in[i] | in[count + i] << 8 | in[2 * count + i] << 16);
    case 4:
        READ_LOOP(in[i] | in[count + i] << 8 | in[2 * count + i] << 16 | (uint32_t)in[3 * count + i] << 24);
    }
}

HOT void planes_read(
        const uint8_t *in, size_t count, struct planes p, size_t from, size_t n, uint64_t *restrict x)
{
    in += from;
    struct planes low = p;
    if (low.width > 4)
        low.width = 4;
    read_narrow(in, count, low, n, x);
    for (unsigned k = 4; k < p.width; k++) {
        const uint8_t *restrict plane = in + k * count;
        unsigned up = p.shift + 8 * k;
        for (size_t i = 0; up < 64 && i < n; i++)
            x[i] += (uint64_t)plane[i] << up;
    }
}
