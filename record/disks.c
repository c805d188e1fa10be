/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/disks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

int disks_find(dev_t dev, const char *path, struct source_target *target, struct err *e)
{
    char dir[64];
    uint64_t start = 0;
    snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(dev), minor(dev));
    if (access(dir, F_OK) != 0)
        return err_set(
                e, ENXIO, "cannot record '%s': there is no block device %u:%u", path, major(dev), minor(dev));
    sys_number(&start, "%s/start", dir); /* partitions only */
    *target = (struct source_target){dev, start * 512, takes_bios(dir)};
    return 0;
}
