/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/source/pids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/processes.h"

#define ROOM_MAX 1048576

static struct pid_slot *slot_of(const struct pids *p, uint32_t thread)
{
    size_t i = (thread * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (p->room - 1);

    while (p->slots[i].used && p->slots[i].thread != thread)
        i = (i + 1) & (p->room - 1);
    return &p->slots[i];
}

static bool grow(struct pids *p)
{
    struct pids larger = {.room = p->room ? 2 * p->room : 256, .count = p->count};

    if (larger.room > ROOM_MAX)
        return false;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < p->room; i++)
        if (p->slots[i].used)
            *slot_of(&larger, p->slots[i].thread) = p->slots[i];
    free(p->slots);
    *p = larger;
    return true;
}

void pids_note(struct pids *p, uint32_t thread, const char *name)
{
    if (p->count * 2 >= p->room && !grow(p))
        return;
    struct pid_slot *s = slot_of(p, thread);
    if (s->used)
        return;
    *s = (struct pid_slot){.thread = thread, .process = thread, .used = true};
    processes_of_thread(thread, &s->process); /* one that is gone by now counts as its own process */
    snprintf(s->name, sizeof s->name, "%s", name ? name : "");
    p->count++;
}

uint32_t pids_process(const struct pids *p, uint32_t thread)
{
    const struct pid_slot *s = p->room ? slot_of(p, thread) : NULL;

    return s && s->used ? s->process : thread;
}

bool pids_name(const struct pids *p, uint32_t process, char *name)
{
    for (size_t i = 0; i < p->room; i++)
        if (p->slots[i].used && p->slots[i].process == process && p->slots[i].name[0]) {
            memcpy(name, p->slots[i].name, 16);
            return true;
        }
    return false;
}

void pids_release(struct pids *p)
{
    free(p->slots);
    *p = (struct pids){0};
}
