/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What lies below overlay file systems. Formats: Linux, Documentation/filesystems/overlayfs.rst (upperdir,
 * lowerdir) and proc.rst (3.5 mountinfo). A file's device and inode number on an overlay are not those of the
 * layer's file that holds its bytes, so that both seem to be different files.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/host_sys.h"

#define LAYERS_DEEP 8 /* overlays upon overlays; the kernel allows 2 */

_Static_assert(SYS_PATH_BYTES >= PATH_MAX, "what realpath needs");

/* An overlay as it is mounted. */
struct overlay {
    char *line;                         /* of mountinfo, cut up; owned */
    char *root, *point, *upper, *lower; /* upper: NULL where there is none */
};

/* The value of NAME=VALUE in a list of mount options, cut out of it; blanks in it are escaped. */
static char *option_value(char *list, const char *name)
{
    size_t len = strlen(name);
    for (char *at = list; (at = strstr(at, name)); at += len)
        if ((at == list || at[-1] == ',') && at[len] == '=')
            return at + len + 1;
    return NULL;
}

static void end_value(char *value)
{
    if (value)
        value[strcspn(value, ",\n")] = '\0';
}

/* The line of a mount, if it is an overlay. */
static bool overlay_parse(char *line, uint64_t mount_id, struct overlay *o)
{
    char *rest = strstr(line, " - overlay "), *save = NULL;
    if (!rest || strtoull(line, NULL, 10) != mount_id)
        return false;
    *rest = '\0';
    for (int field = 0; field < 3; field++) /* ids and device */
        if (!strtok_r(field ? NULL : line, " ", &save))
            return false;
    o->root = strtok_r(NULL, " ", &save);
    o->point = strtok_r(NULL, " ", &save);
    o->upper = option_value(rest + 1, "upperdir");
    o->lower = option_value(rest + 1, "lowerdir");
    end_value(o->upper);
    end_value(o->lower);
    return o->root && o->point;
}

/* The overlay that a path is on. */
static bool overlay_of(const char *path, struct overlay *o)
{
    struct statx sx;
    CLEANUP_FILE FILE *in = fopen("/proc/self/mountinfo", "re");
    size_t room = 0;
    *o = (struct overlay){0};
    if (!in || statx(AT_FDCWD, path, 0, STATX_MNT_ID, &sx) != 0 || !(sx.stx_mask & STATX_MNT_ID))
        return false;
    while (getline(&o->line, &room, in) > 0) {
        if (!overlay_parse(o->line, sx.stx_mnt_id, o))
            continue;
        sys_unescape(o->root);
        sys_unescape(o->point);
        if (o->upper)
            sys_unescape(o->upper);
        return true;
    }
    free(o->line);
    o->line = NULL;
    return false;
}

bool sys_overlay_upper(const char *path, char upper[SYS_PATH_BYTES])
{
    struct overlay o;
    if (!overlay_of(path, &o))
        return false;
    bool known = o.upper && o.upper[0] == '/' && strlen(o.upper) < SYS_PATH_BYTES;
    if (known)
        strcpy(upper, o.upper);
    free(o.line);
    return known;
}

static bool in_layer(
        const char *layer, const struct overlay *o, const char *inside, char real[SYS_PATH_BYTES])
{
    struct stat st;
    const char *root = strcmp(o->root, "/") == 0 ? "" : o->root;
    int len = snprintf(real, SYS_PATH_BYTES, "%s%s%s", layer, root, inside);
    return layer[0] == '/' && len < SYS_PATH_BYTES && stat(real, &st) == 0 && S_ISREG(st.st_mode);
}

/* The path of a file within the overlay, or NULL. */
static const char *path_inside(const char *full, const char *point)
{
    size_t len = strcmp(point, "/") == 0 ? 0 : strlen(point);
    return strncmp(full, point, len) == 0 && full[len] == '/' ? full + len : NULL;
}

/* One overlay down. Layers are searched as the kernel does: the upper one, then the lower ones in order. */
static bool one_down(const char *path, char real[SYS_PATH_BYTES])
{
    struct overlay o;
    char full[SYS_PATH_BYTES], *save = NULL;
    if (!overlay_of(path, &o))
        return false;
    const char *inside = realpath(path, full) ? path_inside(full, o.point) : NULL;
    bool found = inside && o.upper && in_layer(o.upper, &o, inside, real);
    for (char *l = strtok_r(inside ? o.lower : NULL, ":", &save); inside && o.lower && l && !found;
            l = strtok_r(NULL, ":", &save)) {
        sys_unescape(l);
        found = in_layer(l, &o, inside, real);
    }
    free(o.line);
    return found;
}

bool sys_overlay_real(const char *path, char real[SYS_PATH_BYTES])
{
    char next[SYS_PATH_BYTES];
    bool found = one_down(path, real);
    for (int depth = 1; found && depth < LAYERS_DEEP && one_down(real, next); depth++)
        strcpy(real, next);
    return found;
}
