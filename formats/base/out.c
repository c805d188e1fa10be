/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

/* Where a link leads, so that the rename replaces the file and not the link. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

/* A file without a name, in the folder where it is to appear: who is killed leaves nothing. -errno where the
 * file system has no such files (NFS), or where they could not be named later. */
static int open_nameless(const char *real)
{
    const char *slash = strrchr(real, '/');
    CLEANUP_FREE char *folder = slash ? strndup(real, (size_t)(slash - real) + 1) : strdup(".");
    if (!folder)
        return -ENOMEM;
    if (access("/proc/self/fd", X_OK) < 0)
        return -errno;
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

static int open_beside(struct out *o, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        return o->fd < 0 ? -errno : 0;
    }
    o->real = resolve(path);
    if (!o->real)
        return -ENOMEM;
    o->fd = open_nameless(o->real);
    if (o->fd >= 0)
        return 0;
    if (asprintf(&o->temp, "%s.XXXXXX", o->real) < 0) {
        o->temp = NULL;
        return -ENOMEM;
    }
    o->fd = mkostemp(o->temp, O_CLOEXEC);
    if (o->fd < 0)
        return -errno;
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(o->fd, 0666 & ~mask) < 0 ? -errno : 0;
}

/* Names the nameless file, which cannot take the place of another: then it gets a name beside it. */
static int give_name(struct out *o)
{
    char proc[64];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", o->fd);
    if (linkat(AT_FDCWD, proc, AT_FDCWD, o->real, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (unsigned i = 0; errno == EEXIST && i < 100; i++) {
        char *temp;
        if (asprintf(&temp, "%s.%d-%u", o->real, (int)getpid(), i) < 0)
            return -ENOMEM;
        if (linkat(AT_FDCWD, proc, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0) {
            o->temp = temp;
            return 0;
        }
        free(temp);
    }
    return -errno;
}

static void release(struct out *o, bool remove_temp)
{
    if (o->fd >= 0)
        close(o->fd);
    if (o->temp && remove_temp)
        unlink(o->temp);
    free(o->temp);
    free(o->real);
    free(o->path);
    free(o->buffer);
    *o = (struct out){.fd = -1};
}

int out_open(struct out *o, const char *path, struct err *e)
{
    bool standard = !path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    *o = (struct out){.fd = -1};
    o->path = strdup(standard ? "standard output" : path);
    o->buffer = malloc(OUT_BUFFER_BYTES);
    int rc = o->path && o->buffer ? 0 : -ENOMEM;
    if (rc == 0 && standard) {
        o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        rc = o->fd < 0 ? -errno : 0;
    } else if (rc == 0) {
        rc = open_beside(o, path);
    }
    if (rc < 0) {
        bool made = o->fd >= 0;
        err_sys(e, rc, "cannot write '%s'", standard ? "standard output" : path);
        release(o, made);
    }
    return rc;
}

int out_open_fd(struct out *o, int fd, const char *name, struct err *e)
{
    *o = (struct out){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)};
    int rc = o->fd < 0 ? -errno : 0;
    o->path = strdup(name);
    o->buffer = malloc(OUT_BUFFER_BYTES);
    if (rc == 0 && !(o->path && o->buffer))
        rc = -ENOMEM;
    if (rc < 0) {
        err_sys(e, rc, "cannot write '%s'", name);
        release(o, false);
    }
    return rc;
}

static void write_out(struct out *o, const char *bytes, size_t len)
{
    while (len && !o->failed) {
        ssize_t n = write(o->fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            o->failed = errno;
            return;
        }
        bytes += n;
        len -= (size_t)n;
    }
}

static void flush(struct out *o)
{
    write_out(o, o->buffer, o->used);
    o->used = 0;
}

char *out_room(struct out *o, size_t len)
{
    if (o->used + len > OUT_BUFFER_BYTES)
        flush(o);
    return o->buffer + o->used;
}

void out_bytes(struct out *o, const char *bytes, size_t len)
{
    if (len > OUT_BUFFER_BYTES) {
        flush(o);
        write_out(o, bytes, len);
        return;
    }
    memcpy(out_room(o, len), bytes, len);
    o->used += len;
}

void out_printf(struct out *o, const char *fmt, ...)
{
    char *text;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        if (!o->failed)
            o->failed = ENOMEM;
        return;
    }
    out_bytes(o, text, (size_t)n);
    free(text);
}

char *out_u64(char *p, uint64_t value)
{
    char digits[20];
    int n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n)
        *p++ = digits[--n];
    return p;
}

int out_close(struct out *o, bool keep, struct err *e)
{
    int rc;
    flush(o);
    /* Pipes and terminals cannot be synced, and need not be. */
    if (!o->failed && o->real && keep && fsync(o->fd) < 0)
        o->failed = errno;
    if (!o->failed && o->real && !o->temp && keep && (rc = give_name(o)) < 0)
        o->failed = -rc;
    int fd = o->fd;
    o->fd = -1;
    if (close(fd) < 0 && !o->failed)
        o->failed = errno;
    if (!o->failed && o->temp && keep && rename(o->temp, o->real) < 0)
        o->failed = errno;
    rc = o->failed ? err_sys(e, o->failed, "cannot write '%s'", o->path) : 0;
    release(o, rc < 0 || !keep);
    return rc;
}
