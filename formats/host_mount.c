/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What mounts and control groups say about a disk. Formats: Linux, Documentation/filesystems/proc.rst
 * (3.5 mountinfo), admin-guide/cgroup-v1/blkio-controller.rst, admin-guide/cgroup-v2.rst (io.max).
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "formats/base/cleanup.h"
#include "formats/host_sys.h"

/* One line of /proc/self/mountinfo, cut in place. */
struct mount_line {
    uint64_t id;
    unsigned major, minor;
    char *point, *options, *type, *super_options;
};

static bool mount_parse(char *line, struct mount_line *m)
{
    char *rest = strstr(line, " - "), *save = NULL;
    int at = 0;

    if (!rest || sscanf(line, "%" SCNu64 " %*u %u:%u %n", &m->id, &m->major, &m->minor, &at) != 3 || !at)
        return false;
    *rest = '\0';
    if (!strtok_r(line + at, " ", &save)) /* the root within the file system */
        return false;
    m->point = strtok_r(NULL, " ", &save);
    m->options = strtok_r(NULL, " ", &save);
    m->type = strtok_r(rest + 3, " ", &save);
    if (!strtok_r(NULL, " ", &save)) /* the source */
        return false;
    m->super_options = strtok_r(NULL, " \n", &save);
    return m->point && m->options && m->type && m->super_options;
}

/* Whether a mount option may be shown: nothing that names a host, a user or a path. */
static bool option_shown(const char *option)
{
    static const char *const hidden[] = {"user", "domain", "pass", "cred", "addr", "ip", "srcaddr", "source",
            "lowerdir", "upperdir", "workdir", "subvol", "clientaddr", "mountaddr", "unc", "fsid", NULL};
    const char *value = strchr(option, '=');

    if (!value)
        return strchr(option, '/') == NULL;
    for (size_t i = 0; hidden[i]; i++)
        if (strncmp(option, hidden[i], strlen(hidden[i])) == 0)
            return false;
    return strpbrk(value, "/:.@") == NULL;
}

/* Appends the options of `list` that may be shown and are not there yet. */
static void options_add(char *text, size_t size, char *list)
{
    char *save = NULL;

    for (char *o = strtok_r(list, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
        size_t have = strlen(text), len = strlen(o);
        char *seen = strstr(text, o);
        bool known = seen && (seen == text || seen[-1] == ',') && (seen[len] == ',' || !seen[len]);
        if (known || !option_shown(o) || have + len + 2 > size)
            continue;
        snprintf(text + have, size - have, "%s%s", have ? "," : "", o);
    }
}

int sys_describe_mount(dev_t device, uint64_t mount_id, struct facts *f, struct err *e)
{
    CLEANUP_FILE FILE *in = fopen("/proc/self/mountinfo", "re");
    CLEANUP_FREE char *line = NULL;
    size_t size = 0;

    while (in && getline(&line, &size, in) > 0) {
        struct mount_line m;
        char options[1024] = "";
        int rc;
        if (!mount_parse(line, &m) ||
                (mount_id ? m.id != mount_id : m.major != major(device) || m.minor != minor(device)))
            continue;
        options_add(options, sizeof options, m.options);
        options_add(options, sizeof options, m.super_options);
        rc = facts_set(f, e, "fs", "%s", m.type);
        return rc ? rc : facts_set(f, e, "fs_options", "%s", options);
    }
    return 0;
}

/* ---- throttles ---- */

#define GROUPS_DEEP  32
#define GROUPS_SHOWN 16

struct throttle_search {
    unsigned major, minor;
    bool unified;
    unsigned found;
    struct facts *facts;
};

static const char *const v1_rules[] = {"read_bps", "write_bps", "read_iops", "write_iops"};
static const char *const v2_rules[] = {"rbps=", "wbps=", "riops=", "wiops="};

static void rule_add(char *text, size_t size, const char *rule, uint64_t value)
{
    size_t have = strlen(text);

    snprintf(text + have, size - have, "%s%s=%" PRIu64, have ? " " : "", rule, value);
}

/* The line for our disk in a file of lines "MAJOR:MINOR ...": its rest, or NULL. */
static char *line_of_disk(FILE *in, const struct throttle_search *s, char *line, int size)
{
    unsigned ma, mi;
    int at;

    while (in && fgets(line, size, in)) {
        at = 0;
        if (sscanf(line, "%u:%u %n", &ma, &mi, &at) == 2 && at && ma == s->major && mi == s->minor)
            return line + at;
    }
    return NULL;
}

static void rules_v1(const struct throttle_search *s, const char *dir, char *text, size_t size)
{
    for (size_t i = 0; i < 4; i++) {
        char path[4096], line[256];
        snprintf(path, sizeof path, "%s/blkio.throttle.%s_device", dir, v1_rules[i]);
        CLEANUP_FILE FILE *in = fopen(path, "re");
        char *rest = line_of_disk(in, s, line, sizeof line);
        if (rest)
            rule_add(text, size, v1_rules[i], strtoull(rest, NULL, 10));
    }
}

static void rules_v2(const struct throttle_search *s, const char *dir, char *text, size_t size)
{
    char path[4096], line[256], *rest;

    snprintf(path, sizeof path, "%s/io.max", dir);
    CLEANUP_FILE FILE *in = fopen(path, "re");
    rest = line_of_disk(in, s, line, sizeof line);
    for (size_t i = 0; rest && i < 4; i++) {
        char *at = strstr(rest, v2_rules[i]);
        if (at && at[strlen(v2_rules[i])] != 'm') /* "max": no limit */
            rule_add(text, size, v1_rules[i], strtoull(at + strlen(v2_rules[i]), NULL, 10));
    }
}

static int throttles_below(struct throttle_search *s, const char *dir, int depth, struct err *e)
{
    char text[256] = "", key[32];
    CLEANUP_DIR DIR *d = opendir(dir);
    int rc = 0;

    (s->unified ? rules_v2 : rules_v1)(s, dir, text, sizeof text);
    if (text[0] && s->found < GROUPS_SHOWN) {
        snprintf(key, sizeof key, s->found ? "throttle%u" : "throttle", s->found + 1);
        rc = facts_set(s->facts, e, key, "%s", text);
        s->found++;
    }
    for (struct dirent *entry; !rc && d && depth < GROUPS_DEEP && (entry = readdir(d));) {
        char sub[4096];
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if ((size_t)snprintf(sub, sizeof sub, "%s/%s", dir, entry->d_name) < sizeof sub)
            rc = throttles_below(s, sub, depth + 1, e);
    }
    return rc;
}

int sys_describe_throttles(dev_t disk, struct facts *f, struct err *e)
{
    struct throttle_search s = {.major = major(disk), .minor = minor(disk), .facts = f};
    CLEANUP_FILE FILE *in = fopen("/proc/self/mountinfo", "re");
    CLEANUP_FREE char *line = NULL;
    size_t size = 0;
    int rc = 0;

    while (!rc && in && getline(&line, &size, in) > 0) {
        struct mount_line m;
        if (!mount_parse(line, &m))
            continue;
        s.unified = strcmp(m.type, "cgroup2") == 0;
        if (s.unified || (strcmp(m.type, "cgroup") == 0 && strstr(m.super_options, "blkio")))
            rc = throttles_below(&s, m.point, 0, e);
    }
    return rc;
}
