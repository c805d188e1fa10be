/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The last stage of a recorder: sorted I/Os of devices become records of the tape's streams.
 */
#ifndef IOTAPE_OUTLET_H
#define IOTAPE_OUTLET_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/tape.h"
#include "record/issuers.h"
#include "record/source.h"
#include "record/streams.h"

/* All pointers are borrowed. */
struct outlet {
    const struct source_ops *ops;
    struct source *source;
    const struct source_config *config;
    struct streams *streams; /* NULL: each device is the stream of its number */
    struct tape_writer *w;
    uint64_t base_ns; /* t at which the tape begins */
    struct issuers issuers;
    uint64_t bytes, last_ns;
    uint64_t open;                       /* records without a latency */
    uint64_t chunk_bytes, chunk_records; /* of the tape, when it last grew */
};

/* The records that an I/O became, to complete them later. */
struct written {
    uint64_t first;    /* ordinal; the others follow */
    uint32_t *streams; /* of each; owned */
    size_t count;
};

/* Writes the records of an I/O. `written` may be NULL; else written_release it. */
int outlet_write(struct outlet *o, const struct captured *c, struct written *written, struct err *e);

/* Completes what was written without a latency; c has it now. */
int outlet_late(struct outlet *o, const struct written *written, const struct captured *c, struct err *e);

/* Counts events that were lost on a device (UINT32_MAX: on none in particular). */
void outlet_lost(struct outlet *o, uint32_t target, uint64_t count);

/* Goes on with another tape, whose t = 0 is `base_ns`. */
void outlet_continue(struct outlet *o, uint64_t base_ns, struct tape_writer *next);

void written_release(struct written *written);
void outlet_release(struct outlet *o);

#endif
