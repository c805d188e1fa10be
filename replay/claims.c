/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host.h"
#include "formats/host_sys.h"

/* Where a block device is mounted: proc_pid_mountinfo(5). Writes "" where it is not. */
static void find_mount(dev_t device, char *point, size_t bytes)
{
    CLEANUP_FILE FILE *f = fopen("/proc/self/mountinfo", "re");
    char line[4096];
    *point = 0;
    while (f && fgets(line, sizeof line, f)) {
        unsigned major_number, minor_number;
        char where[2048];
        if (sscanf(line, "%*u %*u %u:%u %*s %2047s", &major_number, &minor_number, where) == 3 &&
                makedev(major_number, minor_number) == device) {
            snprintf(point, bytes, "%s", where);
            return;
        }
    }
}

/* Device-mapper and md devices on top of it: Documentation/ABI/testing/sysfs-block, "holders". */
static bool find_holder(dev_t device, char *holder, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/holders", major(device), minor(device));
    CLEANUP_DIR DIR *d = opendir(path);
    struct dirent *entry;
    while (d && (entry = readdir(d))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(holder, bytes, "%s", entry->d_name);
        return true;
    }
    return false;
}

/* -EBUSY with a text where the device is seen to be in use, else 0. */
static int look_at(const char *path, dev_t device, const char *why, struct err *e)
{
    char text[2048];
    const char *comma = *why ? "," : "";
    find_mount(device, text, sizeof text);
    if (*text)
        return err_set(e, EBUSY, "'%s'%s%s is mounted at '%s'", path, why, comma, text);
    if (find_holder(device, text, sizeof text))
        return err_set(e, EBUSY, "'%s'%s%s is in use by '%s'", path, why, comma, text);
    return 0;
}

static bool overlap(const struct disk_place *a, const struct disk_place *b)
{
    return strcmp(a->id, b->id) == 0 && a->start_bytes < b->start_bytes + b->size_bytes &&
           b->start_bytes < a->start_bytes + a->size_bytes;
}

/* Swap space, a device or a file, that has bytes of the target: proc(5), /proc/swaps. */
static int look_for_swap(const struct disk_place *place, const char *target, struct err *e)
{
    CLEANUP_FILE FILE *f = fopen("/proc/swaps", "re");
    char line[4096];
    while (f && fgets(line, sizeof line, f)) {
        char path[4096];
        struct disk_place swap;
        if (sscanf(line, "%4095s", path) != 1)
            continue;
        sys_unescape(path);
        if (disk_place_of(path, &swap, NULL) == 0 && overlap(place, &swap))
            return err_set(e, EBUSY, "'%s' is in use as swap ('%s')", target, path);
    }
    return 0;
}

static int keep(struct claims *c, int fd, struct err *e)
{
    int *list = realloc(c->fd, (c->count + 1) * sizeof *list);
    if (!list) {
        close(fd);
        return err_sys(e, ENOMEM, "cannot hold a device");
    }
    c->fd = list;
    list[c->count++] = fd;
    return 0;
}

/* Whether both are the same whole disk or on it. */
static bool same_disk(dev_t a, dev_t b)
{
    char path[64], at[2][4096];
    dev_t device[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/sys/dev/block/%u:%u%s", major(device[i]), minor(device[i]),
                sys_device_is_partition(device[i]) ? "/.." : "");
        if (!realpath(path, at[i]))
            return false;
    }
    return strcmp(at[0], at[1]) == 0;
}

/* What is looked for at each block device. */
struct search {
    struct claims *claims; /* NULL: only look who uses it */
    struct disk_place place;
    const char *target;
};

static int look_or_claim(const struct search *s, const char *path, struct err *e)
{
    struct disk_place other;
    char why[512] = "";
    if (disk_place_of(path, &other, NULL) < 0 || !overlap(&s->place, &other))
        return 0;
    bool itself = s->place.is_block && other.device == s->place.device;
    if (!itself)
        snprintf(why, sizeof why, ", which holds the same bytes as '%.400s'", s->target);
    if (!s->claims)
        return look_at(path, other.device, why, e);
    /* To the kernel's exclusive opens a disk and its partitions are one: the disk is held for all of them,
     * and the target holds its own. */
    if (sys_device_is_partition(other.device) ||
            (s->place.is_block && same_disk(s->place.device, other.device)))
        return 0;
    int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
    if (fd < 0)
        return errno == EBUSY ? err_set(e, EBUSY, "'%s'%s%s is in use by another program", path, why,
                                        *why ? "," : "")
                              : err_sys(e, errno, "cannot open '%s'%s", path, why);
    return keep(s->claims, fd, e);
}

static void name_device(const char *name, char *path, size_t bytes)
{
    snprintf(path, bytes, "/dev/%.250s", name);
    for (char *p = path + 5; *p; p++)
        if (*p == '!') /* as sysfs writes '/' */
            *p = '/';
}

static int search_devices(const struct search *s, struct err *e)
{
    CLEANUP_DIR DIR *d = opendir("/sys/class/block");
    struct dirent *entry;
    int r = 0;
    while (r == 0 && d && (entry = readdir(d))) {
        char device[300];
        if (entry->d_name[0] == '.')
            continue;
        name_device(entry->d_name, device, sizeof device);
        r = look_or_claim(s, device, e);
    }
    return r;
}

int claims_take(struct claims *c, const char *path, struct err *e)
{
    struct search s = {.target = path};
    int r = disk_place_of(path, &s.place, e);
    if (r == 0)
        r = look_for_swap(&s.place, path, e);
    if (r == 0)
        r = search_devices(&s, e); /* first who uses it: that says more than an open that is refused */
    s.claims = c;
    if (r == 0)
        r = search_devices(&s, e);
    if (r < 0)
        claims_release(c);
    return r;
}

void claims_release(struct claims *c)
{
    for (size_t i = 0; i < c->count; i++)
        close(c->fd[i]);
    free(c->fd);
    *c = (struct claims){0};
}

int claims_explain(const char *path, struct err *e)
{
    struct claims c = {0};
    int r = claims_take(&c, path, e);
    claims_release(&c);
    return r == -EBUSY ? r : err_set(e, EBUSY, "'%s' is in use by another program", path);
}
