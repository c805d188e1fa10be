/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The data model of block I/O. One record is one bio as it was queued on the named device, before the
 * block layer merges or splits it (Linux: block/blk-core.c, trace_block_bio_queue).
 *
 * Times are ns since the tape's start, places and sizes bytes.
 */
#ifndef IOTAPE_BLOCK_H
#define IOTAPE_BLOCK_H

#include <stdint.h>

/* "Not known": a latency whose completion was never seen. In CSV an empty cell. */
#define TAPE_UNKNOWN UINT64_MAX

enum block_op { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH, BLOCK_DISCARD, BLOCK_WRITE_ZEROES, BLOCK_OPS };

/* Stored in tapes: never renumber (TAPE.md). The names are those of include/linux/blk_types.h. */
enum block_flag {
    BLOCK_PREFLUSH = 1 << 0,
    BLOCK_FUA = 1 << 1,
    BLOCK_SYNC = 1 << 2,
    BLOCK_META = 1 << 3,
    BLOCK_READAHEAD = 1 << 4,
    BLOCK_PRIO = 1 << 5,
    BLOCK_NOMERGE = 1 << 6,
    BLOCK_BACKGROUND = 1 << 7,
    BLOCK_SECURE = 1 << 8, /* a discard that must erase */
};
#define BLOCK_FLAGS 9

struct block_record {
    uint64_t t_ns;         /* arrival */
    uint64_t offset_bytes; /* on the stream's device; a partition counts from its own begin */
    uint64_t len_bytes;    /* 0 for a flush */
    uint64_t latency_ns;   /* arrival to completion, or TAPE_UNKNOWN */
    uint32_t stream;       /* index into the tape's streams */
    uint32_t issuer;       /* index into the tape's issuers */
    uint16_t flags;        /* of enum block_flag */
    uint16_t error;        /* errno of the completion, 0 for success */
    uint8_t op;            /* enum block_op */
};

/* "read", "write", "flush", "discard", "write_zeroes". NULL for an unknown number. */
const char *block_op_name(unsigned op);
/* -1 for an unknown name. */
int block_op_parse(const char *name);

/* Writes the names of the set flags joined by '|' ("" for none) and returns `buf`. */
#define BLOCK_FLAGS_TEXT_BYTES 96
const char *block_flags_name(unsigned flags, char buf[BLOCK_FLAGS_TEXT_BYTES]);
/* The reverse; -1 for an unknown name. */
int block_flags_parse(const char *text);

/* Many records, column by column, so that hot loops touch only what they need. All arrays have `count`
 * elements; element i is record `first + i` (records are counted from 0 here, from 1 for people). */
struct block_chunk {
    uint64_t first;
    uint32_t count;
    uint64_t *t_ns, *offset_bytes, *len_bytes, *latency_ns;
    uint32_t *stream, *issuer;
    uint16_t *flags, *error;
    uint8_t *op;
};

static inline struct block_record block_chunk_get(const struct block_chunk *c, uint32_t i)
{
    return (struct block_record){c->t_ns[i], c->offset_bytes[i], c->len_bytes[i], c->latency_ns[i], c->stream[i],
            c->issuer[i], c->flags[i], c->error[i], c->op[i]};
}

#endif
