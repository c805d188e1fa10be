/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Buffered sequential reading of a foreign file, by bytes or by lines, with the position kept for errors.
 * What is compressed with gzip, zstd or xz (by its first bytes, whatever its name) is read unpacked;
 * positions then count in the unpacked text.
 */
#ifndef IOTAPE_INPUT_H
#define IOTAPE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define INPUT_BYTES      131072         /* of buffer for each file */
#define INPUT_LINE_BYTES 65536          /* a longer line is an error */
#define INPUT_MARK       "\xef\xbb\xbf" /* UTF-8's byte order mark, which some programs write first */

struct unpack;

struct input {
    const char *path; /* the caller's, kept as long as the input */
    int fd;
    struct unpack *unpack; /* NULL: the file is read as it is */
    bool at_end;           /* nothing is left to be read into the buffer */
    uint8_t *buffer;
    size_t begin, end;   /* what is buffered */
    uint64_t byte, line; /* position of `begin` from 0; number of the latest line from 1 */
    size_t line_bytes;   /* of the latest line, without its end */
};

/* Opens a file; "-" is standard input: what `standard` (NULL: nothing) has read of it already is taken over
 * from there. Errors name the file. */
int input_open(struct input *in, const char *path, struct input *standard, struct err *e);
void input_release(struct input *in); /* a zeroed struct is allowed */

/* Makes `want` (at most INPUT_BYTES) bytes available at buffer + begin. Returns how many there are, fewer
 * only at the file's end, or -errno. */
long input_need(struct input *in, size_t want, struct err *e);

/* Takes `count` available bytes. */
static inline void input_take(struct input *in, size_t count)
{
    in->begin += count;
    in->byte += count;
}

/* The next line without its end (the first one also without INPUT_MARK), terminated by 0 and valid until the
 * next call: 1, 0 at the end of the file, or -errno. Errors name file and line: a line longer than
 * INPUT_LINE_BYTES, one that contains a 0 byte, and a last line that does not end: it may have been cut
 * (-EBADMSG; the line is taken all the same, so that a caller may count it and go on). */
int input_line(struct input *in, char **line, struct err *e);

#endif
