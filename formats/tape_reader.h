/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the tape reader share: opening (tape_open.c), decoding members (tape_load.c), and what
 * callers see (tape_reader.c).
 */
#ifndef IOTAPE_TAPE_READER_H
#define IOTAPE_TAPE_READER_H

#include "formats/chunk.h"
#include "formats/container.h"
#include "formats/dict.h"
#include "formats/net_check.h"
#include "formats/tape.h"

/* A member, and the chunk that it is or completes. */
struct place {
    size_t member, chunk;
};

struct places {
    struct place *list;
    size_t count, cap;
};

/* What a reader has for conversations. */
struct tape_net {
    struct places
            places; /* chunks of events in file order; `chunk`: the member of their conversations, or 0 */
    size_t pending; /* while opening: a member of conversations that no events follow yet, or 0 */
    size_t next;
    struct net_check *check;    /* of what was read since the beginning */
    struct tape_totals counted; /* likewise */
    struct net_chunk chunk;
    struct conversation_chunk table;
    uint32_t room, table_room, conversation_room;
    struct net_conversation *conversations; /* owned */
};

struct tape_reader {
    struct container *container;
    struct tape_info info;
    struct dict dict;
    struct tape_totals totals;
    struct places chunks; /* in file order */
    struct places late;   /* by chunk, then in file order */
    struct chunk_decoder *decoder;
    struct block_chunk chunk;
    struct late_chunk late_chunk;
    uint32_t chunk_room, late_room;
    struct bytes buf;
    size_t next;
    struct tape_net net;
    uint64_t records; /* that the chunks found so far say they hold */
};

static inline const struct member *tape_chunk_member(const struct tape_reader *r, size_t chunk)
{
    return container_member(r->container, r->chunks.list[chunk].member);
}

int tape_places_add(struct places *p, size_t member, size_t chunk, struct err *e);

/* Reads, verifies and decodes a member. Errors name it. */
typedef int tape_decode(struct tape_reader *r, const uint8_t *body, size_t len, struct err *e);
int tape_load_member(struct tape_reader *r, size_t m, tape_decode *decode, struct err *e);

/* While opening: members of conversations and of events as they come, and when there are no more. */
int tape_net_open_conversations(struct tape_reader *r, size_t m, struct err *e);
int tape_net_open_events(struct tape_reader *r, size_t m, struct err *e);
int tape_net_open_end(struct tape_reader *r, struct err *e);
void tape_net_release(struct tape_net *n);

/* Decode member `m` into r->chunk (without late completions) or r->late_chunk. Errors name the member. */
int tape_load_block(struct tape_reader *r, size_t m, struct err *e);
int tape_load_late(struct tape_reader *r, size_t m, struct err *e);

/* Chunk number `chunk` with its late completions. */
int tape_load_chunk(struct tape_reader *r, size_t chunk, struct err *e);

struct member_extent tape_block_extent(const struct block_chunk *c);
struct member_extent tape_late_extent(const struct late_chunk *c);

#endif
