/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int input_open(struct input *in, const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *buffer;

    if (fd < 0)
        return err_sys(e, errno, "cannot open '%s'", path);
    buffer = malloc(INPUT_BYTES);
    if (!buffer) {
        close(fd);
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *in = (struct input){.path = path, .fd = fd, .buffer = buffer};
    return 0;
}

void input_release(struct input *in)
{
    if (in->buffer)
        close(in->fd);
    free(in->buffer);
    *in = (struct input){0};
}

long input_need(struct input *in, size_t want, struct err *e)
{
    if (in->end - in->begin >= want)
        return (long)(in->end - in->begin);
    if (in->begin) {
        memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    while (!in->at_end && in->end < want) {
        ssize_t got = read(in->fd, in->buffer + in->end, INPUT_BYTES - in->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(e, errno, "cannot read '%s' at byte %" PRIu64, in->path, in->byte + in->end);
        in->at_end = got == 0;
        in->end += (size_t)got;
    }
    return (long)in->end;
}

/* Finds the line's end; *len counts it. 1, 0 where the file ends before it, or -errno. */
static int find_end(struct input *in, size_t *len, struct err *e)
{
    size_t want = 1, seen = 0;

    for (;;) {
        long have = input_need(in, want, e);
        if (have < 0)
            return (int)have;
        const uint8_t *at = in->buffer + in->begin;
        const uint8_t *end = memchr(at + seen, '\n', (size_t)have - seen);
        *len = end ? (size_t)(end - at) + 1 : (size_t)have;
        if (end || (size_t)have < want)
            return end != NULL;
        seen = (size_t)have;
        want = seen + 1;
        if (want > INPUT_LINE_BYTES)
            return 1; /* the caller refuses its length */
    }
}

int input_line(struct input *in, char **line, struct err *e)
{
    size_t len = 0;
    int ended = find_end(in, &len, e);

    if (ended < 0)
        return ended;
    if (!ended && len == 0)
        return 0;
    in->line++;
    uint64_t byte = in->byte;
    char *text = (char *)in->buffer + in->begin;
    input_take(in, len);
    if (len > INPUT_LINE_BYTES || (ended && text[len - 1] != '\n'))
        return err_set(e, EBADMSG, "'%s':%" PRIu64 ": the line is longer than %d bytes", in->path, in->line,
                INPUT_LINE_BYTES);
    if (!ended)
        return err_set(e, EBADMSG, "'%s':%" PRIu64 ": the last line is cut off at byte %" PRIu64, in->path,
                in->line, byte + len);
    text[len - 1] = '\0';
    if (strlen(text) != len - 1)
        return err_set(e, EBADMSG, "'%s':%" PRIu64 ": byte %zu of the line is 0", in->path, in->line,
                strlen(text) + 1);
    *line = text;
    return 1;
}
