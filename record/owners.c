/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/owners.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

#define LOOK_NS NS_PER_S

void owners_add(struct owners *o, dev_t device, ino_t inode)
{
    o->files[o->file_count].device = device;
    o->files[o->file_count++].inode = inode;
    for (size_t i = 0; i < OWNERS_SLOTS; i++)
        o->slots[i].looked_ns = 0; /* they may have the new one open, too */
}

/* The slot of a process, which may be another one's. */
static struct owner *slot_of(struct owners *o, uint32_t pid)
{
    return &o->slots[(pid * UINT32_C(0x9e3779b1) >> 8) % OWNERS_SLOTS];
}

static struct owner *slot_for(struct owners *o, uint32_t pid)
{
    struct owner *s = slot_of(o, pid);
    if (s->pid != pid)
        *s = (struct owner){.pid = pid};
    return s;
}

/* False where we may not look, or it is gone. */
static bool open_files(const struct owners *o, uint32_t pid, uint64_t *files)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%u/fd", pid);
    CLEANUP_DIR DIR *d = opendir(path);
    *files = 0;
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(d), entry->d_name, &st, 0) != 0)
            continue;
        for (unsigned i = 0; i < o->file_count; i++)
            if (o->files[i].device == st.st_dev && o->files[i].inode == st.st_ino)
                *files |= UINT64_C(1) << i;
    }
    return d != NULL;
}

void owners_look(struct owners *o, uint32_t pid, uint64_t now_ns)
{
    uint64_t files;
    struct owner *s = slot_of(o, pid);
    if (pid == 0 || (s->pid == pid && s->looked_ns && now_ns - s->looked_ns < LOOK_NS))
        return;
    s = slot_for(o, pid);
    s->looked_ns = now_ns;
    if (open_files(o, pid, &files))
        s->open = files;
}

void owners_look_all(struct owners *o, uint64_t now_ns)
{
    CLEANUP_DIR DIR *d = opendir("/proc");
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        uint64_t files;
        if (pid == 0 || !open_files(o, pid, &files) || !files)
            continue;
        *slot_for(o, pid) = (struct owner){.pid = pid, .open = files, .looked_ns = now_ns};
    }
}

void owners_use(struct owners *o, uint32_t pid, uint64_t files)
{
    if (pid)
        slot_for(o, pid)->used |= files;
}

uint64_t owners_files(const struct owners *o, uint32_t pid)
{
    const struct owner *s = slot_of((struct owners *)o, pid);
    return pid && s->pid == pid ? s->open | s->used : 0;
}
