/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The processes that threads belong to, and their names: learned when a thread is first seen.
 */
#ifndef IOTAPE_PIDS_H
#define IOTAPE_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash table with open addressing. Zero-initialised is empty. */
struct pids {
    struct pid_slot {
        uint32_t thread, process;
        bool used;
        char name[16];
    } * slots;
    size_t room, count;
};

/* Learns a thread, and the name (NULL: none) of its process. Without memory it stays unknown. */
void pids_note(struct pids *p, uint32_t thread, const char *name);

/* The process of a thread; the thread itself where it is not known. */
uint32_t pids_process(const struct pids *p, uint32_t thread);

/* The name that was seen first of a process. `name` has 16 bytes. */
bool pids_name(const struct pids *p, uint32_t process, char *name);

void pids_release(struct pids *p);

#endif
