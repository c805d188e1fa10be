/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/block.h"

#include <stddef.h>
#include <string.h>

static const char *const op_names[BLOCK_OPS] = {"read", "write", "flush", "discard", "write_zeroes"};

static const char *const flag_names[BLOCK_FLAGS] = {
        "preflush", "fua", "sync", "meta", "readahead", "prio", "nomerge", "background", "secure"};

const char *block_op_name(unsigned op)
{
    return op < BLOCK_OPS ? op_names[op] : NULL;
}

int block_op_parse(const char *name)
{
    for (int i = 0; i < BLOCK_OPS; i++)
        if (strcmp(op_names[i], name) == 0)
            return i;
    return -1;
}

const char *block_flags_name(unsigned flags, char buf[BLOCK_FLAGS_TEXT_BYTES])
{
    char *p = buf;
    *p = 0;
    for (unsigned i = 0; i < BLOCK_FLAGS; i++) {
        if (!(flags & (1U << i)))
            continue;
        if (p > buf)
            *p++ = '|';
        p = stpcpy(p, flag_names[i]);
    }
    return buf;
}

int block_flags_parse(const char *text)
{
    int flags = 0;
    while (*text) {
        size_t n = strcspn(text, "|");
        int found = -1;
        for (int i = 0; i < BLOCK_FLAGS; i++)
            if (strlen(flag_names[i]) == n && strncmp(flag_names[i], text, n) == 0)
                found = i;
        if (found < 0)
            return -1;
        flags |= 1 << found;
        text += n + (text[n] == '|');
    }
    return flags;
}
