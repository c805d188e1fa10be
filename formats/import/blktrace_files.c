/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

#define SUFFIX ".blktrace."

static const char *const packed[] = {"", ".gz", ".zst", ".xz"};

void bt_files_release(struct bt_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->list[i]);
    free(f->list);
    *f = (struct bt_files){0};
}

static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;

    return strcmp(a, b) == 0 ||
           (stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);
}

static int add_one(struct bt_files *f, const char *path, struct err *e)
{
    char **more;

    for (size_t i = 0; i < f->count; i++)
        if (same_file(f->list[i], path))
            return 0;
    if (f->count == BT_FILES_MAX)
        return err_set(e, E2BIG, "'%s': more than %d files in one trace", path, BT_FILES_MAX);
    more = realloc(f->list, (f->count + 1) * sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    f->list = more;
    more[f->count] = strdup(path);
    if (!more[f->count])
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    f->count++;
    return 0;
}

/* The CPU number that a file name ends with after `prefix` (the file may be packed), or -1. */
static long cpu_of(const char *name, const char *prefix, size_t prefix_len)
{
    const char *digits = name + prefix_len;
    size_t len;

    if (strncmp(name, prefix, prefix_len) != 0)
        return -1;
    len = strspn(digits, "0123456789");
    for (size_t i = 0; len && len <= 6 && i < sizeof packed / sizeof *packed; i++)
        if (strcmp(digits + len, packed[i]) == 0)
            return strtol(digits, NULL, 10);
    return -1;
}

static int compare_long(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* One CPU's file, packed or not; none where its name is not of our making ("x.blktrace.00"). */
static int add_cpu(struct bt_files *f, const char *dir, const char *prefix, long cpu, struct err *e)
{
    char path[4096];

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s%ld%s", dir, prefix, cpu, packed[i]) >= sizeof path)
            return err_set(e, ENAMETOOLONG, "'%s/%s' is too long a name", dir, prefix);
        if (access(path, F_OK) == 0)
            return add_one(f, path, e);
    }
    return 0;
}

/* Adds DIR/PREFIX* for all CPUs. `prefix` ends with SUFFIX. */
static int add_cpus(struct bt_files *f, const char *dir, const char *prefix, struct err *e)
{
    CLEANUP_DIR DIR *d = opendir(dir);
    CLEANUP_FREE long *cpus = calloc(BT_FILES_MAX, sizeof *cpus);
    size_t n = 0;
    int rc = 0;

    if (!cpus)
        return err_sys(e, ENOMEM, "cannot look into '%s'", dir);
    for (struct dirent *entry; d && n < BT_FILES_MAX && (entry = readdir(d));) {
        long cpu = cpu_of(entry->d_name, prefix, strlen(prefix));
        if (cpu >= 0)
            cpus[n++] = cpu;
    }
    qsort(cpus, n, sizeof *cpus, compare_long);
    for (size_t i = 0; !rc && i < n; i++) {
        if (i == 0 || cpus[i] != cpus[i - 1])
            rc = add_cpu(f, dir, prefix, cpus[i], e);
    }
    return rc;
}

/* Splits a path into the directory and the prefix of its trace's files, "NAME.blktrace.". False where the
 * path is an existing file with a name of another form. Both buffers hold a path and the suffix. */
static bool split_name(const char *path, bool exists, char *dir, char *prefix)
{
    const char *slash = strrchr(path, '/');
    char *suffix;

    strcpy(prefix, slash ? slash + 1 : path);
    if (slash)
        sprintf(dir, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else
        strcpy(dir, ".");
    suffix = strstr(prefix, SUFFIX);
    if (suffix && cpu_of(suffix, SUFFIX, strlen(SUFFIX)) >= 0)
        suffix[strlen(SUFFIX)] = '\0';
    else if (!exists)
        strcat(prefix, SUFFIX);
    else
        return false;
    return true;
}

int bt_files_add(struct bt_files *f, const char *path, struct err *e)
{
    size_t size = strlen(path) + sizeof SUFFIX + 1;
    CLEANUP_FREE char *dir = malloc(size);
    CLEANUP_FREE char *prefix = malloc(size);
    bool exists = access(path, F_OK) == 0;
    size_t before = f->count;
    int rc = 0;

    if (!dir || !prefix)
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    if (strcmp(path, "-") == 0)
        return add_one(f, path, e);
    if (split_name(path, exists, dir, prefix))
        rc = add_cpus(f, dir, prefix, e);
    if (!rc && exists)
        rc = add_one(f, path, e);
    if (!rc && !exists && f->count == before)
        rc = err_sys(e, ENOENT, "cannot open '%s'", path);
    return rc;
}
