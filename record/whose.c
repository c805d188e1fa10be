/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/whose.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/host_sys.h"
#include "record/processes.h"

/* ---- cgroups ---- */

static bool has_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path && access(path, F_OK) == 0;
}

/* Whether the kernel charges I/O to this cgroup v2 itself, not to one above it. Linux:
 * Documentation/admin-guide/cgroup-v2.rst, "Enabling and Disabling". */
static bool has_io(const char *dir)
{
    char line[512], *rest = line, *word;
    if (!sys_text(line, sizeof line, "%s/cgroup.controllers", dir))
        return false;
    while ((word = strsep(&rest, " ")))
        if (strcmp(word, "io") == 0)
            return true;
    return false;
}

/* Where a path as /proc/PID/cgroup shows it is mounted: the first cgroup file system that has it, that of the
 * io controller before others. `found` has PATH_MAX bytes. */
static bool find_mounted(const char *path, char *found)
{
    CLEANUP_FILE FILE *mounts = fopen("/proc/self/mountinfo", "re");
    CLEANUP_FREE char *line = NULL;
    size_t room = 0;
    bool any = false;
    while (mounts && getline(&line, &room, mounts) > 0) {
        char at[PATH_MAX], type[16], options[256], candidate[PATH_MAX];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %*s %4095s", at) != 1 ||
                sscanf(rest, " - %15s %*s %255s", type, options) != 2 || strncmp(type, "cgroup", 6) != 0)
            continue;
        sys_unescape(at);
        if (snprintf(candidate, sizeof candidate, "%s/%s", at, path) >= (int)sizeof candidate ||
                !has_file(candidate, "cgroup.procs"))
            continue;
        bool charges = type[6] ? has_io(candidate) : has_file(candidate, "blkio.reset_stats");
        if (!any || charges)
            strcpy(found, candidate);
        any = true;
        if (charges)
            break;
    }
    return any;
}

/* Linux, fs/kernfs: the inode's number is the cgroup's id. */
static int add_cgroup(struct whose *w, const char *path, struct err *e)
{
    struct source_filter *f = &w->filter;
    char found[PATH_MAX];
    struct statfs fs;
    struct stat st;
    const char *dir = path;
    bool is_cgroup =
            statfs(path, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
    if (!is_cgroup && find_mounted(path, found))
        is_cgroup = statfs(dir = found, &fs) == 0;
    if (!is_cgroup || stat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || !has_file(dir, "cgroup.procs"))
        return err_set(e, ENOENT,
                "--cgroup: '%s' is no cgroup: give its directory below /sys/fs/cgroup, or its path as "
                "/proc/PID/cgroup shows it",
                path);
    if (f->charged_count + f->task_count == SOURCE_CGROUPS_MAX)
        return err_set(e, E2BIG, "--cgroup: at most %d", SOURCE_CGROUPS_MAX);
    if (fs.f_type == CGROUP_SUPER_MAGIC && !has_file(dir, "blkio.reset_stats"))
        return err_set(e, EINVAL,
                "--cgroup: '%s' is of a hierarchy that I/O is not charged to: give the one of the blkio "
                "controller, or of cgroup v2",
                path);
    if (fs.f_type == CGROUP_SUPER_MAGIC || has_io(dir)) {
        f->charged[f->charged_count++] = st.st_ino;
    } else {
        f->tasks[f->task_count++] = st.st_ino;
        w->by_task = true;
    }
    return 0;
}

/* ---- processes ---- */

/* The kernel's programs see the numbers of the host. Linux, include/linux/proc_ns.h: PROC_PID_INIT_INO. */
static int refuse_namespace(struct err *e)
{
    struct stat st;
    if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != 0xEFFFFFFCU)
        return err_set(e, EINVAL,
                "--pid: the numbers of processes are a container's own here: run on the host, or give "
                "--cgroup");
    return 0;
}

static int add_process(struct whose *w, const char *text, struct err *e)
{
    uint64_t number;
    uint32_t process;
    if (units_parse_u64(text, &number, e) < 0)
        return err_prefix(e, "--pid");
    if (number == 0 || number > INT32_MAX || !processes_of_thread((uint32_t)number, &process))
        return err_set(e, ESRCH, "--pid: there is no process %s", text);
    w->processes[w->filter.process_count++] = process;
    return 0;
}

int whose_init(struct whose *w, const char *const *cgroups, size_t cgroup_count, const char *const *pids,
        size_t pid_count, bool children, struct err *e)
{
    *w = (struct whose){.processes = calloc(pid_count + 1, sizeof *w->processes)};
    int status = w->processes ? 0 : err_sys(e, ENOMEM, "cannot begin to record");
    if (status == 0 && pid_count)
        status = refuse_namespace(e);
    w->filter.processes = w->processes;
    w->filter.children = children;
    for (size_t i = 0; status == 0 && i < cgroup_count; i++)
        status = add_cgroup(w, cgroups[i], e);
    for (size_t i = 0; status == 0 && i < pid_count; i++)
        status = add_process(w, pids[i], e);
    return status;
}

void whose_release(struct whose *w)
{
    free(w->processes);
    *w = (struct whose){0};
}
