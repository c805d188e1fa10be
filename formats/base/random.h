/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pseudorandom numbers that are the same everywhere: splitmix64, by Sebastiano Vigna, in the public domain
 * (https://prng.di.unimi.it/splitmix64.c). For orders, samples and data without patterns; not for secrets.
 */
#ifndef IOTAPE_RANDOM_H
#define IOTAPE_RANDOM_H

#include <stdint.h>

#define RANDOM_GAMMA UINT64_C(0x9e3779b97f4a7c15)

/* The generator's output function: a bijection that mixes all bits. */
static inline uint64_t random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The next number; *state begins with the seed. */
static inline uint64_t random_next(uint64_t *state)
{
    return random_mix(*state += RANDOM_GAMMA);
}

#endif
