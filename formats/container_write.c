/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/container.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/container_end.h"
#include "formats/digest.h"

struct container_writer {
    char *path, *partial;
    int fd;
    struct archive_out *archive;
    struct member *members;
    size_t count, cap;
    bool finished;
};

/* The rename at the end would replace a device node, and fail on a directory. */
static int check_place(const char *path, struct err *e)
{
    struct stat st;
    if (!*path)
        return err_sys(e, ENOENT, "cannot create '%s'", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "cannot create '%s': something is there that is no regular file", path);
    return 0;
}

static int begin_partial(struct container_writer *w, struct err *e)
{
    int r = check_place(w->path, e);
    if (r < 0)
        return r;
    w->fd = open(w->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (w->fd >= 0) {
        flock(w->fd,
                LOCK_EX | LOCK_NB); /* tells others that somebody is at it; no file system must have locks */
        return archive_out_open(&w->archive, w->fd, e);
    }
    if (errno == EEXIST)
        return err_set(e, EEXIST,
                "'%s' exists: it is unfinished, or is being written; keep it under another name, or remove "
                "it",
                w->partial);
    return err_sys(e, errno, "cannot create '%s'", w->partial);
}

int container_create(struct container_writer **out, const char *path, struct err *e)
{
    struct container_writer *w = calloc(1, sizeof *w);
    if (!w)
        return err_sys(e, ENOMEM, "cannot create '%s'", path);
    w->fd = -1;
    w->path = strdup(path);
    if (asprintf(&w->partial, "%s.partial", path) < 0)
        w->partial = NULL;
    int r = w->path && w->partial ? begin_partial(w, e) : err_sys(e, ENOMEM, "cannot create '%s'", path);
    if (r < 0) {
        container_writer_close(w, w->fd >= 0);
        return r;
    }
    *out = w;
    return 0;
}

static int grow(struct container_writer *w, struct err *e)
{
    if (w->count < w->cap)
        return 0;
    size_t cap = w->cap ? w->cap * 2 : 64;
    struct member *members = reallocarray(w->members, cap, sizeof *members);
    if (!members)
        return err_sys(e, ENOMEM, "cannot hold the index of '%s'", w->partial);
    w->members = members;
    w->cap = cap;
    return 0;
}

int container_add(struct container_writer *w, const char *name, const struct bytes *body,
        const struct member_extent *extent, struct err *e)
{
    uint64_t limit = strcmp(name, CONTAINER_INDEX) == 0 ? CONTAINER_INDEX_MAX : CONTAINER_MEMBER_MAX;
    if (body->len > limit)
        return err_set(e, EFBIG, "%s: member '%s' would have %zu bytes", w->partial, name, body->len);
    int r = grow(w, e);
    if (r < 0)
        return r;
    struct member m = {.offset_bytes = archive_out_bytes(w->archive),
            .size_bytes = body->len,
            .digest = digest64(body->data, body->len)};
    snprintf(m.name, sizeof m.name, "%s", name);
    if (extent)
        m.extent = *extent;
    r = archive_out_add(w->archive, name, body->data, body->len, e);
    if (r < 0)
        return err_prefix(e, "%s", w->partial);
    w->members[w->count++] = m;
    return 0;
}

size_t container_written(const struct container_writer *w, const struct member **members)
{
    *members = w->members;
    return w->count;
}

uint64_t container_bytes(const struct container_writer *w)
{
    return archive_out_bytes(w->archive);
}

static void pack_member(struct packer *p, const struct member *m)
{
    pack_array(p, 8);
    pack_str(p, m->name);
    pack_uint(p, m->offset_bytes);
    pack_uint(p, m->size_bytes);
    pack_fixed_uint(p, m->digest);
    pack_uint(p, m->extent.first);
    pack_uint(p, m->extent.count);
    pack_uint(p, m->extent.begin_ns);
    pack_uint(p, m->extent.end_ns);
}

static int write_index(struct container_writer *w, const struct bytes *totals, struct err *e)
{
    CLEANUP(bytes_release) struct bytes index = {0}, last = {0};
    struct packer p = {.out = &index};
    pack_map(&p, 3);
    pack_str(&p, "members");
    pack_array(&p, w->count);
    for (size_t i = 0; i < w->count; i++)
        pack_member(&p, &w->members[i]);
    pack_str(&p, "totals");
    pack_raw(&p, totals);
    pack_seal(&p);
    int r = packer_end(&p, e);
    if (r < 0)
        return r;
    r = container_add(w, CONTAINER_INDEX, &index, NULL, e);
    if (r < 0)
        return r;
    const struct member *m = &w->members[w->count - 1];
    struct container_end end = {m->offset_bytes, m->size_bytes, m->digest};
    r = container_end_pack(&end, &last, e);
    return r < 0 ? r : container_add(w, CONTAINER_END, &last, NULL, e);
}

/* Without this the rename may be lost with the power, though the content is not. */
static int sync_folder(const char *path, struct err *e)
{
    CLEANUP_FREE char *copy = strdup(path);
    if (!copy)
        return err_sys(e, ENOMEM, "cannot sync the folder of '%s'", path);
    const char *folder = dirname(copy);
    CLEANUP_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "cannot open the folder '%s'", folder);
    if (fsync(fd) < 0 && errno != EINVAL && errno != EROFS) /* file systems that cannot sync a folder */
        return err_sys(e, errno, "cannot sync the folder '%s'", folder);
    return 0;
}

int container_finish(struct container_writer *w, const struct bytes *totals, struct err *e)
{
    int r = write_index(w, totals, e);
    if (r < 0)
        return r;
    r = archive_out_finish(w->archive, e);
    if (r < 0)
        return err_prefix(e, "%s", w->partial);
    if (fsync(w->fd) < 0)
        return err_sys(e, errno, "cannot sync '%s'", w->partial);
    int fd = take_fd(&w->fd);
    if (close(fd) < 0)
        return err_sys(e, errno, "cannot close '%s'", w->partial);
    if (rename(w->partial, w->path) < 0)
        return err_sys(e, errno, "cannot rename '%s' to '%s'", w->partial, w->path);
    w->finished = true;
    return sync_folder(w->path, e);
}

void container_writer_close(struct container_writer *w, bool discard)
{
    if (!w)
        return;
    archive_out_close(w->archive);
    if (w->fd >= 0)
        close(w->fd);
    if (discard && !w->finished && w->partial)
        unlink(w->partial);
    free(w->members);
    free(w->partial);
    free(w->path);
    free(w);
}
