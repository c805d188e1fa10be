/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/systems.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int add_system(struct systems *s, const char *name, struct err *e)
{
    if (s->count == SYSTEMS_MAX)
        return err_set(e, E2BIG, "more than %d systems", SYSTEMS_MAX);
    s->list[s->count++] = (struct system){.given = name, .first = s->path_count};
    return 0;
}

int systems_name(struct systems *s, const char *name, struct err *e)
{
    if (!*name)
        return err_set(e, EINVAL, "a system needs a name");
    return add_system(s, name, e);
}

int systems_file(struct systems *s, const char *path, struct err *e)
{
    if (s->path_count == SYSTEMS_FILES_MAX)
        return err_set(e, E2BIG, "more than %d files", SYSTEMS_FILES_MAX);
    if (!s->count || !s->list[s->count - 1].given) {
        int rc = add_system(s, NULL, e);
        if (rc < 0)
            return rc;
    }
    s->paths[s->path_count++] = path;
    s->list[s->count - 1].count++;
    return 0;
}

/* ---- names ---- */

enum naming { BY_STEM, BY_TARGET, BY_PATH, NAMINGS };

/* Without the extension, and without the ".partial" of what was cut off. */
static char *stem_of(const char *base)
{
    size_t len = strlen(base), partial = strlen(".partial");
    if (len > partial && strcmp(base + len - partial, ".partial") == 0)
        len -= partial;
    const char *dot = memrchr(base, '.', len);
    return strndup(base, dot && dot > base ? (size_t)(dot - base) : len);
}

static char *name_by(enum naming naming, const struct source *source)
{
    const char *slash = strrchr(source->path, '/'), *base = slash ? slash + 1 : source->path;
    switch (naming) {
    case BY_STEM:
        return stem_of(base);
    case BY_TARGET:
        return strdup(source->target_name && *source->target_name ? source->target_name : base);
    default:
        return strdup(source->path);
    }
}

static bool is_taken(const struct systems *s, size_t index)
{
    for (size_t i = 0; i < s->count; i++)
        if (i != index && s->list[i].name && strcmp(s->list[i].name, s->list[index].name) == 0)
            return true;
    return false;
}

static int name_unnamed(struct systems *s, enum naming naming, const bool *again, struct err *e)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->list[i].given || !again[i])
            continue;
        free(s->list[i].name);
        s->list[i].name = name_by(naming, &s->sources.list[s->list[i].first_source]);
        if (!s->list[i].name)
            return err_sys(e, ENOMEM, "cannot hold a name");
    }
    return 0;
}

static int name_all(struct systems *s, struct err *e)
{
    bool again[SYSTEMS_MAX];
    for (size_t i = 0; i < s->count; i++) {
        again[i] = true;
        if (s->list[i].given && !(s->list[i].name = strdup(s->list[i].given)))
            return err_sys(e, ENOMEM, "cannot hold a name");
    }
    for (enum naming naming = BY_STEM; naming < NAMINGS; naming++) {
        int rc = name_unnamed(s, naming, again, e);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < s->count; i++)
            again[i] = is_taken(s, i);
    }
    for (size_t i = 0; i < s->count; i++)
        if (again[i])
            return err_set(e, EINVAL, "two systems are called '%s'", s->list[i].name);
    return 0;
}

/* ---- opening ---- */

/* The same repetitions pooled twice would make n larger than it is. */
static int refuse_twice(const struct systems *s, const struct system *system, struct err *e)
{
    struct stat a, b;
    for (size_t i = system->first; i < system->first + system->count; i++)
        for (size_t j = system->first; j < i; j++)
            if (stat(s->paths[i], &a) == 0 && stat(s->paths[j], &b) == 0 && a.st_dev == b.st_dev &&
                    a.st_ino == b.st_ino)
                return err_set(e, EINVAL, "'%s' is given twice for one system", s->paths[i]);
    return 0;
}

int systems_open(struct systems *s, struct err *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].count)
            return err_set(e, EINVAL, "system '%s' has no files", s->list[i].given);
    for (size_t i = 0; i < s->count; i++) {
        struct system *system = &s->list[i];
        system->first_source = s->sources.count;
        for (size_t j = 0; j < system->count; j++) {
            int rc = source_open(&s->sources, s->paths[system->first + j], e);
            if (rc < 0)
                return rc;
        }
        system->source_count = s->sources.count - system->first_source;
    }
    for (size_t i = 0; i < s->count; i++) {
        int rc = refuse_twice(s, &s->list[i], e);
        if (rc < 0)
            return rc;
    }
    return name_all(s, e);
}

void systems_release(struct systems *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].name);
    source_list_release(&s->sources);
    *s = (struct systems){0};
}

int systems_find(const struct systems *s, const char *name, size_t *index, struct err *e)
{
    *index = 0;
    if (!name)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].name, name) == 0) {
            *index = i;
            return 0;
        }
    for (size_t i = 0; i < s->count; i++) {
        const char *target = s->sources.list[s->list[i].first_source].target_name;
        if (target && strcmp(target, name) == 0) {
            *index = i;
            return 0;
        }
    }
    char known[512] = "";
    for (size_t i = 0; i < s->count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", s->list[i].name);
    }
    return err_set(e, EINVAL, "no system is called '%s'; there are %s", name, known);
}
