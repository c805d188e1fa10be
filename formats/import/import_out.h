/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where imports write: a tape that begins to exist with its first record, and holds the part of the trace
 * that was asked for. Stream and issuer numbers are those of the trace; in the tape only the ones are that
 * have records there.
 */
#ifndef IOTAPE_IMPORT_OUT_H
#define IOTAPE_IMPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/tape.h"

/* Which part of a trace. Zero-initialised is all of it. */
struct import_part {
    const char *const *only; /* names of streams; the caller's */
    size_t only_count;       /* 0: all streams */
    uint64_t from_ns;        /* becomes the tape's t = 0 */
    uint64_t for_ns;         /* 0: to the end */
};

struct import_out;

/* Nothing is created yet. `info` is taken over (and emptied); `path` and `part` must outlive the handle. */
int import_out_open(struct import_out **o, const char *path, struct tape_info *info,
        const struct import_part *part, struct err *e);

/* What the tape will say about itself; may be changed until the first record. started_unix_ns is of the
 * trace's t = 0. */
struct tape_info *import_out_info(struct import_out *o);

/* As tape_writer_stream, tape_writer_issuer; what is given is copied. More than TAPE_STREAMS_MAX streams are
 * an error only where records of them come. */
int import_out_stream(struct import_out *o, const struct tape_stream *s, uint32_t *id, struct err *e);
/* The same of a stream that the trace calls `name`, which is what --only means, and the tape s->name. */
int import_out_stream_of(
        struct import_out *o, const char *name, const struct tape_stream *s, uint32_t *id, struct err *e);
int import_out_issuer(struct import_out *o, const char *name, uint32_t *id, struct err *e);

/* As tape_writer_add and tape_writer_late, with times of the trace. What lies outside the part is dropped. */
int import_out_add(struct import_out *o, const struct block_record *r, uint64_t *ordinal, struct err *e);
int import_out_late(struct import_out *o, uint64_t ordinal, uint32_t stream, uint64_t t_ns,
        uint64_t latency_ns, uint16_t error, struct err *e);

/* For what is no block record: whether a stream was asked for, and what number it has in the tape, which
 * begins to exist with that. */
bool import_out_wants(const struct import_out *o, uint32_t stream);
int import_out_use(struct import_out *o, uint32_t stream, uint32_t *id, struct err *e);

/* Whether all that may come from t_ns on lies behind the part. */
bool import_out_is_past(const struct import_out *o, uint64_t t_ns);

/* As tape_writer_lost and tape_writer_count; kept until the end. */
void import_out_lost(struct import_out *o, uint32_t stream, uint64_t count);
void import_out_count(struct import_out *o, const char *name, uint64_t count);

/* How long the trace is. */
void import_out_elapsed(struct import_out *o, uint64_t elapsed_ns);

/* One line that a person should read: a doubt, a property of the trace. The first one stays. */
void import_out_note(struct import_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Creates the tape now, also where no record comes: *w (may be NULL) is its writer, owned by `o`. */
int import_out_begin(struct import_out *o, struct tape_writer **w, struct err *e);

/* What came of it, for the last line. */
struct import_summary {
    uint64_t records, bytes, elapsed_ns;
    uint64_t conversations;
    const char *note; /* owned by the handle; "" for none */
};

/* Finishes the tape. -EINVAL where no record lies in the part, or a stream was asked for that is not there.
 */
int import_out_finish(struct import_out *o, const char *ended, struct import_summary *s, struct err *e);

/* Frees the handle (NULL is allowed) and removes what is unfinished. */
void import_out_close(struct import_out *o);

#endif
