/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/options.h"

#include <string.h>

char *options_label(const struct options *o)
{
    if (o->label)
        return strdup(o->label);
    const char *slash = strrchr(o->output, '/'), *name = slash ? slash + 1 : o->output;
    size_t len = strlen(name);
    if (len > 5 && strcmp(name + len - 5, ".tape") == 0)
        len -= 5;
    return strndup(name, len);
}
