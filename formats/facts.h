/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptions that are only compared and shown, never computed with: an ordered list of (key, value)
 * texts. What a host is, what a device is, which options a replay had.
 */
#ifndef IOTAPE_FACTS_H
#define IOTAPE_FACTS_H

#include <stddef.h>

#include "formats/base/err.h"

/* Bounds for what is read from a file, so that a hostile one cannot exhaust memory. */
#define FACTS_MAX 256
#define FACTS_TEXT_MAX 4096

struct fact {
    char *key, *value; /* owned */
};

/* Zero-initialised is empty and valid. */
struct facts {
    struct fact *list;
    size_t count;
};

/* Sets `key` to the formatted text; a key that is there keeps its place. A value longer than
 * FACTS_TEXT_MAX - 1 bytes is cut. -ENOMEM, or -E2BIG beyond FACTS_MAX keys. */
int facts_set(struct facts *f, struct err *e, const char *key, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* The value, owned by `f`, or NULL. */
const char *facts_get(const struct facts *f, const char *key);

/* Adds copies of all of `from` to `to`, each key with `prefix` before it ("" for none). */
int facts_merge(struct facts *to, const struct facts *from, const char *prefix, struct err *e);

void facts_release(struct facts *f);

#endif
