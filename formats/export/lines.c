/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/export/lines.h"

#include "formats/base/cleanup.h"

/* Makes what is missing of the cells of a record. */
static int make_cells(struct tape_reader *r, const struct block_record *b, struct cells *streams,
        struct cells *issuers, struct err *e)
{
    int rc = 0;
    if (!streams->text[b->stream])
        rc = cells_make(streams, b->stream, tape_reader_stream(r, b->stream)->name, e);
    if (rc == 0 && !issuers->text[b->issuer])
        rc = cells_make(issuers, b->issuer, tape_reader_issuer(r, b->issuer), e);
    return rc;
}

int lines_of_tape(const struct lines *l, struct tape_reader *r, struct out *o, struct err *e)
{
    struct cells streams CLEANUP(cells_release) = {0}, issuers CLEANUP(cells_release) = {0};
    int rc = cells_init(&streams, tape_reader_stream_count(r), l->quote, e);
    if (rc == 0)
        rc = cells_init(&issuers, tape_reader_issuer_count(r), l->quote, e);
    const struct block_chunk *c;
    while (rc >= 0 && !o->failed && (rc = tape_reader_next(r, &c, e)) > 0) {
        for (uint32_t i = 0; i < c->count; i++) {
            struct block_record b = block_chunk_get(c, i);
            if ((rc = make_cells(r, &b, &streams, &issuers, e)) < 0)
                return rc;
            l->tape(o, &b, &streams, &issuers);
        }
    }
    return rc < 0 ? rc : 0;
}

int lines_of_run(const struct lines *l, struct run_reader *r, struct out *o, struct err *e)
{
    struct cells streams CLEANUP(cells_release) = {0};
    int rc = cells_init(&streams, run_reader_stream_count(r), l->quote, e);
    const struct run_chunk *c;
    while (rc >= 0 && !o->failed && (rc = run_reader_next(r, &c, e)) > 0) {
        for (uint32_t i = 0; i < c->count; i++) {
            uint32_t id = c->stream[i];
            if (!streams.text[id] && (rc = cells_make(&streams, id, run_reader_stream(r, id)->name, e)) < 0)
                return rc;
            l->run(o, c, i, &streams);
        }
    }
    return rc < 0 ? rc : 0;
}
