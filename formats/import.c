/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"

#define HEAD_BYTES  4096

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

/* The first bytes of a file; 0 for an empty one, or -errno. What was read of standard input is kept. */
static long head_read(const char *path, struct input *standard, uint8_t head[HEAD_BYTES], struct err *e)
{
    CLEANUP(input_release) struct input in = {0};
    int rc = input_open(&in, path, standard, e);
    long have = rc ? rc : input_need(&in, HEAD_BYTES, e);

    if (have > HEAD_BYTES)
        have = HEAD_BYTES;
    if (have > 0)
        memcpy(head, in.buffer + in.begin, (size_t)have);
    if (strcmp(path, "-") == 0 && standard) {
        *standard = in;
        in = (struct input){0};
    }
    return have;
}

static int refuse_several(
        const char *path, const struct import_ops *a, const struct import_ops *b, struct err *e)
{
    return err_set(e, EINVAL, "'%s' may be %s or %s: say which with --format", path, a->name, b->name);
}

static bool looks_like(const struct import_ops *o, const uint8_t *head, size_t len)
{
    size_t mark = strlen(INPUT_MARK);

    return o->probe(head, len) ||
           (len > mark && memcmp(head, INPUT_MARK, mark) == 0 && o->probe(head + mark, len - mark));
}

int import_find(const char *path, const char *format, struct input *standard, const struct import_ops **ops,
        struct err *e)
{
    const struct import_ops *found = NULL;
    uint8_t head[HEAD_BYTES];
    char names[256];

    if (format)
        return find_by_name(format, ops, e);
    long len = head_read(path, standard, head, e);
    for (size_t i = 0; import_list[i]; i++) {
        const struct import_ops *o = import_list[i];
        if (len > 0 ? !looks_like(o, head, (size_t)len)
                    : (len != 0 && len != -ENOENT) || !o->stands_for || !o->stands_for(path))
            continue;
        if (found)
            return refuse_several(path, found, o, e);
        found = o;
    }
    *ops = found;
    if (found)
        return 0;
    if (len < 0)
        return (int)len;
    list_names(names, sizeof names);
    return err_set(e, EINVAL, "'%s' %s; known formats are %s", path,
            len ? "is of no known format (its first bytes fit none)" : "is empty", names);
}

int import_untimely(const char *path, uint64_t count, struct err *e)
{
    return err_set(e, EBADMSG,
            "'%s': %" PRIu64
            " records, more than were kept, have times that do not fit those before them: is the first "
            "one's wrong?",
            path, count);
}
