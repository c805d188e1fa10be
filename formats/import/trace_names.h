/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the names that a trace gives its devices or processes to numbers.
 */
#ifndef IOTAPE_TRACE_NAMES_H
#define IOTAPE_TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define TRACE_NAMES_MAX 1048576

struct trace_name {
    char *text;
    size_t len;
    uint32_t hash, id;
};

/* A hash table with open addressing. Zero-initialised is empty. */
struct trace_names {
    struct trace_name *slots;
    size_t room, count;
    struct trace_name last; /* the latest one found, its text borrowed */
};

/* The place of a name: its `id` is UINT32_MAX where it is new, and the caller's to set before the next call,
 * by trace_names_set. -EBADMSG beyond TRACE_NAMES_MAX, -ENOMEM. */
int trace_names_find(struct trace_names *n, const char *text, size_t len, uint32_t *id, struct err *e);
void trace_names_set(struct trace_names *n, const char *text, size_t len, uint32_t id);
void trace_names_release(struct trace_names *n);

#endif
