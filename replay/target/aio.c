/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Block devices and files, with O_DIRECT.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "replay/blkid.h"
#include "replay/target/aio.h"

extern const struct target_ops target_aio;

static struct aio_target *aio_of(struct target *t)
{
    return (struct aio_target *)t;
}

static void aio_close(struct target *t)
{
    struct aio_target *a = aio_of(t);
    if (a->fd >= 0)
        close(a->fd);
    claims_release(&a->claims);
    free(a->path);
    free(a->base.url);
    free(a);
}

/* What O_DIRECT demands of a file: statx(2), STATX_DIOALIGN, since Linux 6.1. */
static uint32_t file_sector_bytes(int fd)
{
#ifdef STATX_DIOALIGN
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) == 0 && (sx.stx_mask & STATX_DIOALIGN) &&
            sx.stx_dio_offset_align >= 512 && (sx.stx_dio_offset_align & (sx.stx_dio_offset_align - 1)) == 0)
        return sx.stx_dio_offset_align;
#else
    (void)fd;
#endif
    return 512;
}

static int open_fd(struct aio_target *a, int flags, struct err *e)
{
    int mode = a->read_only ? O_RDONLY : O_RDWR;
    a->fd = open(a->path, mode | O_DIRECT | O_CLOEXEC | flags, 0600);
    if (a->fd >= 0)
        return 0;
    if (errno == EBUSY)
        return claims_explain(a->path, e);
    if (errno == EINVAL)
        return err_set(e, EINVAL, "cannot open '%s': its file system has no direct I/O (O_DIRECT)", a->path);
    return err_sys(e, errno, "cannot open '%s'", a->path);
}

/* What was opened is what was looked at: a link in the path may have been changed in between. */
static int check_opened(const struct aio_target *a, const struct stat *looked_at, struct err *e)
{
    struct stat st;
    if (fstat(a->fd, &st) < 0)
        return err_sys(e, errno, "cannot look at '%s'", a->path);
    if (st.st_dev != looked_at->st_dev || st.st_ino != looked_at->st_ino || st.st_rdev != looked_at->st_rdev)
        return err_set(e, EBUSY, "'%s' was replaced by something else while it was opened", a->path);
    return 0;
}

/* A virtual machine's image is locked as a rule (QEMU's file-posix.c: open file description locks on some of
 * its bytes), and so are other iotapes' (flock). Where a file system has no locks, there is nothing to know.
 */
static int lock_file(struct aio_target *a, struct err *e)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (a->read_only)
        return 0;
    if ((flock(a->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) ||
            (fcntl(a->fd, F_OFD_SETLK, &all) < 0 && (errno == EAGAIN || errno == EACCES)))
        return err_set(e, EBUSY, "'%s' is in use: another program has locked it", a->path);
    return 0;
}

static int open_block(struct aio_target *a, const struct stat *st, struct err *e)
{
    uint64_t size;
    int sector;
    int protected = 0;
    int r = a->read_only ? 0 : claims_take(&a->claims, a->path, e);
    if (r == 0)
        r = open_fd(a, a->read_only ? 0 : O_EXCL, e);
    if (r == 0)
        r = check_opened(a, st, e);
    if (r == 0)
        r = lock_file(a, e);
    if (r < 0)
        return r;
    if (ioctl(a->fd, BLKGETSIZE64, &size) < 0 || ioctl(a->fd, BLKSSZGET, &sector) < 0)
        return err_sys(e, errno, "cannot find the size of '%s'", a->path);
    if (size == 0 || sector < 512)
        return err_set(e, ENXIO, "'%s' has no size: nothing is attached to it", a->path);
    /* The kernel lets it be opened for writing, and fails the writes. */
    if (!a->read_only && ioctl(a->fd, BLKROGET, &protected) == 0 && protected)
        return err_set(e, EROFS, "'%s' is write-protected (--read-only replays its reads)", a->path);
    a->is_block = true;
    a->base.size_bytes = size;
    a->base.sector_bytes = (uint32_t)sector;
    return 0;
}

static int open_file(struct aio_target *a, const struct stat *st, struct err *e)
{
    int r = a->read_only ? 0 : claims_take(&a->claims, a->path, e);
    if (r == 0)
        r = open_fd(a, 0, e);
    if (r == 0)
        r = check_opened(a, st, e);
    if (r == 0)
        r = lock_file(a, e);
    if (r < 0)
        return r;
    a->base.sector_bytes = file_sector_bytes(a->fd);
    a->base.size_bytes = (uint64_t)st->st_size;
    if (st->st_size == 0 && !a->read_only) {
        a->base.absent = true;
        a->base.size_bytes = TARGET_ENDLESS;
    }
    return 0;
}

static int open_absent(struct aio_target *a, struct err *e)
{
    CLEANUP_FREE char *copy = strdup(a->path); /* dirname cuts it */
    if (!copy)
        return err_sys(e, ENOMEM, "cannot open '%s'", a->path);
    if (a->read_only || strncmp(a->path, "/dev/", 5) == 0 || a->path[strlen(a->path) - 1] == '/')
        return err_sys(e, ENOENT, "cannot open '%s'", a->path);
    if (access(dirname(copy), W_OK | X_OK) < 0) /* now: a dry run creates nothing */
        return err_sys(e, errno, "cannot create '%s'", a->path);
    a->base.absent = true;
    a->base.size_bytes = TARGET_ENDLESS;
    a->base.sector_bytes = 512;
    return 0;
}

static int open_path(struct aio_target *a, struct err *e)
{
    struct stat st;
    if (stat(a->path, &st) < 0)
        return errno == ENOENT ? open_absent(a, e) : err_sys(e, errno, "cannot open '%s'", a->path);
    if (S_ISBLK(st.st_mode))
        return open_block(a, &st, e);
    if (S_ISREG(st.st_mode))
        return open_file(a, &st, e);
    return err_set(e, EINVAL, "'%s' is neither a block device nor a regular file", a->path);
}

static int aio_open(struct target **out, const char *url, const struct target_options *o, struct err *e)
{
    const char *path = strncmp(url, "aio:", 4) == 0 ? url + 4 : url;
    if (!*path)
        return err_set(e, EINVAL, "target '%s' names no path", url);
    struct aio_target *a = calloc(1, sizeof *a);
    if (!a)
        return err_sys(e, ENOMEM, "cannot open '%s'", path);
    a->base.ops = &target_aio;
    a->fd = -1;
    a->read_only = o->read_only;
    a->path = strdup(path);
    a->base.url = strdup(url);
    int r = a->path && a->base.url ? open_path(a, e) : err_sys(e, ENOMEM, "cannot open '%s'", path);
    if (r < 0) {
        aio_close(&a->base);
        return r;
    }
    *out = &a->base;
    return 0;
}

static int aio_create(struct target *t, uint64_t size_bytes, struct err *e)
{
    struct aio_target *a = aio_of(t);
    int r = a->fd < 0 ? open_fd(a, O_CREAT | O_EXCL, e) : 0;
    if (r == 0)
        r = lock_file(a, e);
    if (r < 0)
        return r;
    t->sector_bytes = file_sector_bytes(a->fd);
    size_bytes &= ~(uint64_t)(t->sector_bytes - 1);
    if (ftruncate(a->fd, (off_t)size_bytes) < 0)
        return err_sys(e, errno, "cannot make '%s' %llu bytes long", a->path, (unsigned long long)size_bytes);
    t->size_bytes = size_bytes;
    t->absent = false;
    return 0;
}

static int aio_describe(struct target *t, struct facts *f, struct err *e)
{
    struct aio_target *a = aio_of(t);
    struct tape_stream s = {0};
    const uint8_t salt[16] = {0};
    int r = host_stream(a->path, salt, &s, e);
    if (r == 0)
        r = facts_merge(f, &s.device, "", e);
    if (r == 0)
        r = facts_set(f, e, "type", "%s", a->is_block ? "block device" : "file");
    tape_stream_release(&s);
    return r;
}

/* What is held, whatever its path leads to by now (proc_pid_fd(5)). */
static void held_path(const struct aio_target *a, char path[32])
{
    snprintf(path, 32, "/proc/self/fd/%d", a->fd);
}

static int aio_signature(struct target *t, char *text, size_t text_bytes, struct err *e)
{
    char path[32];
    held_path(aio_of(t), path);
    return blkid_signature(path, text, text_bytes, e);
}

static int aio_place(struct target *t, struct disk_place *place, struct err *e)
{
    char path[32];
    held_path(aio_of(t), path);
    return disk_place_of(path, place, e);
}

/* ---- what libaio cannot do ---- */

static int64_t punch(const struct aio_target *a, const struct target_io *io)
{
    bool discard = io->op == BLOCK_DISCARD;
    int r;
    if (a->is_block) {
        uint64_t range[2] = {io->offset_bytes, io->len_bytes};
        r = ioctl(a->fd, discard ? BLKDISCARD : BLKZEROOUT, range);
    } else {
        int mode = discard ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE;
        r = fallocate(a->fd, mode | FALLOC_FL_KEEP_SIZE, (off_t)io->offset_bytes, (off_t)io->len_bytes);
    }
    return r < 0 ? -errno : 0;
}

static int64_t write_at(const struct aio_target *a, const struct target_io *io)
{
    struct iovec v = {io->data, io->len_bytes};
    ssize_t n = pwritev2(a->fd, &v, 1, (off_t)io->offset_bytes, io->fua ? RWF_DSYNC : 0);
    return n < 0 ? -errno : n;
}

int64_t aio_perform(const struct target_io *io)
{
    const struct aio_target *a = (const struct aio_target *)io->target;
    if ((io->preflush || io->op == BLOCK_FLUSH) && fdatasync(a->fd) < 0)
        return -errno;
    switch (io->op) {
    case BLOCK_WRITE:
        return write_at(a, io);
    case BLOCK_DISCARD:
    case BLOCK_WRITE_ZEROES:
        return io->len_bytes ? punch(a, io) : 0;
    case BLOCK_FLUSH:
        return 0;
    }
    return -EOPNOTSUPP;
}

static const char *const prefixes[] = {"aio:", NULL};

const struct target_ops target_aio = {
        .name = "aio",
        .help = "PATH, aio:PATH   a block device, or a file (created where absent), by libaio with O_DIRECT",
        .prefixes = prefixes,
        .stores = true,
        .open = aio_open,
        .close = aio_close,
        .create = aio_create,
        .describe = aio_describe,
        .signature = aio_signature,
        .place = aio_place,
        .queue_open = aio_queue_open,
        .queue_close = aio_queue_close,
        .submit = aio_submit,
        .reap = aio_reap,
};
