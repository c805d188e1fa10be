/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/source.h"

#include <stdio.h>
#include <string.h>

#define ENTRY(name) &source_##name,
static const struct source_ops *const sources[] = {SOURCES(ENTRY) NULL};

const struct source_ops *source_find(const char *name)
{
    for (size_t i = 0; sources[i]; i++)
        if (strcmp(sources[i]->name, name) == 0)
            return sources[i];
    return NULL;
}

char *source_help(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; out && sources[i]; i++)
        fprintf(out, "%s  %-8s %s%s", i ? "\n" : "", sources[i]->name, sources[i]->help,
                i ? "" : " (default)");
    if (out)
        fclose(out);
    return text;
}
