/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/disks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host_sys.h"

/* Whether the device, or the disk that it is a partition of, lies on other block devices. */
static bool is_stacked(const char *dir)
{
    const char *const places[] = {"slaves", "../slaves"};
    char path[256];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, places[i]);
        CLEANUP_DIR DIR *slaves = opendir(path);
        for (struct dirent *d = slaves ? readdir(slaves) : NULL; d; d = readdir(slaves))
            if (d->d_name[0] != '.')
                return true;
    }
    return false;
}

int disks_find(const char *path, struct source_target *target, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_sys(e, errno, "cannot record '%s'", path);
    if (!S_ISBLK(st.st_mode))
        return err_set(e, ENOTBLK, "cannot record '%s': not a block device", path);
    char dir[64];
    uint64_t start = 0;
    snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(st.st_rdev), minor(st.st_rdev));
    if (access(dir, F_OK) != 0)
        return err_sys(e, ENXIO, "cannot record '%s'", path);
    sys_number(&start, "%s/start", dir); /* partitions only */
    *target = (struct source_target){st.st_rdev, start * 512, is_stacked(dir)};
    return 0;
}
