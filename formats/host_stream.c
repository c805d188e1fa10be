/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host.h"
#include "formats/host_sys.h"

/* Facts that are one small file in sysfs: key, file below the whole disk's directory. */
static const struct {
    const char *key, *file;
} disk_files[] = {
        {"vendor", "device/vendor"},
        {"model", "device/model"},
        {"firmware", "device/firmware_rev"},
        {"transport", "device/transport"},
        {"rotational", "queue/rotational"},
        {"scheduler", "queue/scheduler"},
        {"logical_block_bytes", "queue/logical_block_size"},
        {"physical_block_bytes", "queue/physical_block_size"},
        {"write_cache", "queue/write_cache"},
        {"fua", "queue/fua"},
        {"queue_requests", "queue/nr_requests"},
        {"max_request_kib", "queue/max_sectors_kb"},
        {"discard_max_bytes", "queue/discard_max_bytes"},
        {"write_zeroes_max_bytes", "queue/write_zeroes_max_bytes"},
        {"zoned", "queue/zoned"},
        {"md_level", "md/level"},
        {"md_disks", "md/raid_disks"},
        {"loop_direct_io", "loop/dio"},
        {"zram_compressor", "comp_algorithm"},
};

/* "loop", "virtblk", "sd", ...: the name that /proc/devices has for the major number. */
static int describe_driver(dev_t disk, struct facts *f, struct err *e)
{
    CLEANUP_FILE FILE *in = fopen("/proc/devices", "re");
    char line[256], name[128];
    unsigned number;
    bool block = false;

    while (in && fgets(line, sizeof line, in)) {
        block |= strncmp(line, "Block devices", 13) == 0;
        if (block && sscanf(line, "%u %127s", &number, name) == 2 && number == major(disk))
            return facts_set(f, e, "driver", "%s", name);
    }
    return 0;
}

/* The kind of a device-mapper device is what stands before the first dash of its UUID ("LVM", "CRYPT",
 * "mpath"); its name and the rest are personal. */
static int describe_mapper(const char *dir, struct facts *f, struct err *e)
{
    char text[256];

    if (!sys_text(text, sizeof text, "%s/dm/uuid", dir) || !strchr(text, '-'))
        return 0;
    *strchr(text, '-') = '\0';
    return facts_set(f, e, "dm", "%s", text);
}

static int describe_partition(const char *dir, struct facts *f, struct err *e)
{
    uint64_t start, sectors;
    int rc = 0;

    if (sys_number(&start, "%s/start", dir))
        rc = facts_set(f, e, "partition_start_bytes", "%" PRIu64, start * 512);
    if (!rc && sys_number(&sectors, "%s/size", dir))
        rc = facts_set(f, e, "partition_bytes", "%" PRIu64, sectors * 512);
    return rc;
}

/* The file system that a file, or the backing file of a loop device, lies on. */
static int describe_backing(const char *path, struct facts *f, struct err *e)
{
    struct statx sx;

    if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_MNT_ID, &sx) != 0 || !S_ISREG(sx.stx_mode))
        return 0;
    return sys_describe_mount(makedev(sx.stx_dev_major, sx.stx_dev_minor),
            sx.stx_mask & STATX_MNT_ID ? sx.stx_mnt_id : 0, f, e);
}

static int describe_disk(const char *dir, dev_t disk, struct facts *f, struct err *e)
{
    char text[4096];
    int rc = describe_driver(disk, f, e);

    for (size_t i = 0; !rc && i < sizeof disk_files / sizeof *disk_files; i++)
        if (sys_text(text, sizeof text, "%s/%s", dir, disk_files[i].file))
            rc = facts_set(f, e, disk_files[i].key, "%s", sys_chosen(text));
    if (!rc)
        rc = describe_mapper(dir, f, e);
    if (!rc && sys_text(text, sizeof text, "%s/loop/backing_file", dir))
        rc = describe_backing(text, f, e);
    if (!rc)
        rc = sys_describe_throttles(disk, f, e);
    return rc;
}

static dev_t device_of_dir(const char *dir)
{
    char text[64];
    unsigned ma, mi;

    return sys_text(text, sizeof text, "%s/dev", dir) && sscanf(text, "%u:%u", &ma, &mi) == 2
                   ? makedev(ma, mi)
                   : 0;
}

static int describe_block(dev_t device, struct facts *f, char **name, struct err *e)
{
    char dir[SYS_DIR_BYTES];
    int rc = 0;

    if (!sys_block_dir(device, dir))
        return 0; /* disk_place_of has refused it before */
    *name = strdup(strrchr(dir, '/') + 1);
    if (!*name)
        return err_sys(e, ENOMEM, "cannot keep a device's name");
    if (sys_is_partition(dir))
        rc = describe_partition(dir, f, e);
    sys_disk_dir(dir);
    return rc ? rc : describe_disk(dir, device_of_dir(dir), f, e);
}

int host_device(dev_t device, struct facts *f, struct err *e)
{
    CLEANUP_FREE char *name = NULL;

    return describe_block(device, f, &name, e);
}

static int describe_file(const char *path, struct facts *f, char **name, struct err *e)
{
    int rc = facts_set(f, e, "driver", "file");

    *name = strdup("file"); /* its own name is personal */
    if (!*name)
        return err_sys(e, ENOMEM, "cannot keep a file's name");
    return rc ? rc : describe_backing(path, f, e);
}

int host_stream(const char *path, const uint8_t salt[16], struct tape_stream *s, struct err *e)
{
    struct tape_stream n = {0};
    struct disk_place place;
    int rc = disk_place_of(path, &place, e);

    if (rc)
        return rc;
    n.capacity_bytes = place.size_bytes;
    n.sector_bytes = place.sector_bytes;
    n.disk_start_bytes = place.start_bytes;
    disk_id_hash(salt, place.id, n.disk_hash);
    rc = place.is_block ? describe_block(place.device, &n.device, &n.name, e)
                        : describe_file(path, &n.device, &n.name, e);
    if (rc) {
        free(n.name);
        facts_release(&n.device);
        return rc;
    }
    *s = n;
    return 0;
}
