/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/flags.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"

int flags_add(struct flags *f, struct err *e, const char *fmt, ...)
{
    CLEANUP_FREE char *more = NULL;
    char *all;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&more, fmt, ap);
    va_end(ap);
    if (n < 0) {
        more = NULL;
        return err_sys(e, ENOMEM, "cannot hold flags");
    }
    if (asprintf(&all, "%s%s%s", f->text ? f->text : "", f->text ? "|" : "", more) < 0)
        return err_sys(e, ENOMEM, "cannot hold flags");
    free(f->text);
    f->text = all;
    return 0;
}

void flags_release(struct flags *f)
{
    free(f->text);
    f->text = NULL;
}
