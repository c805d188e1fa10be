/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the container's reader share: container_read.c opens and reads, container_walk.c finds
 * the members of an unfinished file.
 */
#ifndef IOTAPE_CONTAINER_FILE_H
#define IOTAPE_CONTAINER_FILE_H

#include "formats/container.h"
#include "formats/container_end.h"

struct container {
    char *path;
    int fd;
    uint64_t file_bytes;
    bool finished;
    struct member *members;
    size_t count, cap;
    struct container_end end;
    struct bytes index; /* what `unpacked` refers to */
    struct unpacked *unpacked;
};

/* Exactly `len` bytes. -EBADMSG where the file ends before. */
int container_read_at(int fd, void *buf, size_t len, uint64_t offset, struct err *e);

bool container_is_zero(const uint8_t *p, size_t len);

/* Appends to the list. -ENOMEM. */
int container_add_member(struct container *c, const struct member *m, struct err *e);

/* The whole member into `buf`, verified as far as `digest` (NULL: not known) goes; *body points into it. */
int container_read_member(int fd, const struct member *m, const uint64_t *digest, struct bytes *buf,
        const uint8_t **body, struct err *e);

/* Puts file, member and position before the text of `e`. */
int container_blame_member(const struct container *c, const char *name, uint64_t offset, struct err *e);

/* Lists the whole members from the beginning on. `why` says what is wrong with the end of the file: the error
 * where an end is there after all. */
int container_walk(struct container *c, const struct err *why, struct err *e);

#endif
