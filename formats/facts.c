/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int facts_put(struct facts *f, const char *key, const char *text, struct err *e)
{
    char *value = strdup(text);
    if (!value)
        return err_sys(e, ENOMEM, "cannot keep '%s'", key);
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->list[i].key, key) != 0)
            continue;
        free(f->list[i].value);
        f->list[i].value = value;
        return 0;
    }
    if (f->count == FACTS_MAX) {
        free(value);
        return err_set(e, E2BIG, "more than %d descriptions", FACTS_MAX);
    }
    char *name = strdup(key);
    struct fact *list = name ? realloc(f->list, (f->count + 1) * sizeof *list) : NULL;
    if (!list) {
        free(name);
        free(value);
        return err_sys(e, ENOMEM, "cannot keep '%s'", key);
    }
    f->list = list;
    f->list[f->count++] = (struct fact){name, value};
    return 0;
}

int facts_set(struct facts *f, struct err *e, const char *key, const char *fmt, ...)
{
    char text[FACTS_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return facts_put(f, key, text, e);
}

const char *facts_get(const struct facts *f, const char *key)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->list[i].key, key) == 0)
            return f->list[i].value;
    return NULL;
}

int facts_merge(struct facts *to, const struct facts *from, const char *prefix, struct err *e)
{
    for (size_t i = 0; i < from->count; i++) {
        char key[FACTS_TEXT_MAX];
        snprintf(key, sizeof key, "%s%s", prefix, from->list[i].key);
        int r = facts_put(to, key, from->list[i].value, e);
        if (r < 0)
            return r;
    }
    return 0;
}

void facts_release(struct facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].key);
        free(f->list[i].value);
    }
    free(f->list);
    *f = (struct facts){0};
}
