/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DECLARE(name) extern const struct target_ops target_##name;
TARGETS(DECLARE)
#undef DECLARE

#define LIST(name) &target_##name,
const struct target_ops *const target_list[] = {TARGETS(LIST) NULL};
#undef LIST

static const struct target_ops *find_scheme(const char *url)
{
    for (int i = 0; target_list[i]; i++)
        for (const char *const *p = target_list[i]->prefixes; *p; p++)
            if (strncmp(url, *p, strlen(*p)) == 0)
                return target_list[i];
    return NULL;
}

static int unknown_scheme(const char *url, struct err *e)
{
    char known[256] = "";
    for (int i = 0; target_list[i]; i++)
        for (const char *const *p = target_list[i]->prefixes; *p; p++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s, ", *p);
        }
    return err_set(e, EINVAL,
            "target '%s' has an unknown scheme: known are %sand paths; a file that is called so is 'aio:%s'",
            url, known, url);
}

/* RFC 3986, 3.1: a letter and then letters, digits, '+', '-' and '.'. A file that is there is no URL. */
static bool has_scheme(const char *url)
{
    size_t len = 0;
    while (isalnum((unsigned char)url[len]) || (len && url[len] && strchr("+-.", url[len])))
        len++;
    return len && url[len] == ':' && isalpha((unsigned char)url[0]) && access(url, F_OK) < 0;
}

int target_open(struct target **t, const char *url, const struct target_options *o, struct err *e)
{
    const struct target_ops *ops = find_scheme(url);
    if (!ops && has_scheme(url))
        return unknown_scheme(url, e);
    return (ops ? ops : &target_aio)->open(t, url, o, e);
}

void target_close(struct target *t)
{
    if (t)
        t->ops->close(t);
}
