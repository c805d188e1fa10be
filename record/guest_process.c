/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest by the files that its process has open (proc(5); a tap's name is in fdinfo as "iff:", Linux
 * drivers/net/tun.c tun_chr_show_fdinfo).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "record/guest.h"

#define IMAGE_BYTES 65536 /* smaller files are no images: pid files, sockets' locks */

struct process {
    const char *pid;
    struct guest *guest;
    struct seen {
        dev_t device;
        ino_t inode;
    } * seen;
    size_t seen_count, images;
};

/* A line "NAME:<tab>VALUE" of a descriptor's fdinfo. */
static bool info_of(const struct process *p, const char *fd, const char *name, char *value, size_t size)
{
    char path[64], line[256];
    size_t len = strlen(name);
    snprintf(path, sizeof path, "/proc/%.20s/fdinfo/%.20s", p->pid, fd);
    CLEANUP_FILE FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            const char *text = line + len + 1 + strspn(line + len + 1, " \t");
            snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
            return true;
        }
    return false;
}

/* Guests' memory, firmware and programs are mapped; images are not. */
static bool is_mapped(const struct process *p, const struct stat *st)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/maps", p->pid);
    CLEANUP_FILE FILE *in = fopen(path, "re");
    CLEANUP_FREE char *line = NULL;
    size_t room = 0;
    while (in && getline(&line, &room, in) > 0) {
        unsigned major_number, minor_number;
        uint64_t inode;
        if (sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major_number, &minor_number, &inode) == 3 &&
                inode == st->st_ino && makedev(major_number, minor_number) == st->st_dev)
            return true;
    }
    return false;
}

/* One file may be open several times. */
static int see(struct process *p, const struct stat *st, bool *again, struct err *e)
{
    dev_t device = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
    ino_t inode = S_ISBLK(st->st_mode) ? 0 : st->st_ino;
    for (size_t i = 0; i < p->seen_count; i++)
        if (p->seen[i].device == device && p->seen[i].inode == inode) {
            *again = true;
            return 0;
        }
    struct seen *more = reallocarray(p->seen, p->seen_count + 1, sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot look at process %s", p->pid);
    p->seen = more;
    more[p->seen_count++] = (struct seen){device, inode};
    return 0;
}

/* Its name where that is the same file here: the process may have another root. */
static void path_of(const char *link, const struct stat *st, char path[PATH_MAX])
{
    struct stat named;
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    if (len > 0) {
        path[len] = '\0';
        if (stat(path, &named) == 0 && named.st_dev == st->st_dev && named.st_ino == st->st_ino)
            return;
    }
    snprintf(path, PATH_MAX, "%s", link);
}

static int add_image(
        struct process *p, const char *link, const struct stat *st, unsigned flags, struct err *e)
{
    char path[PATH_MAX], name[32];
    struct guest_disk *d;
    path_of(link, st, path);
    snprintf(name, sizeof name, "disk%zu", p->images++);
    int status =
            guest_add_disk(p->guest, S_ISBLK(st->st_mode) ? STREAM_DISK : STREAM_FILE, name, path, &d, e);
    if (status == 0)
        status = facts_set(&d->facts, e, "guest_format", "%s", guest_image_format(path));
    if (status == 0)
        status = facts_set(
                &d->facts, e, "guest_page_cache", "%s", flags & O_DIRECT ? "no (O_DIRECT)" : "of the host");
    if (status == 0 && (flags & O_ACCMODE) == O_RDONLY)
        status = facts_set(&d->facts, e, "guest_access", "read only");
    if (status == 0 && !(flags & O_DIRECT))
        status = guest_note(p->guest, e,
                "%s goes through the host's page cache: what that absorbs is not recorded", name);
    return status;
}

static int look_at_tap(struct process *p, const char *fd, struct err *e)
{
    char interface[64], name[32];
    if (!info_of(p, fd, "iff", interface, sizeof interface) || !interface[0])
        return 0;
    for (size_t i = 0; i < p->guest->net_count; i++)
        if (strcmp(p->guest->nets[i].interface, interface) == 0)
            return 0; /* another queue of it */
    snprintf(name, sizeof name, "net%zu", p->guest->net_count);
    return guest_add_net(p->guest, name, interface, e);
}

static int look_at(struct process *p, const char *fd, struct err *e)
{
    char link[64], text[64], target[32] = "";
    struct stat st;
    bool again = false;
    snprintf(link, sizeof link, "/proc/%.20s/fd/%.20s", p->pid, fd);
    if (stat(link, &st) != 0)
        return 0; /* closed meanwhile */
    if (S_ISCHR(st.st_mode))
        return readlink(link, target, sizeof target - 1) > 0 && strcmp(target, "/dev/net/tun") == 0
                       ? look_at_tap(p, fd, e)
                       : 0;
    if ((!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) || !info_of(p, fd, "flags", text, sizeof text))
        return 0;
    unsigned flags = (unsigned)strtoul(text, NULL, 8);
    if (S_ISREG(st.st_mode) && (st.st_size < IMAGE_BYTES || (flags & O_ACCMODE) == O_WRONLY ||
                                       flags & O_APPEND || is_mapped(p, &st)))
        return 0;
    int status = see(p, &st, &again, e);
    return status || again ? status : add_image(p, link, &st, flags, e);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    int x = atoi((*a)->d_name), y = atoi((*b)->d_name);
    return (x > y) - (x < y);
}

static int is_number(const struct dirent *d)
{
    return d->d_name[0] >= '0' && d->d_name[0] <= '9';
}

/* Interfaces are found by name in the network that we are in. */
static int check_network(const struct process *p, struct err *e)
{
    char path[64];
    struct stat its, ours;
    snprintf(path, sizeof path, "/proc/%.20s/ns/net", p->pid);
    if (p->guest->net_count == 0 || stat(path, &its) != 0 || stat("/proc/self/ns/net", &ours) != 0 ||
            its.st_ino == ours.st_ino)
        return 0;
    return err_set(e, EXDEV,
            "the interfaces of process %s are in another network namespace: run iotape-record there (nsenter "
            "-n -t %s iotape-record ...)",
            p->pid, p->pid);
}

static int look_at_all(struct process *p, struct err *e)
{
    char path[64];
    struct dirent **list = NULL;
    snprintf(path, sizeof path, "/proc/%.20s/fd", p->pid);
    int count = scandir(path, &list, is_number, by_number), status = 0;
    if (count < 0)
        return err_sys(e, errno == ENOENT ? ESRCH : errno, "cannot see what process %s has open", p->pid);
    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = look_at(p, list[i]->d_name, e);
        free(list[i]);
    }
    free(list);
    return status;
}

int guest_of_process(const char *pid, struct guest *g, struct err *e)
{
    struct process p = {.pid = pid, .guest = g};
    if (pid[0] == '\0' || strspn(pid, "0123456789") != strlen(pid) || strlen(pid) > 10)
        return err_set(e, EINVAL, "'%s' is no process id", pid);
    int status = look_at_all(&p, e);
    free(p.seen);
    if (status == 0)
        status = check_network(&p, e);
    if (status == 0 && g->disk_count == 0 && g->net_count == 0)
        status = err_set(e, ENOENT,
                "process %s has no image, block device or tap open: disks on a network or passed through are "
                "not seen on this host",
                pid);
    return status;
}
