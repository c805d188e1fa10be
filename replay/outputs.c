/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/outputs.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"

/* The absolute path of a file that need not exist. False where its directory does not. */
static bool full_path(const char *path, char full[PATH_MAX])
{
    char dir[PATH_MAX], base[PATH_MAX];
    if (realpath(path, full))
        return true;
    if (strlen(path) >= PATH_MAX)
        return false;
    strcpy(dir, path);
    strcpy(base, path);
    if (!realpath(dirname(dir), full))
        return false;
    const char *name = basename(base);
    if (strlen(full) + strlen(name) + 2 > PATH_MAX)
        return false;
    strcat(full, "/");
    strcat(full, name);
    return true;
}

static bool same_file(const char *a, const char *b)
{
    struct stat at, bt;
    if (stat(a, &at) == 0 && stat(b, &bt) == 0)
        return at.st_dev == bt.st_dev && at.st_ino == bt.st_ino;
    char full_a[PATH_MAX], full_b[PATH_MAX];
    return full_path(a, full_a) && full_path(b, full_b) && strcmp(full_a, full_b) == 0;
}

static const char *path_of(const struct target *t)
{
    return strncmp(t->url, "aio:", 4) == 0 ? t->url + 4 : t->url;
}

int outputs_check_one(const char *output, const char *tape, struct err *e)
{
    struct stat st;
    enum tape_kind kind;
    if (same_file(output, tape))
        return err_set(e, EINVAL, "output '%s' is the tape", output);
    if (stat(output, &st) < 0)
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "output '%s' is no regular file", output);
    int r = tape_file_kind(output, &kind, e);
    if (r < 0)
        return r;
    return kind == TAPE_KIND_RUN || st.st_size == 0
                   ? 0
                   : err_set(e, EEXIST, "output '%s' exists and is no run; nothing is written", output);
}

static int check_output(const struct session *s, size_t index, struct err *e)
{
    const char *output = s->side[index].output;
    for (size_t i = 0; i < index; i++)
        if (same_file(output, s->side[i].output))
            return err_set(e, EINVAL, "output '%s' is given twice", output);
    for (size_t i = 0; i < s->targets; i++)
        if (same_file(output, path_of(s->target[i].target)))
            return err_set(e, EINVAL, "output '%s' is a target", output);
    return outputs_check_one(output, s->settings.tape, e);
}

/* Under two names it would be made twice, and each would have what the other one wrote. */
static int check_targets(const struct session *s, struct err *e)
{
    for (size_t i = 0; i < s->targets; i++)
        for (size_t k = 0; k < i; k++)
            if (same_file(path_of(s->target[i].target), path_of(s->target[k].target)))
                return err_set(e, EINVAL, "targets '%s' and '%s' are the same file", s->target[k].target->url,
                        s->target[i].target->url);
    return 0;
}

int outputs_check(const struct session *s, struct err *e)
{
    int failed = check_targets(s, e);
    if (failed < 0)
        return failed;
    for (size_t i = 0; i < s->targets; i++)
        if (same_file(s->settings.tape, path_of(s->target[i].target)))
            return err_set(e, EINVAL, "target '%s' is the tape", s->target[i].target->url);
    for (size_t i = 0; i < s->sides; i++) {
        int r = s->side[i].output ? check_output(s, i, e) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}
