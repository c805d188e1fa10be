/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "replay/pace.h"

#define SHOW_EVERY_NS 200000000u

void status_show(struct status *s, const char *fmt, ...)
{
    uint64_t now_ns = pace_now_ns();
    if (now_ns - s->shown_ns < SHOW_EVERY_NS || !isatty(STDERR_FILENO))
        return;
    char text[120];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    s->shown_ns = now_ns;
    s->on_line = true;
}

void status_clear(struct status *s)
{
    if (s->on_line)
        fputs("\r\033[K", stderr);
    s->on_line = false;
}
