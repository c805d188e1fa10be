/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * msgpack (https://github.com/msgpack/msgpack/blob/master/spec.md). The only file that names msgpack-c.
 *
 * Writing appends to a struct bytes. Reading turns one object into a tree, after a scan that bounds nesting
 * and the sizes that containers declare, so that what is allocated is in proportion to what was read.
 */
#ifndef IOTAPE_PACK_H
#define IOTAPE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/bytes.h"

/* ---- writing ---- */

/* Remembers the first failure, so that a whole map is packed without a check at each value. */
struct packer {
    struct bytes *out; /* not owned */
    int failed;        /* 0 or -errno */
};

void pack_map(struct packer *p, size_t pairs);
void pack_array(struct packer *p, size_t count);
void pack_str(struct packer *p, const char *text);
void pack_uint(struct packer *p, uint64_t v);
void pack_int(struct packer *p, int64_t v);
void pack_bool(struct packer *p, bool v);
/* Always nine bytes, so that what holds it has a fixed size. */
void pack_fixed_uint(struct packer *p, uint64_t v);
/* A bin: the header alone, and then `len` bytes of room, which the caller fills in. NULL on failure. */
uint8_t *pack_bin_room(struct packer *p, size_t len);
void pack_bin(struct packer *p, const void *data, size_t len);
/* A value that was packed elsewhere. */
void pack_raw(struct packer *p, const struct bytes *value);

/* The last pair of a map: "xxh3" and the XXH3-64 of all bytes before that number's nine. */
void pack_seal(struct packer *p);

/* 0, or the failure. */
int packer_end(struct packer *p, struct err *e);

/* ---- reading ---- */

#define PACK_DEPTH_MAX 8

struct unpacked; /* owns a tree */

/* A node of a tree, or none. Lives as long as the tree and the bytes that were read. */
struct value {
    const void *node;
};

/* Reads one object that fills `data` to the end, with at most `max_objects` in it (each takes 24 bytes of
 * memory, and may have taken one in the file). -EBADMSG for what is malformed or beyond the bounds. */
int unpack(struct unpacked **u, const void *data, size_t len, size_t max_objects, struct err *e);

/* Enough for a member that is no list. */
#define PACK_OBJECTS_FEW 8192
void unpacked_release(struct unpacked **u);
struct value unpacked_root(const struct unpacked *u);

/* Checks the pair that pack_seal wrote. -EBADMSG. */
int unpack_check_seal(const void *data, size_t len, struct err *e);

/* The value of a key of a map; none where there is no such key, or no map. */
struct value value_get(struct value map, const char *key);
bool value_is_map(struct value v);
bool value_is_array(struct value v);
/* Number of elements or pairs; 0 for anything else. */
size_t value_count(struct value v);
struct value value_at(struct value array, size_t i);
void value_pair(struct value map, size_t i, struct value *key, struct value *val);

/* True if `v` is of that type; then *out is set. */
bool value_uint(struct value v, uint64_t *out);
bool value_int(struct value v, int64_t *out); /* also an unsigned one above INT64_MAX, as two's complement */
bool value_bool(struct value v, bool *out);
/* Not terminated by a zero. */
bool value_str(struct value v, const char **text, size_t *len);
bool value_str_is(struct value v, const char *text);
bool value_bin(struct value v, const uint8_t **data, size_t *len);

/* As value_get and value_uint; *out keeps what it was where the key is missing. False: another type. */
bool value_get_uint(struct value map, const char *key, uint64_t *out);

#endif
