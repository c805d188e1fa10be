/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/output.h"

#include <errno.h>
#include <sys/stat.h>

#include "formats/run.h"

int output_check(const char *path, struct err *e)
{
    struct stat st;
    enum tape_kind kind;
    if (stat(path, &st) < 0 || (S_ISREG(st.st_mode) && st.st_size == 0))
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "output '%s' is no regular file", path);
    int status = tape_file_kind(path, &kind, e);
    if (status < 0 || kind == TAPE_KIND_RECORDING)
        return status;
    return err_set(e, EEXIST, "output '%s' exists and is no tape; nothing is written", path);
}
