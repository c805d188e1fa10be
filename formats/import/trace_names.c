/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/trace_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool is(const struct trace_name *n, const char *text, size_t len, uint32_t hash)
{
    return n->hash == hash && n->len == len && memcmp(n->text, text, len) == 0;
}

static struct trace_name *slot_of(const struct trace_names *n, const char *text, size_t len, uint32_t hash)
{
    size_t i = hash & (n->room - 1);

    while (n->slots[i].text && !is(&n->slots[i], text, len, hash))
        i = (i + 1) & (n->room - 1);
    return &n->slots[i];
}

static int grow(struct trace_names *n, struct err *e)
{
    struct trace_names larger = {.room = n->room ? 2 * n->room : 64, .count = n->count};

    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return err_sys(e, ENOMEM, "cannot keep a name");
    for (size_t i = 0; i < n->room; i++) {
        struct trace_name *s = &n->slots[i];
        if (s->text)
            *slot_of(&larger, s->text, s->len, s->hash) = *s;
    }
    free(n->slots);
    *n = larger;
    return 0;
}

static uint32_t hash_of(const char *text, size_t len)
{
    return (uint32_t)XXH3_64bits(text, len);
}

int trace_names_find(struct trace_names *n, const char *text, size_t len, uint32_t *id, struct err *e)
{
    if (n->last.text && n->last.len == len && memcmp(n->last.text, text, len) == 0) {
        *id = n->last.id;
        return 0;
    }
    if (n->count * 2 >= n->room) {
        int rc = grow(n, e);
        if (rc)
            return rc;
    }
    uint32_t hash = hash_of(text, len);
    struct trace_name *s = slot_of(n, text, len, hash);
    if (!s->text) {
        if (n->count == TRACE_NAMES_MAX)
            return err_set(e, EBADMSG, "more than %d names", TRACE_NAMES_MAX);
        char *copy = malloc(len + 1);
        if (!copy)
            return err_sys(e, ENOMEM, "cannot keep a name");
        memcpy(copy, text, len);
        copy[len] = '\0';
        *s = (struct trace_name){copy, len, hash, UINT32_MAX};
        n->count++;
    }
    *id = s->id;
    if (s->id != UINT32_MAX)
        n->last = *s;
    return 0;
}

void trace_names_set(struct trace_names *n, const char *text, size_t len, uint32_t id)
{
    slot_of(n, text, len, hash_of(text, len))->id = id;
}

void trace_names_release(struct trace_names *n)
{
    for (size_t i = 0; i < n->room; i++)
        free(n->slots[i].text);
    free(n->slots);
    *n = (struct trace_names){0};
}
