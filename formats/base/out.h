/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Results on their way to standard output or to a file that appears whole or not at all. Buffered; the first
 * failed write is remembered, what follows is dropped, and out_close reports it: a full disk or a closed
 * pipe is an error and not a truncated result. Programs that use it ignore SIGPIPE.
 */
#ifndef IOTAPE_OUT_H
#define IOTAPE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/err.h"

#define OUT_BUFFER_BYTES 65536

struct out {
    int fd;
    int failed;  /* errno of the first failed write */
    char *path;  /* for messages */
    char *real;  /* `path` with links followed; NULL: written in place */
    char *temp;  /* renamed to `real` when all is written; NULL: the file has no name yet */
    size_t used; /* bytes in `buffer` */
    char *buffer;
};

/* `path` NULL, "-" or "/dev/stdout": standard output. A regular file (or none yet) is written without
 * a name, or beside itself where the file system has no such files, and takes its place when it is whole; a
 * device or pipe is written to as it is. -errno where it cannot be created. */
int out_open(struct out *o, const char *path, struct err *e);

/* To a descriptor that is open for writing: what is written goes to a copy of it, and nothing is removed. `name` is
 * for messages. */
int out_open_fd(struct out *o, int fd, const char *name, struct err *e);

/* Writes what is buffered; with `keep` syncs and renames a file, else removes it. Reports the first error of
 * all writes. To be called once for each successful out_open. */
int out_close(struct out *o, bool keep, struct err *e);

/* Room for `len` (at most OUT_BUFFER_BYTES) bytes; fill it, then out_advance to where you stopped. */
char *out_room(struct out *o, size_t len);
static inline void out_advance(struct out *o, const char *end)
{
    o->used = (size_t)(end - o->buffer);
}

/* Any length. */
void out_bytes(struct out *o, const char *bytes, size_t len);
static inline void out_text(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes a whole number in decimal at `p`, which has 20 bytes, and returns its end. */
char *out_u64(char *p, uint64_t value);

#endif
