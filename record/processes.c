/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"

/* proc(5), /proc/PID/status. */
static bool read_status(uint32_t thread, uint32_t *process, uint32_t *parent)
{
    char path[32], line[128];
    bool has_process = false;
    snprintf(path, sizeof path, "/proc/%u/status", thread);
    CLEANUP_FILE FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in)) {
        has_process |= sscanf(line, "Tgid: %u", process) == 1;
        if (sscanf(line, "PPid: %u", parent) == 1)
            return has_process;
    }
    return false;
}

bool processes_of_thread(uint32_t thread, uint32_t *process)
{
    uint32_t parent;
    return read_status(thread, process, &parent);
}

int processes_each(processes_take *take, void *self, struct err *e)
{
    CLEANUP_DIR DIR *all = opendir("/proc");
    if (!all)
        return err_sys(e, errno, "cannot list the processes in /proc");
    struct dirent *d;
    while ((d = readdir(all))) {
        uint32_t process, parent;
        unsigned long number = strtoul(d->d_name, NULL, 10);
        if (number == 0 || number > INT32_MAX || !read_status((uint32_t)number, &process, &parent))
            continue;
        int status = take(self, process, parent, e);
        if (status < 0)
            return status;
    }
    return 0;
}
