/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/extents.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342 /* Linux: include/uapi/linux/magic.h, from 5.19 on */
#endif

#define MAPS        8 /* that differ; recorded I/Os are written seconds after they came */
#define BATCH       512
#define EXTENTS_MAX (4 << 20) /* 96 MiB */
#define REST_NS     (100 * NS_PER_MS)
#define REST_FACTOR 9 /* so much longer than reading the map took is waited until it is read again */

struct extent {
    uint64_t physical_bytes, file_bytes, len_bytes;
};

/* True from first_ns to last_ns. */
struct map {
    struct extent *list; /* by physical_bytes */
    size_t count;
    uint64_t first_ns, last_ns;
};

struct extents {
    int fd;
    dev_t device;
    ino_t inode;
    struct map maps[MAPS]; /* the last one is the newest */
    size_t count;
    off_t size_bytes; /* as the newest was read */
    blkcnt_t blocks;
    uint64_t again_ns; /* when it may be read again */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ---- reading a map ---- */

/* Places that are none, or not of whole blocks. */
#define NO_PLACE                                                                                             \
    (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_NOT_ALIGNED |    \
            FIEMAP_EXTENT_DATA_INLINE)

static int add_extent(struct map *m, size_t *room, const struct fiemap_extent *f)
{
    struct extent *last = m->count ? &m->list[m->count - 1] : NULL;
    if (f->fe_flags & NO_PLACE)
        return 0;
    if (last && last->physical_bytes + last->len_bytes == f->fe_physical &&
            last->file_bytes + last->len_bytes == f->fe_logical) {
        last->len_bytes += f->fe_length;
        return 0;
    }
    if (m->count == EXTENTS_MAX)
        return -E2BIG;
    if (m->count == *room) {
        *room = *room ? *room * 2 : 64;
        struct extent *more = reallocarray(m->list, *room, sizeof *more);
        if (!more)
            return -ENOMEM;
        m->list = more;
    }
    m->list[m->count++] = (struct extent){f->fe_physical, f->fe_logical, f->fe_length};
    return 0;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct extent *)a)->physical_bytes, y = ((const struct extent *)b)->physical_bytes;
    return (x > y) - (x < y);
}

static int read_map(int fd, struct map *m)
{
    size_t room = 0;
    uint64_t at = 0;
    CLEANUP_FREE struct fiemap *f = malloc(sizeof *f + BATCH * sizeof f->fm_extents[0]);
    for (bool more = f != NULL; more;) {
        memset(f, 0, sizeof *f);
        f->fm_start = at;
        f->fm_length = FIEMAP_MAX_OFFSET - at;
        f->fm_extent_count = BATCH;
        if (ioctl(fd, FS_IOC_FIEMAP, f) != 0)
            return -errno;
        more = f->fm_mapped_extents > 0;
        for (uint32_t i = 0; i < f->fm_mapped_extents && i < BATCH; i++) {
            const struct fiemap_extent *x = &f->fm_extents[i];
            int status = add_extent(m, &room, x);
            if (status < 0)
                return status;
            at = x->fe_logical + x->fe_length;
            more = !(x->fe_flags & FIEMAP_EXTENT_LAST);
        }
    }
    if (m->count)
        qsort(m->list, m->count, sizeof *m->list, by_place);
    return f ? 0 : -ENOMEM;
}

static bool same_map(const struct map *a, const struct map *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->list, b->list, a->count * sizeof *a->list) == 0);
}

static void keep_map(struct extents *x, struct map *m)
{
    struct map *newest = x->count ? &x->maps[x->count - 1] : NULL;
    if (newest && same_map(newest, m)) {
        newest->last_ns = m->last_ns;
        free(m->list);
        return;
    }
    if (x->count == MAPS) {
        free(x->maps[0].list);
        memmove(x->maps, x->maps + 1, (MAPS - 1) * sizeof x->maps[0]);
        x->count--;
    }
    x->maps[x->count++] = *m;
}

/* A map is not read in one moment: it is true, if at all, when reading it began. */
static int take_map(struct extents *x)
{
    struct stat st;
    struct map m = {.first_ns = now_ns()};
    m.last_ns = m.first_ns;
    int status = fstat(x->fd, &st) == 0 ? read_map(x->fd, &m) : -errno;
    uint64_t end_ns = now_ns();
    x->again_ns = end_ns + REST_NS + REST_FACTOR * (end_ns - m.first_ns);
    if (status < 0) {
        free(m.list);
        return status;
    }
    x->size_bytes = st.st_size;
    x->blocks = st.st_blocks;
    keep_map(x, &m);
    return 0;
}

bool extents_refresh(struct extents *x)
{
    return now_ns() >= x->again_ns && take_map(x) == 0;
}

bool extents_stale(const struct extents *x)
{
    struct stat st;
    return fstat(x->fd, &st) == 0 && (st.st_size != x->size_bytes || st.st_blocks != x->blocks);
}

uint64_t extents_read_ns(const struct extents *x)
{
    return x->maps[x->count - 1].last_ns;
}

/* ---- opening ---- */

/* Why the places in maps of this file system are not places of one block device; NULL where they are. */
static const char *why_not(unsigned long type)
{
    switch (type) {
    case EXT4_SUPER_MAGIC: /* ext2 and ext3, too */
    case XFS_SUPER_MAGIC:
        return NULL;
    case BTRFS_SUPER_MAGIC:
        return "btrfs, whose files' places are addresses of its own, on one device or several: record the "
               "devices below it with --disk";
    case OVERLAYFS_SUPER_MAGIC:
        return "an overlay: name the file of the layer that it is in";
    case NFS_SUPER_MAGIC:
        return "NFS, not on a disk of this host: record on the server, or inside the guest with --disk";
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case HUGETLBFS_MAGIC:
        return "a file system in memory, below which there is no disk: attach a loop device to the file and "
               "record that with --disk";
    default:
        return "a file system that does not tell places on one block device (ext2, ext3, ext4 and XFS do): "
               "record the device below it with --disk, or attach a loop device to the file and use that";
    }
}

static int check_file(struct extents *x, const char *path, struct err *e)
{
    struct stat st;
    struct statfs fs;
    if (fstat(x->fd, &st) != 0 || fstatfs(x->fd, &fs) != 0)
        return err_sys(e, errno, "cannot record '%s'", path);
    if (S_ISBLK(st.st_mode))
        return err_set(e, EINVAL, "cannot record '%s' as a file: it is a block device: use --disk", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "cannot record '%s': not a regular file", path);
    const char *why = why_not((unsigned long)fs.f_type);
    if (why)
        return err_set(e, EOPNOTSUPP, "cannot record '%s': it is on %s", path, why);
    struct fsxattr attributes;
    if (ioctl(x->fd, FS_IOC_FSGETXATTR, &attributes) == 0 && attributes.fsx_xflags & FS_XFLAG_REALTIME)
        return err_set(e, EOPNOTSUPP,
                "cannot record '%s': it is on the realtime device of an XFS: record that with --disk", path);
    x->device = st.st_dev;
    x->inode = st.st_ino;
    return 0;
}

static void cleanup_extents(struct extents **x)
{
    extents_close(*x);
}

int extents_open(struct extents **out, const char *path, struct err *e)
{
    CLEANUP(cleanup_extents) struct extents *x = calloc(1, sizeof *x);
    if (!x)
        return err_sys(e, ENOMEM, "cannot record '%s'", path);
    x->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (x->fd < 0)
        return err_sys(e, errno, "cannot record '%s'", path);
    int status = check_file(x, path, e);
    if (status < 0)
        return status;
    status = take_map(x);
    if (status == -E2BIG)
        return err_set(e, E2BIG, "cannot record '%s': it is in more than %d pieces", path, EXTENTS_MAX);
    if (status < 0)
        return err_sys(e, status, "cannot find out where '%s' lies", path);
    *out = take_ptr(x);
    return 0;
}

void extents_close(struct extents *x)
{
    if (!x)
        return;
    cleanup_fd(&x->fd);
    for (size_t i = 0; i < x->count; i++)
        free(x->maps[i].list);
    free(x);
}

dev_t extents_device(const struct extents *x)
{
    return x->device;
}

ino_t extents_inode(const struct extents *x)
{
    return x->inode;
}

/* ---- finding ---- */

/* The first extent that ends behind `at`. */
static size_t first_behind(const struct map *m, uint64_t at)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->list[middle].physical_bytes + m->list[middle].len_bytes > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The bytes of `at`..`end` that are the file's; adds them where `p` is not NULL. */
static int64_t cover(
        const struct map *m, uint64_t at, uint64_t end, uint32_t stream, struct pieces *p, struct err *e)
{
    uint64_t covered = 0;
    for (size_t i = first_behind(m, at); i < m->count && m->list[i].physical_bytes < end; i++) {
        const struct extent *x = &m->list[i];
        uint64_t from = x->physical_bytes > at ? x->physical_bytes : at;
        uint64_t to = x->physical_bytes + x->len_bytes < end ? x->physical_bytes + x->len_bytes : end;
        if (from >= to)
            continue; /* shared by two places of the file: the first one is it */
        int status = p ? pieces_add(p, stream, x->file_bytes + (from - x->physical_bytes), to - from, e) : 0;
        if (status < 0)
            return status;
        covered += to - from;
        at = to;
    }
    return (int64_t)covered;
}

/* The newest map that is not younger than t. */
static size_t map_at(const struct extents *x, uint64_t t_ns)
{
    size_t i = x->count - 1;
    while (i > 0 && x->maps[i].first_ns > t_ns)
        i--;
    return i;
}

int64_t extents_find(const struct extents *x, uint64_t t_ns, uint64_t at_bytes, uint64_t len_bytes,
        uint32_t stream, struct pieces *p, struct err *e)
{
    uint64_t end = at_bytes + len_bytes;
    size_t i = map_at(x, t_ns);
    if (end < at_bytes)
        return 0;
    if (t_ns > x->maps[i].last_ns && i + 1 < x->count &&
            cover(&x->maps[i + 1], at_bytes, end, 0, NULL, NULL) >=
                    cover(&x->maps[i], at_bytes, end, 0, NULL, NULL))
        i++;
    return cover(&x->maps[i], at_bytes, end, stream, p, e);
}
