/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/disks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host_sys.h"

/* Whether I/O that is queued on the device may complete in requests of others: dm, md, the heads of NVMe
 * multipath. All of them take bios, not requests; drivers of requests have a directory "mq". */
static bool takes_bios(const char *dir)
{
    char path[128];
    snprintf(path, sizeof path, "%s/partition", dir);
    bool partition = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "%s/%smq", dir, partition ? "../" : "");
    return access(path, F_OK) != 0;
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
    *target = (struct source_target){st.st_rdev, start * 512, takes_bios(dir)};
    return 0;
}
