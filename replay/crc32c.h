/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CRC32C (Castagnoli), as iSCSI uses it: RFC 3720, section 12.1: polynomial 0x1EDC6F41, bits reflected,
 * begun with and inverted by ones. Its appendix B.4 has the values that the tests check.
 */
#ifndef IOTAPE_CRC32C_H
#define IOTAPE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of `len` bytes; goes on from `crc`, that of what lies before (0 for the first), so that pieces can be
 * summed one after the other. By SSE4.2 where the processor has it. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* The same without special instructions, for tests and other processors. */
uint32_t crc32c_plain(uint32_t crc, const void *data, size_t len);

#endif
