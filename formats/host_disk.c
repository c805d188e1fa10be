/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which whole disk a path lies on. Partitions and loop devices are followed down to what they lie on, so
 * that /dev/loop0, a partition of it and its backing file are the same place; files of an overlay are those
 * of its layers.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host.h"
#include "formats/host_sys.h"

#define SECTOR     512u /* the unit of "start" and "size" in sysfs, whatever the device's sectors */
#define LAYERS_MAX 16

/* What a loop device lies on: a file, or another block device (then `device` is not 0). */
struct loop_backing {
    dev_t file_device, device;
    uint64_t inode, offset_bytes;
};

/* The kernel's own answer; it needs the right to open the device. */
static bool loop_by_ioctl(const char *name, struct loop_backing *b)
{
    char path[64];
    struct loop_info64 info;
    CLEANUP_FD int fd = -1;

    if ((size_t)snprintf(path, sizeof path, "/dev/%s", name) >= sizeof path)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, LOOP_GET_STATUS64, &info) != 0)
        return false;
    *b = (struct loop_backing){info.lo_device, info.lo_rdevice, info.lo_inode, info.lo_offset};
    return true;
}

/* For others than root: by the name in sysfs, which another mount namespace may not know. */
static bool loop_by_sysfs(const char *dir, struct loop_backing *b)
{
    char path[4096];
    struct stat st;

    if (!sys_text(path, sizeof path, "%s/loop/backing_file", dir) || stat(path, &st) != 0)
        return false;
    *b = (struct loop_backing){
            .file_device = st.st_dev, .device = S_ISBLK(st.st_mode) ? st.st_rdev : 0, .inode = st.st_ino};
    return sys_number(&b->offset_bytes, "%s/loop/offset", dir);
}

static void id_of_file(struct disk_place *p, dev_t device, uint64_t inode)
{
    snprintf(p->id, sizeof p->id, "file:%u:%u:%" PRIu64, major(device), minor(device), inode);
}

/* The most lasting identity that sysfs has for the whole disk in `dir`. The last resort is the disk's own
 * number, never that of a partition of it: they are one place. */
static void id_of_disk(struct disk_place *p, const char *dir)
{
    static const struct {
        const char *kind, *file;
    } known[] = {{"dm", "dm/uuid"}, {"md", "md/uuid"}, {"wwid", "wwid"}, {"wwid", "device/wwid"},
            {"serial", "serial"}, {"serial", "device/serial"}, {"cid", "device/cid"}};
    char text[400];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!sys_text(text, sizeof text, "%s/%s", dir, known[i].file))
            continue;
        snprintf(p->id, sizeof p->id, "%s:%s", known[i].kind, text);
        return;
    }
    sys_text(text, sizeof text, "%s/dev", dir);
    snprintf(p->id, sizeof p->id, "dev:%s", text);
}

/* The file behind a loop device that is attached to a file of an overlay is the layer's. */
static void loop_through_overlay(const char *dir, struct loop_backing *b)
{
    char path[SYS_PATH_BYTES], real[SYS_PATH_BYTES];
    struct stat st;

    if (b->device || !sys_text(path, sizeof path, "%s/loop/backing_file", dir) || stat(path, &st) != 0 ||
            st.st_dev != b->file_device || st.st_ino != b->inode)
        return;
    if (!sys_overlay_real(path, real) || stat(real, &st) != 0)
        return;
    b->file_device = st.st_dev;
    b->inode = st.st_ino;
}

/* Follows `device` down; adds to start_bytes and fills in the id. */
static int follow(dev_t device, struct disk_place *p, struct err *e)
{
    for (int layer = 0; layer < LAYERS_MAX; layer++) {
        char dir[SYS_DIR_BYTES];
        struct loop_backing b;
        uint64_t start = 0;
        if (!sys_block_dir(device, dir)) {
            snprintf(p->id, sizeof p->id, "dev:%u:%u", major(device), minor(device));
            return 0;
        }
        if (sys_is_partition(dir)) {
            sys_number(&start, "%s/start", dir);
            p->start_bytes += start * SECTOR;
            sys_disk_dir(dir);
        }
        const char *name = strrchr(dir, '/') + 1;
        if (strncmp(name, "loop", 4) != 0 || (!loop_by_ioctl(name, &b) && !loop_by_sysfs(dir, &b))) {
            id_of_disk(p, dir);
            return 0;
        }
        loop_through_overlay(dir, &b);
        p->start_bytes += b.offset_bytes;
        if (!b.device) {
            id_of_file(p, b.file_device, b.inode);
            return 0;
        }
        device = b.device;
    }
    return err_set(e, ELOOP, "more than %d loop devices on each other", LAYERS_MAX);
}

static void sector_sizes(dev_t device, struct disk_place *p)
{
    char dir[SYS_DIR_BYTES];
    uint64_t n;

    p->sector_bytes = p->physical_sector_bytes = SECTOR;
    if (!device || !sys_block_dir(device, dir))
        return;
    sys_disk_dir(dir);
    if (sys_number(&n, "%s/queue/logical_block_size", dir) && n >= SECTOR && n <= UINT32_MAX)
        p->sector_bytes = (uint32_t)n;
    p->physical_sector_bytes = p->sector_bytes;
    if (sys_number(&n, "%s/queue/physical_block_size", dir) && n >= p->sector_bytes && n <= UINT32_MAX)
        p->physical_sector_bytes = (uint32_t)n;
}

static int place_block(const char *path, dev_t device, struct disk_place *p, struct err *e)
{
    char dir[SYS_DIR_BYTES];
    uint64_t sectors;
    int rc;

    p->is_block = true;
    p->device = device;
    if (!sys_block_dir(device, dir) || !sys_number(&sectors, "%s/size", dir))
        return err_set(e, ENODEV, "cannot find the size of '%s': sysfs does not know block device %u:%u",
                path, major(device), minor(device));
    p->size_bytes = sectors * SECTOR;
    sector_sizes(device, p);
    rc = follow(device, p, e);
    return rc ? err_prefix(e, "'%s'", path) : 0;
}

int disk_place_of(const char *path, struct disk_place *place, struct err *e)
{
    struct disk_place p = {0};
    struct stat st;
    char real[SYS_PATH_BYTES];

    if (stat(path, &st) != 0)
        return err_sys(e, errno, "cannot look at '%s'", path);
    if (S_ISBLK(st.st_mode)) {
        int rc = place_block(path, st.st_rdev, &p, e);
        if (rc)
            return rc;
    } else if (S_ISREG(st.st_mode)) {
        if (sys_overlay_real(path, real) && stat(real, &st) != 0)
            return err_sys(e, errno, "cannot look at '%s'", real);
        p.size_bytes = (uint64_t)st.st_size;
        id_of_file(&p, st.st_dev, st.st_ino);
        sector_sizes(st.st_dev, &p); /* of the disk below its file system, where there is one */
    } else {
        return err_set(e, EINVAL, "'%s' is neither a block device nor a regular file", path);
    }
    *place = p;
    return 0;
}

void disk_id_hash(const uint8_t salt[16], const char *id, char hash[65])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX sha;

    SHA256Init(&sha);
    SHA256Update(&sha, salt, 16);
    SHA256Update(&sha, (const uint8_t *)id, strlen(id));
    SHA256Final(digest, &sha);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}
