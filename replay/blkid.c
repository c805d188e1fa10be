/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/blkid.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"

static void describe(blkid_probe probe, char *text, size_t text_bytes)
{
    const char *value = NULL;
    const char *usage = "";
    if (blkid_probe_lookup_value(probe, "TYPE", &value, NULL) == 0) {
        blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
        bool fs = strcmp(usage, "filesystem") == 0;
        snprintf(text, text_bytes, "%s signature%s", value, fs ? " (a file system)" : "");
    } else if (blkid_probe_lookup_value(probe, "PTTYPE", &value, NULL) == 0) {
        snprintf(text, text_bytes, "%s partition table", value);
    } else {
        snprintf(text, text_bytes, "signature");
    }
}

/* libblkid's results (blkid_do_safeprobe): 0 found, 1 nothing, -2 several that contradict each other. */
static int probe_fd(blkid_probe probe, int fd, const char *path, char *text, size_t text_bytes, struct err *e)
{
    if (blkid_probe_set_device(probe, fd, 0, 0) != 0)
        return err_set(e, EIO, "cannot look for signatures on '%s'", path);
    blkid_probe_enable_superblocks(probe, 1);
    blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_MAGIC);
    blkid_probe_enable_partitions(probe, 1);
    errno = 0;
    switch (blkid_do_safeprobe(probe)) {
    case 0:
        describe(probe, text, text_bytes);
        return 1;
    case 1:
        return 0;
    case -2:
        snprintf(text, text_bytes, "several signatures");
        return 1;
    }
    return err_sys(e, errno ? errno : EIO, "cannot look for signatures on '%s'", path);
}

int blkid_signature(const char *path, char *text, size_t text_bytes, struct err *e)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "cannot open '%s'", path);
    blkid_probe probe = blkid_new_probe();
    if (!probe)
        return err_sys(e, ENOMEM, "cannot look for signatures on '%s'", path);
    int r = probe_fd(probe, fd, path, text, text_bytes, e);
    blkid_free_probe(probe);
    return r;
}
