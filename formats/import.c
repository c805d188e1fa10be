/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

#define HEAD_BYTES    4096

#define DECLARE(name) extern const struct import_ops import_##name;
IMPORTS(DECLARE)
#define ENTRY(name) &import_##name,
const struct import_ops *const import_list[] = {IMPORTS(ENTRY) NULL};

static void list_names(char *text, size_t size)
{
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; import_list[i] && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : "", import_list[i]->name);
}

static int find_by_name(const char *format, const struct import_ops **ops, struct err *e)
{
    char names[256];

    for (size_t i = 0; import_list[i]; i++) {
        if (strcmp(import_list[i]->name, format) == 0) {
            *ops = import_list[i];
            return 0;
        }
    }
    list_names(names, sizeof names);
    return err_set(e, EINVAL, "unknown format '%s': known are %s", format, names);
}

/* The first bytes of a file; 0 for an empty one, or -errno. */
static ssize_t head_read(const char *path, uint8_t head[HEAD_BYTES])
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;

    if (fd < 0)
        return -errno;
    while (len < HEAD_BYTES) {
        ssize_t got = read(fd, head + len, HEAD_BYTES - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

int import_find(const char *path, const char *format, const struct import_ops **ops, struct err *e)
{
    uint8_t head[HEAD_BYTES];
    char names[256];
    ssize_t len;

    if (format)
        return find_by_name(format, ops, e);
    len = head_read(path, head);
    for (size_t i = 0; import_list[i]; i++) {
        const struct import_ops *o = import_list[i];
        if (len > 0 ? o->probe(head, (size_t)len)
                    : (len == 0 || len == -ENOENT) && o->stands_for && o->stands_for(path)) {
            *ops = o;
            return 0;
        }
    }
    if (len < 0)
        return err_sys(e, (int)len, "cannot read '%s'", path);
    list_names(names, sizeof names);
    return err_set(e, EINVAL, "'%s' %s; known formats are %s", path,
            len ? "is of no known format (its first bytes fit none)" : "is empty", names);
}
