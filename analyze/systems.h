/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The systems of a comparison: which files belong to which, and what they are called.
 */
#ifndef IOTAPE_SYSTEMS_H
#define IOTAPE_SYSTEMS_H

#include <stddef.h>

#include "analyze/source.h"
#include "formats/base/err.h"

#define SYSTEMS_MAX       64
#define SYSTEMS_FILES_MAX 1024

struct system {
    const char *given;   /* --system NAME; NULL for a file by itself */
    char *name;          /* by systems_open; owned */
    size_t first, count; /* its files */
    size_t first_source, source_count;
};

struct systems {
    struct system list[SYSTEMS_MAX];
    size_t count;
    const char *paths[SYSTEMS_FILES_MAX]; /* not owned */
    size_t path_count;
    struct source_list sources; /* by systems_open: one for each path, several for a foreign result */
};

/* The command line, in its order: a named system takes all files up to the next; a file before any
 * named one is a system by itself. -EINVAL, -E2BIG. */
int systems_name(struct systems *s, const char *name, struct err *e);
int systems_file(struct systems *s, const char *path, struct err *e);

/* Opens all files and names the systems: as given; else by the file's name without directory and extension;
 * where two would be called the same, by the run's target; then by the path. Two of the same name are an
 * error, so is a system without files or with the same file twice. */
int systems_open(struct systems *s, struct err *e);
void systems_release(struct systems *s);

/* By name, or by the name of a run's target; the first for NULL. -EINVAL with a list of what there is. */
int systems_find(const struct systems *s, const char *name, size_t *index, struct err *e);

#endif
