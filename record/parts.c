/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/run.h"

#define PARTIAL    ".partial"
#define SAVED      "saved-"
#define DIGITS     6 /* at the least */
#define NUMBER_MAX UINT64_C(999999999999)

uint64_t parts_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* FOLDER/STEM-[saved-]NUMBER.SUFFIX[.partial]. NULL: no memory. */
static char *path_of(const struct parts *p, uint64_t number, const char *saved, const char *partial)
{
    char *path;
    if (asprintf(&path, "%s/%s-%s%0*" PRIu64 "%s%s", p->folder, p->stem, saved, DIGITS, number, p->suffix,
                partial) < 0)
        return NULL;
    return path;
}

char *parts_path(const struct parts *p)
{
    return path_of(p, p->number, "", "");
}

static int no_memory(struct err *e)
{
    return err_sys(e, ENOMEM, "cannot keep the parts of the recording");
}

/* ---- what is there ---- */

struct found {
    uint64_t number;
    bool is_saved, is_whole;
};

static bool parse_name(const struct parts *p, const char *name, struct found *f)
{
    size_t stem = strlen(p->stem), suffix = strlen(p->suffix);
    if (strncmp(name, p->stem, stem) != 0 || name[stem] != '-')
        return false;
    name += stem + 1;
    f->is_saved = strncmp(name, SAVED, strlen(SAVED)) == 0;
    if (f->is_saved)
        name += strlen(SAVED);
    size_t digits = strspn(name, "0123456789");
    if (digits < DIGITS || digits > 12 || strncmp(name + digits, p->suffix, suffix) != 0)
        return false;
    f->number = strtoull(name, NULL, 10);
    name += digits + suffix;
    f->is_whole = !*name;
    return f->is_whole || strcmp(name, PARTIAL) == 0;
}

static int keep(struct parts *p, const struct part *part, struct err *e)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        struct part *list = reallocarray(p->list, room, sizeof *list);
        if (!list)
            return no_memory(e);
        p->list = list;
        p->room = room;
    }
    p->list[p->count++] = *part;
    return 0;
}

/* One that the recorder which wrote it left; not one that is being written. */
static int refuse_busy(const char *path, struct err *e)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return err_set(e, EBUSY, "another recorder is writing '%s': give this one another -o", path);
    return 0;
}

static int adopt(struct parts *p, const struct found *f, struct err *e)
{
    CLEANUP_FREE char *path = path_of(p, f->number, "", f->is_whole ? "" : PARTIAL);
    struct stat st;
    enum tape_kind kind;
    struct err ignored = {0};
    if (!path)
        return no_memory(e);
    int status = f->is_whole ? 0 : refuse_busy(path, e);
    if (status < 0)
        return status;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || tape_file_kind(path, &kind, &ignored) < 0 ||
            (kind != TAPE_KIND_RECORDING && st.st_size))
        return 0;
    struct part part = {
            f->number, (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec, f->is_whole};
    return keep(p, &part, e);
}

static int compare(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int look_around(struct parts *p, struct err *e)
{
    CLEANUP_DIR DIR *folder = opendir(p->folder);
    struct dirent *d;
    int status = folder ? 0 : err_sys(e, errno, "cannot list '%s'", p->folder);
    while (status == 0 && (d = readdir(folder))) {
        struct found f;
        if (!parse_name(p, d->d_name, &f))
            continue;
        p->number = f.number > p->number ? f.number : p->number;
        if (!f.is_saved)
            status = adopt(p, &f, e);
    }
    if (p->count)
        qsort(p->list, p->count, sizeof *p->list, compare);
    if (status == 0 && ++p->number > NUMBER_MAX)
        status =
                err_set(e, EOVERFLOW, "no part can follow number %" PRIu64 " in '%s'", NUMBER_MAX, p->folder);
    return status;
}

int parts_init(struct parts *p, const char *output, size_t keep_count, struct err *e)
{
    *p = (struct parts){.keep = keep_count};
    CLEANUP_FREE char *copy = strdup(output);
    CLEANUP_FREE char *other = strdup(output);
    if (!copy || !other)
        return no_memory(e);
    const char *name = basename(other), *dot = strrchr(name, '.');
    p->folder = strdup(dirname(copy));
    p->stem = strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
    p->suffix = strdup(dot && dot > name ? dot : "");
    if (!p->folder || !p->stem || !p->suffix)
        return no_memory(e);
    return look_around(p, e);
}

void parts_release(struct parts *p)
{
    free(p->folder);
    free(p->stem);
    free(p->suffix);
    free(p->list);
    *p = (struct parts){0};
}

/* ---- while ---- */

void parts_advance(struct parts *p)
{
    p->number++;
}

static void forget(struct parts *p, size_t i)
{
    memmove(p->list + i, p->list + i + 1, (--p->count - i) * sizeof *p->list);
}

/* One that somebody else has taken away is gone as well. */
static int remove_oldest(struct parts *p, struct err *e)
{
    CLEANUP_FREE char *path = path_of(p, p->list[0].number, "", p->list[0].is_whole ? "" : PARTIAL);
    if (!path)
        return no_memory(e);
    if (unlink(path) != 0 && errno != ENOENT)
        return err_sys(e, errno, "cannot remove the oldest part '%s'", path);
    forget(p, 0);
    return 0;
}

int parts_finished(struct parts *p, uint64_t number, struct err *e)
{
    struct part part = {number, parts_now(), true};
    int status = keep(p, &part, e);
    while (status == 0 && p->count > p->keep)
        status = remove_oldest(p, e);
    return status;
}

/* 0 where it has gone. */
static int save(const struct parts *p, const struct part *part, struct err *e)
{
    const char *partial = part->is_whole ? "" : PARTIAL;
    CLEANUP_FREE char *from = path_of(p, part->number, "", partial);
    CLEANUP_FREE char *to = path_of(p, part->number, SAVED, partial);
    if (!from || !to)
        return no_memory(e);
    if (rename(from, to) == 0)
        return 1;
    return errno == ENOENT ? 0 : err_sys(e, errno, "cannot save '%s' as '%s'", from, to);
}

int parts_save(struct parts *p, uint64_t since_unix_ns, size_t *count, uint64_t *first, uint64_t *last,
        struct err *e)
{
    *count = 0;
    for (size_t i = 0; i < p->count;) {
        if (p->list[i].ended_unix_ns < since_unix_ns) {
            i++;
            continue;
        }
        int status = save(p, &p->list[i], e);
        if (status < 0)
            return status;
        if (status > 0 && !(*count)++)
            *first = p->list[i].number;
        *last = p->list[i].number;
        forget(p, i);
    }
    return 0;
}
