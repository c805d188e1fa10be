/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The container that tapes and runs share (TAPE.md, "Container"): named members in a tar archive, an index of
 * them, and a last member of fixed size that says where the index is.
 *
 * A finished file is opened from its end. An unfinished one (a recording in progress or cut off) is walked
 * from its beginning to its last whole member. Whatever is damaged is an error that names file, member and
 * position.
 */
#ifndef IOTAPE_CONTAINER_H
#define IOTAPE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/archive.h"
#include "formats/base/err.h"
#include "formats/bytes.h"
#include "formats/pack.h"

/* Members above these sizes are refused when read, and never written. */
#define CONTAINER_MEMBER_MAX (UINT64_C(8) << 20)
#define CONTAINER_INDEX_MAX  (UINT64_C(64) << 20)

/* What the index says of a member's content. Which fields mean something depends on the kind of member. */
struct member_extent {
    uint64_t first;            /* number of the first record; of a result chunk: repetition */
    uint64_t count;            /* records */
    uint64_t begin_ns, end_ns; /* times of the first and the last record */
};

struct member {
    char name[ARCHIVE_NAME_BYTES];
    uint64_t offset_bytes; /* of its header in the file */
    uint64_t size_bytes;   /* of its body */
    uint64_t digest;       /* XXH3-64 of the body; meaningful in finished files */
    struct member_extent extent;
};

/* ---- writing ---- */

struct container_writer;

/* Begins PATH.partial, which must not exist, and holds a lock on it (flock(2)) while it is written. */
int container_create(struct container_writer **w, const char *path, struct err *e);

/* Appends a member. After a failure the file ends with the last whole member. */
int container_add(struct container_writer *w, const char *name, const struct bytes *body,
        const struct member_extent *extent, struct err *e);

/* Members so far, in file order; owned by the writer, valid until the next call. */
size_t container_written(const struct container_writer *w, const struct member **members);
uint64_t container_bytes(const struct container_writer *w);

/* Writes the index with `totals` (one packed value) in it and the end, syncs, renames to PATH, syncs the
 * folder. */
int container_finish(struct container_writer *w, const struct bytes *totals, struct err *e);

/* Frees the handle; `discard` removes PATH.partial. NULL is allowed. */
void container_writer_close(struct container_writer *w, bool discard);

/* ---- reading ---- */

struct container;

int container_open(struct container **c, const char *path, struct err *e);
void container_close(struct container *c);

bool container_finished(const struct container *c);
const char *container_path(const struct container *c);
size_t container_count(const struct container *c);
const struct member *container_member(const struct container *c, size_t i);
/* For unfinished files: what the reader found in member i. */
void container_set_extent(struct container *c, size_t i, const struct member_extent *extent);

/* The totals of a finished file, until container_drop_totals frees what the index needed of memory. */
struct value container_totals(const struct container *c);
void container_drop_totals(struct container *c);

/* Reads and verifies member i: header, padding, and the digest where the file is finished. *body and its
 * `size_bytes` bytes lie in `buf`. */
int container_read(struct container *c, size_t i, struct bytes *buf, const uint8_t **body, struct err *e);

/* Verifies what container_read does not reach: index, end and trailer (again, from the file). */
int container_verify_end(struct container *c, struct err *e);

/* Puts "PATH: member 'NAME' at byte N" before the text of `e`, and returns its code. */
int container_blame(const struct container *c, size_t i, struct err *e);

/* 1: the file begins as a container or ends as one; 0: it is nothing of ours. -errno. */
int container_probe(const char *path, struct err *e);

#endif
