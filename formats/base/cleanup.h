/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Cleanup by attribute: a local variable that releases what it holds when its scope ends.
 * `take_ptr`/`take_fd` hand the resource on to the caller instead.
 */
#ifndef IOTAPE_CLEANUP_H
#define IOTAPE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}
static inline void cleanup_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
static inline void cleanup_file(FILE **f)
{
    if (*f)
        fclose(*f);
}
static inline void cleanup_dir(DIR **d)
{
    if (*d)
        closedir(*d);
}

#define CLEANUP_FREE CLEANUP(cleanup_free)
#define CLEANUP_FD CLEANUP(cleanup_fd)
#define CLEANUP_FILE CLEANUP(cleanup_file)
#define CLEANUP_DIR CLEANUP(cleanup_dir)

/* The value of a cleaned-up variable, which no longer owns it. */
#define take_ptr(p)                                                                                          \
    ({                                                                                                       \
        __typeof__(p) taken_ = (p);                                                                          \
        (p) = NULL;                                                                                          \
        taken_;                                                                                              \
    })

static inline int take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
