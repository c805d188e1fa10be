/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/target.h"

#define CLASSES 24 /* 4 KiB << 23 is beyond BUFFERS_LEN_MAX */

/* A free buffer begins with the place of the next one. */
struct free_buffer {
    struct free_buffer *next;
};

struct buffers {
    uint64_t bound_bytes, kept_bytes, out_bytes;
    struct free_buffer *free_list[CLASSES];
};

static unsigned class_of(uint64_t len_bytes)
{
    unsigned c = 0;
    while (((uint64_t)TARGET_ALIGN_BYTES << c) < len_bytes)
        c++;
    return c;
}

int buffers_open(struct buffers **out, uint64_t bound_bytes, struct err *e)
{
    struct buffers *b = calloc(1, sizeof *b);
    if (!b)
        return err_sys(e, ENOMEM, "cannot keep buffers");
    b->bound_bytes = bound_bytes;
    *out = b;
    return 0;
}

static void release_class(struct buffers *b, unsigned c)
{
    struct free_buffer *f = b->free_list[c];
    if (!f)
        return;
    b->free_list[c] = f->next;
    b->kept_bytes -= (uint64_t)TARGET_ALIGN_BYTES << c;
    free(f);
}

void buffers_close(struct buffers *b)
{
    if (!b)
        return;
    for (unsigned c = 0; c < CLASSES; c++)
        while (b->free_list[c])
            release_class(b, c);
    free(b);
}

/* Gives kept buffers of any size up until `size` more bytes are within the bound. */
static void make_room(struct buffers *b, uint64_t size)
{
    for (unsigned c = CLASSES; c-- > 0;)
        while (b->free_list[c] && b->kept_bytes + b->out_bytes + size > b->bound_bytes)
            release_class(b, c);
}

void *buffers_get(struct buffers *b, uint64_t len_bytes)
{
    unsigned c = class_of(len_bytes);
    if (c >= CLASSES)
        return NULL;
    uint64_t size = (uint64_t)TARGET_ALIGN_BYTES << c;
    struct free_buffer *f = b->free_list[c];
    if (f) {
        b->free_list[c] = f->next;
        b->kept_bytes -= size;
    } else {
        if (b->kept_bytes + b->out_bytes + size > b->bound_bytes)
            make_room(b, size);
        if (b->out_bytes && b->out_bytes + size > b->bound_bytes)
            return NULL;
        f = aligned_alloc(TARGET_ALIGN_BYTES, size);
        if (!f)
            return NULL;
    }
    b->out_bytes += size;
    return f;
}

void buffers_put(struct buffers *b, void *buffer, uint64_t len_bytes)
{
    unsigned c = class_of(len_bytes);
    uint64_t size = (uint64_t)TARGET_ALIGN_BYTES << c;
    struct free_buffer *f = buffer;
    b->out_bytes -= size;
    b->kept_bytes += size;
    f->next = b->free_list[c];
    b->free_list[c] = f;
    if (b->kept_bytes > b->bound_bytes)
        release_class(b, c);
}
