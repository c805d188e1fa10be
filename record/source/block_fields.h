/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The kernel's numbers in a bio, in those of a tape.
 */
#ifndef IOTAPE_BLOCK_FIELDS_H
#define IOTAPE_BLOCK_FIELDS_H

#include <stdint.h>

/* Of a completion: a blk_status_t, or a negative errno. 0: none. */
uint16_t block_errno_of(int32_t error);

/* Of bi_opf: enum block_flags and the operation of formats/block.h. An empty write is a flush. */
uint16_t block_flags_of(uint32_t opf);
uint8_t block_op_of(uint32_t opf, uint32_t len);

#endif
