/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/source/block_fields.h"

#include <errno.h>
#include <stddef.h>

#include "formats/block.h"

/* Linux: block/blk-core.c, blk_errors[]. An unknown status is EIO there, too. */
uint16_t block_errno_of(int32_t error)
{
    static const uint16_t of_status[] = {0, EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO, EBADE, ENODATA,
            EILSEQ, ENOMEM, EIO, 0, EAGAIN, EBUSY, EOVERFLOW, EOVERFLOW, ETIME, ENODEV, EINVAL};
    if (error < 0)
        return error > -4096 ? (uint16_t)-error : EIO;
    if (error == 0)
        return 0;
    uint16_t code = (size_t)error < sizeof of_status / sizeof of_status[0] ? of_status[error] : 0;
    return code ? code : EIO;
}

/* Linux: include/linux/blk_types.h, enum req_flag_bits; the same from 4.20 to 6.18. */
uint16_t block_flags_of(uint32_t opf)
{
    static const struct {
        uint32_t bit;
        uint16_t flag;
    } known[] = {{11, BLOCK_SYNC}, {12, BLOCK_META}, {13, BLOCK_PRIO}, {14, BLOCK_NOMERGE}, {17, BLOCK_FUA},
            {18, BLOCK_PREFLUSH}, {19, BLOCK_READAHEAD}, {20, BLOCK_BACKGROUND}};
    uint16_t flags = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (opf >> known[i].bit & 1)
            flags |= known[i].flag;
    return (opf & 0xff) == 5 ? flags | BLOCK_SECURE : flags;
}

uint8_t block_op_of(uint32_t opf, uint32_t len)
{
    switch (opf & 0xff) { /* enum req_op */
    case 0:
        return BLOCK_READ;
    case 1:
        return len == 0 ? BLOCK_FLUSH : BLOCK_WRITE;
    case 2:
        return BLOCK_FLUSH;
    case 9:
        return BLOCK_WRITE_ZEROES;
    default: /* 3 discard, 5 secure erase; others are not sent */
        return BLOCK_DISCARD;
    }
}
