/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/host_sys.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

static bool text_of(const char *path, char *text, size_t size)
{
    CLEANUP_FILE FILE *f = fopen(path, "re");
    char *begin = text, *end;

    text[0] = '\0';
    if (!f || !fgets(text, (int)size, f)) {
        text[0] = '\0';
        return false;
    }
    begin += strspn(text, " \t");
    end = begin + strlen(begin);
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    memmove(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
    return text[0] != '\0';
}

bool sys_text(char *text, size_t size, const char *path_fmt, ...)
{
    char path[2 * SYS_DIR_BYTES];
    va_list ap;

    va_start(ap, path_fmt);
    vsnprintf(path, sizeof path, path_fmt, ap);
    va_end(ap);
    return text_of(path, text, size);
}

bool sys_number(uint64_t *value, const char *path_fmt, ...)
{
    char path[2 * SYS_DIR_BYTES], text[64], *end;
    va_list ap;

    va_start(ap, path_fmt);
    vsnprintf(path, sizeof path, path_fmt, ap);
    va_end(ap);
    if (!text_of(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0';
}

char *sys_chosen(char *text)
{
    char *open = strchr(text, '['), *shut = open ? strchr(open, ']') : NULL;

    if (shut) {
        *shut = '\0';
        memmove(text, open + 1, (size_t)(shut - open));
    }
    return text;
}

bool sys_block_dir(dev_t device, char dir[SYS_DIR_BYTES])
{
    char link[64];
    CLEANUP_FREE char *real = NULL;

    snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(device), minor(device));
    real = realpath(link, NULL);
    if (!real || strlen(real) >= SYS_DIR_BYTES)
        return false;
    strcpy(dir, real);
    return true;
}

bool sys_is_partition(const char *dir)
{
    char path[SYS_DIR_BYTES + 16];

    snprintf(path, sizeof path, "%s/partition", dir);
    return access(path, F_OK) == 0;
}

bool sys_device_is_partition(dev_t device)
{
    char dir[64];

    snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(device), minor(device));
    return sys_is_partition(dir);
}

void sys_disk_dir(char dir[SYS_DIR_BYTES])
{
    char *slash = strrchr(dir, '/');

    if (slash && sys_is_partition(dir))
        *slash = '\0';
}

void sys_unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        unsigned code;
        if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1 && strlen(from) >= 4) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}
