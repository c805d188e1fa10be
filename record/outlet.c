/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/outlet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void outlet_lost(struct outlet *o, uint32_t target, uint64_t count)
{
    uint32_t stream = o->streams && target != UINT32_MAX ? streams_lost_of(o->streams, target) : target;
    tape_writer_lost(o->w, stream, count);
}

static void name_issuer(void *self, uint32_t pid, size_t number, char *name)
{
    struct outlet *o = self;
    char comm[16] = "";
    if (o->config->keep_names && o->ops->process_name(o->source, pid, comm))
        snprintf(name, 32, "%.15s", comm);
    else
        snprintf(name, 32, "process-%zu", number);
}

static int write_piece(
        struct outlet *o, struct block_record *b, const struct piece *piece, uint64_t *ordinal, struct err *e)
{
    b->stream = piece->stream;
    b->offset_bytes = piece->offset_bytes;
    b->len_bytes = piece->len_bytes;
    int status = tape_writer_add(o->w, b, ordinal, e);
    if (status < 0)
        return status;
    uint64_t bytes = tape_writer_bytes(o->w);
    if (bytes != o->chunk_bytes) {
        o->chunk_bytes = bytes;
        o->chunk_records = *ordinal;
    }
    o->bytes += b->op <= BLOCK_WRITE ? b->len_bytes : 0;
    o->last_ns = o->base_ns + b->t_ns;
    o->open += b->latency_ns == TAPE_UNKNOWN;
    return 0;
}

static int remember(struct written *written, const struct piece *pieces, size_t count, struct err *e)
{
    written->count = 0;
    written->streams = count ? reallocarray(NULL, count, sizeof *written->streams) : NULL;
    if (count && !written->streams)
        return err_sys(e, ENOMEM, "cannot keep an open I/O");
    for (size_t i = 0; i < count; i++)
        written->streams[i] = pieces[i].stream;
    written->count = count;
    return 0;
}

int outlet_write(struct outlet *o, const struct captured *c, struct written *written, struct err *e)
{
    const struct piece whole = {c->r.stream, c->r.offset_bytes, c->r.len_bytes}, *pieces = &whole;
    size_t count = 1;
    struct block_record b = c->r;
    b.t_ns -= o->base_ns;
    int status = o->streams ? streams_route(o->streams, c, &pieces, &count, e) : 0;
    if (status == 0 && written)
        status = remember(written, pieces, count, e);
    if (status == 0 && count) /* others are no issuers of this tape */
        status = issuers_get(&o->issuers, o->w, c->r.issuer, name_issuer, o, &b.issuer, e);
    for (size_t i = 0; status == 0 && i < count; i++) {
        uint64_t ordinal;
        status = write_piece(o, &b, &pieces[i], &ordinal, e);
        if (status == 0 && written && i == 0)
            written->first = ordinal;
    }
    return status;
}

int outlet_late(struct outlet *o, const struct written *written, const struct captured *c, struct err *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < written->count; i++) {
        o->open--;
        status = tape_writer_late(o->w, written->first + i, written->streams[i], c->r.t_ns - o->base_ns,
                c->r.latency_ns, c->r.error, e);
    }
    return status;
}

void outlet_continue(struct outlet *o, uint64_t base_ns, struct tape_writer *next)
{
    issuers_release(&o->issuers);
    o->w = next;
    o->base_ns = base_ns;
    o->chunk_bytes = o->chunk_records = 0;
}

void written_release(struct written *written)
{
    free(written->streams);
    *written = (struct written){0};
}

void outlet_release(struct outlet *o)
{
    issuers_release(&o->issuers);
}
