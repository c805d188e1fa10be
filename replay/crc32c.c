/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/crc32c.h"

#include <string.h>

/* What four bits become: i shifted out through the reflected polynomial 0x82f63b78, four times. */
static const uint32_t nibble[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab,
        0xe330a81a, 0xf36e6f75};

uint32_t crc32c_plain(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *at = data;
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ nibble[crc & 15];
        crc = crc >> 4 ^ nibble[crc & 15];
    }
    return ~crc;
}

#ifdef __x86_64__

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *at = data;
    uint64_t sum = ~crc;
    for (; len >= 8; len -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sum = __builtin_ia32_crc32di(sum, word);
    }
    for (; len; len--, at++)
        sum = __builtin_ia32_crc32qi((uint32_t)sum, *at);
    return ~(uint32_t)sum;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(crc, data, len) : crc32c_plain(crc, data, len);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    return crc32c_plain(crc, data, len);
}

#endif
