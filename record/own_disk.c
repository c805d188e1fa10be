/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/own_disk.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host_sys.h"

#define DEPTH_MAX 16 /* file systems in files in file systems ... */

static int add_path(struct own_disk *own, const char *path, int depth);

/* False where it was there already or there is no more room. */
static bool add(struct own_disk *own, dev_t dev)
{
    for (size_t i = 0; i < own->count; i++)
        if (own->devices[i] == dev)
            return false;
    if (own->count == OWN_DISK_DEVICES)
        return false;
    own->devices[own->count++] = dev;
    return true;
}

/* The device whose number stands in a file of sysfs. */
static bool read_dev(const char *path, dev_t *dev)
{
    unsigned major_number, minor_number;
    char text[64];
    if (!sys_text(text, sizeof text, "%s", path) || sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
        return false;
    *dev = makedev(major_number, minor_number);
    return true;
}

static void add_device(struct own_disk *own, dev_t dev, int depth);

/* Every device below a directory of links to devices. */
static void add_links(struct own_disk *own, const char *dir, int depth)
{
    CLEANUP_DIR DIR *links = opendir(dir);
    for (struct dirent *d = links ? readdir(links) : NULL; d; d = readdir(links)) {
        char path[PATH_MAX];
        dev_t dev;
        snprintf(path, sizeof path, "%s/%s/dev", dir, d->d_name);
        if (d->d_name[0] != '.' && read_dev(path, &dev))
            add_device(own, dev, depth + 1);
    }
}

/* Linux: Documentation/ABI/testing/sysfs-block; "loop/backing_file" is drivers/block/loop.c's. */
static void add_device(struct own_disk *own, dev_t dev, int depth)
{
    char dir[64], path[PATH_MAX], file[PATH_MAX];
    dev_t disk;
    if (depth > DEPTH_MAX || !add(own, dev))
        return;
    snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(dev), minor(dev));
    snprintf(path, sizeof path, "%s/partition", dir);
    if (access(path, F_OK) == 0) {
        snprintf(path, sizeof path, "%s/../dev", dir);
        if (read_dev(path, &disk))
            add_device(own, disk, depth + 1);
    }
    snprintf(path, sizeof path, "%s/slaves", dir);
    add_links(own, path, depth);
    if (sys_text(file, sizeof file, "%s/loop/backing_file", dir))
        add_path(own, file, depth + 1);
}

/* A btrfs may lie on several devices, of which mountinfo names one: /sys/fs/btrfs/UUID/devices/NAME. */
static void add_btrfs(struct own_disk *own, dev_t one, int depth)
{
    CLEANUP_DIR DIR *all = opendir("/sys/fs/btrfs");
    for (struct dirent *d = all ? readdir(all) : NULL; d; d = readdir(all)) {
        char dir[PATH_MAX];
        snprintf(dir, sizeof dir, "/sys/fs/btrfs/%s/devices", d->d_name);
        struct own_disk these = {.count = 0};
        if (d->d_name[0] != '.')
            add_links(&these, dir, depth);
        for (size_t i = 0; i < these.count; i++)
            if (these.devices[i] == one)
                add_links(own, dir, depth);
    }
}

/* One line of /proc/self/mountinfo (proc(5)) for a file system without a device number of its own. */
static void add_mount(struct own_disk *own, char *line, int depth)
{
    char *rest = strstr(line, " - ");
    char type[64], source[PATH_MAX];
    if (!rest || sscanf(rest, " - %63s %4095s", type, source) != 2)
        return;
    struct stat st;
    sys_unescape(source);
    if (stat(source, &st) == 0 && S_ISBLK(st.st_mode)) {
        add_device(own, st.st_rdev, depth + 1);
        if (strcmp(type, "btrfs") == 0)
            add_btrfs(own, st.st_rdev, depth + 1);
    }
}

static int add_path(struct own_disk *own, const char *path, int depth)
{
    struct stat st;
    char upper[SYS_PATH_BYTES];
    if (depth > DEPTH_MAX || stat(path, &st) != 0)
        return -errno;
    if (major(st.st_dev) != 0) {
        add_device(own, st.st_dev, depth + 1);
        return 0;
    }
    if (sys_overlay_upper(path, upper)) {
        add_path(own, upper, depth + 1); /* which may be hidden from us */
        return 0;
    }
    CLEANUP_FILE FILE *mounts = fopen("/proc/self/mountinfo", "re");
    CLEANUP_FREE char *line = NULL;
    size_t room = 0;
    while (mounts && getline(&line, &room, mounts) > 0) {
        unsigned major_number, minor_number;
        if (sscanf(line, "%*u %*u %u:%u", &major_number, &minor_number) == 2 &&
                makedev(major_number, minor_number) == st.st_dev)
            add_mount(own, line, depth);
    }
    return 0;
}

int own_disk_of(const char *path, struct own_disk *own, struct err *e)
{
    own->count = 0;
    errno = 0;
    if (add_path(own, path, 0) != 0)
        return err_sys(e, errno, "cannot find out which disk '%s' is on", path);
    return 0;
}

static int refuse(const char *path, const char *name, struct err *e)
{
    return err_set(e, EBUSY,
            "'%s' would lie on '%s', which is recorded: every write to the tape would be recorded, too; "
            "give -o a place on another disk",
            path, name);
}

static int own_disk_of_new(const char *path, struct own_disk *own, struct err *e)
{
    CLEANUP_FREE char *copy = strdup(path);
    if (!copy)
        return err_sys(e, ENOMEM, "cannot find out which disk '%s' is on", path);
    return own_disk_of(dirname(copy), own, e);
}

int own_disk_refuse(const char *path, dev_t device, const char *name, struct err *e)
{
    struct own_disk own;
    int status = own_disk_of_new(path, &own, e);
    for (size_t i = 0; status == 0 && i < own.count; i++)
        if (own.devices[i] == device)
            status = refuse(path, name, e);
    return status;
}

int own_disk_refuse_file(const char *path, dev_t device, ino_t inode, const char *name, struct err *e)
{
    struct own_disk own;
    int status = own_disk_of_new(path, &own, e);
    for (size_t i = 0; status == 0 && i < own.count; i++) {
        char file[PATH_MAX];
        struct stat st;
        if (sys_text(file, sizeof file, "/sys/dev/block/%u:%u/loop/backing_file", major(own.devices[i]),
                    minor(own.devices[i])) &&
                stat(file, &st) == 0 && st.st_dev == device && st.st_ino == inode)
            status = refuse(path, name, e);
    }
    return status;
}
