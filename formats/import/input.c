/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/import/unpack.h"

static ssize_t read_some(struct input *in, struct err *e)
{
    uint8_t *at = in->buffer + in->end;
    size_t room = INPUT_BYTES - in->end;
    ssize_t got;

    if (in->unpack)
        return unpack_read(in->unpack, at, room, e);
    while ((got = read(in->fd, at, room)) < 0 && errno == EINTR)
        ;
    return got < 0 ? err_sys(e, errno, "cannot read '%s' at byte %" PRIu64, in->path, in->byte + in->end)
                   : got;
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
        ssize_t got = read_some(in, e);
        if (got < 0)
            return got;
        in->at_end = got == 0;
        in->end += (size_t)got;
    }
    return (long)in->end;
}

/* What is compressed goes through unpack from here on. */
static int look_whether_packed(struct input *in, struct err *e)
{
    long have = input_need(in, UNPACK_HEAD_BYTES, e);

    if (have < 0)
        return (int)have;
    if (!unpack_known(in->buffer, in->end))
        return 0;
    int rc = unpack_open(&in->unpack, in->fd, in->path, in->buffer, in->end, e);
    in->at_end = false;
    in->end = 0;
    return rc;
}

int input_open(struct input *in, const char *path, struct input *standard, struct err *e)
{
    bool is_standard = strcmp(path, "-") == 0;

    if (is_standard && standard && standard->buffer) {
        *in = *standard;
        *standard = (struct input){0};
        return 0;
    }
    int fd = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "cannot open '%s'", is_standard ? "standard input" : path);
    uint8_t *buffer = malloc(INPUT_BYTES);
    if (!buffer) {
        close(fd);
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *in = (struct input){.path = path, .fd = fd, .buffer = buffer};
    int rc = look_whether_packed(in, e);
    if (rc < 0)
        input_release(in);
    return rc;
}

void input_release(struct input *in)
{
    if (in->buffer)
        close(in->fd);
    unpack_close(in->unpack);
    free(in->buffer);
    *in = (struct input){0};
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
    if (memchr(text, 0, len - 1))
        return err_set(e, EBADMSG, "'%s':%" PRIu64 ": byte %zu of the line is 0", in->path, in->line,
                strlen(text) + 1);
    size_t mark =
            in->line == 1 && strncmp(text, INPUT_MARK, strlen(INPUT_MARK)) == 0 ? strlen(INPUT_MARK) : 0;
    *line = text + mark;
    in->line_bytes = len - 1 - mark;
    return 1;
}
