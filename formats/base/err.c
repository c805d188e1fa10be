/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
        e->code = code;
    }
    return -code;
}

int err_sys(struct err *e, int code, const char *fmt, ...)
{
    code = abs(code);
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
        e->code = code;
        size_t used = strlen(e->text);
        snprintf(e->text + used, sizeof e->text - used, ": %s", strerror(code));
    }
    return -code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
    if (!e)
        return -EINVAL;
    char inner[ERR_TEXT_BYTES];
    memcpy(inner, e->text, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    size_t used = strlen(e->text);
    snprintf(e->text + used, sizeof e->text - used, ": %s", inner);
    return -e->code;
}
