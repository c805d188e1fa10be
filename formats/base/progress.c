/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "formats/base/units.h"

#define EVERY_NS   (200 * NS_PER_MS)
#define ERASE_LINE "\r\033[K" /* ECMA-48: carriage return, erase to the end of the line */

void progress_init(struct progress *p)
{
    *p = (struct progress){.on = isatty(STDERR_FILENO) == 1};
}

bool progress_due(struct progress *p, uint64_t now_ns)
{
    if (!p->on || now_ns < p->next_ns)
        return false;
    p->next_ns = now_ns + EVERY_NS;
    return true;
}

void progress_show(struct progress *p, const char *fmt, ...)
{
    char line[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, ERASE_LINE "%s", line);
    fflush(stderr);
    p->shown = true;
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        fputs(ERASE_LINE, stderr);
    p->shown = false;
}
