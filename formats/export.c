/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/export.h"

#include <string.h>

#define EXPORT_ENTRY(name) &export_##name,
const struct export_ops *const export_list[] = {EXPORTS(EXPORT_ENTRY) NULL};

const struct export_ops *export_find(const char *name)
{
    for (size_t i = 0; export_list[i]; i++)
        if (strcmp(export_list[i]->name, name) == 0)
            return export_list[i];
    return NULL;
}
