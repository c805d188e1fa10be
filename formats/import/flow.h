/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What all formats of one record a line (or of a fixed size) have in common: their files are merged by time,
 * records sorted within a window and written, what cannot be read is refused or counted.
 */
#ifndef IOTAPE_FLOW_H
#define IOTAPE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/csv_rows.h"
#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/import.h"
#include "formats/import/input.h"
#include "formats/import/trace_names.h"

struct flow;

/* One file. `next` is its record that comes next, with the time that the trace gives it. */
struct flow_file {
    struct input in;
    struct csv_rows *rows; /* of CSV formats */
    struct block_record next;
    bool has_next;
};

/* How a format is read. */
struct flow_format {
    const char *issuer; /* of all records, NULL where the format says it */
    /* Times count from an epoch: the first record becomes t = 0. Else they count from the trace's begin. */
    bool absolute;
    /* The next record of a file: 1; 0 at its end; -EBADMSG where one cannot be read, which --skip-bad counts;
     * another -errno. Errors name file and place. */
    int (*next)(struct flow *f, struct flow_file *file, struct block_record *r, struct err *e);
    /* For CSV formats, in place of `next` (which is then flow_next_row): a record from a row: 1; 0 where the
     * row has none (a heading); errors do not name the place. */
    int (*row)(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e);
    /* Nanoseconds from the epoch of absolute times to 1970. */
    uint64_t epoch_to_unix_ns;
    bool is_wall_clock; /* epoch_to_unix_ns tells something */
    /* Called with all records in order before they are written, to complete them. May be NULL. */
    int (*complete)(struct flow *f, struct block_record *r, struct err *e);
    void *own;
};

struct flow {
    const struct flow_format *format;
    const struct import_options *opts;
    struct import_out *out;
    struct sorter *sorter;
    struct flow_file *files;
    size_t file_count;
    struct trace_names streams, issuers;
    uint32_t stream_count, issuer_count, issuer;
    bool begun, done; /* done: what comes lies behind the part */
    uint64_t base_ns; /* of absolute times: the first record's */
    uint64_t seen_ns; /* of anything that is no record, likewise absolute */
    uint64_t last_ns, records, bad, len_bytes;
    uint64_t untimely;  /* of those that are bad, whose times do not fit */
    uint64_t last_line; /* of the row that is being read, for headings */
};

/* Of all records, also those outside the part. */
struct flow_totals {
    uint64_t records, elapsed_ns, len_bytes; /* len_bytes: of reads and writes */
};

/* Reads everything; sets the trace's length and the counts "bad" and "out_of_order". `totals` may be NULL. */
int flow_run(const struct flow_format *format, const char *const *paths, size_t count,
        const struct import_options *opts, struct import_out *out, struct flow_totals *totals, struct err *e);

/* The number of the stream or issuer that the trace calls so. Where the name may be personal, `kind` stands
 * in its place with a number ("disk-1"), unless names are kept; NULL: the name itself. */
int flow_stream(struct flow *f, const char *name, size_t len, const char *kind, uint32_t *id, struct err *e);
int flow_issuer(struct flow *f, const char *name, size_t len, uint32_t *id, struct err *e);

/* flow_format.next of CSV formats. */
int flow_next_row(struct flow *f, struct flow_file *file, struct block_record *r, struct err *e);

/* -EBADMSG where the end of a range lies beyond 64 bits. */
int flow_check_range(const struct block_record *r, struct err *e);

/* -EBADMSG where a latency that the trace gives is not below SORTER_SPAN_NS. */
int flow_check_latency(uint64_t latency_ns, struct err *e);

/* Whether the first lines of a file's head are rows of `columns` cells, of which each is described by one
 * letter of `kinds`: n a whole number, d a decimal one, w a word of letters, x anything; a row may have more
 * cells where `more`. A first line that is no such row may be a heading. */
bool flow_probe(const uint8_t *head, size_t len, const char *kinds, bool more);

#endif
