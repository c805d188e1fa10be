/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The letters for what an I/O is, as blkparse and the kernel's block events write them (blktrace,
 * blkparse_fmt.c, fill_rwbs; Linux, kernel/trace/blktrace.c, blk_fill_rwbs): [F]D|DE|W|R|N|F[F][A][S][M][U].
 * An F before the direction is a flush, one behind it FUA; N is what is neither read, write nor discard.
 */
#ifndef IOTAPE_BLKTRACE_RWBS_H
#define IOTAPE_BLKTRACE_RWBS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets categories (blktrace_read.h). False for an unknown letter: *category then holds what the others say.
 */
bool bt_category_parse(const char *rwbs, uint32_t *category);

#endif
