/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Numbers of eight bytes, least significant first.
 */
#ifndef IOTAPE_PEER_LE64_H
#define IOTAPE_PEER_LE64_H

#include <stdint.h>

/* Returns what is behind it. */
static inline uint8_t *le64_put(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        *p++ = (uint8_t)(v >> (8 * i));
    return p;
}

static inline uint64_t le64_get(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

#endif
