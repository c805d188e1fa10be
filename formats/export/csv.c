/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Records as CSV, one line each:
 *
 *     t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error                       of a tape
 *     repetition,record,stream,op,offset_bytes,len_bytes,scheduled_ns,issued_ns,lateness_ns,latency_ns,error
 *                                                                                               of a run
 * Streams and issuers by name, flags joined by '|', records counted from 1. What is not known is an empty
 * cell; so is the error of an I/O whose completion was never seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/csv_text.h"
#include "formats/export.h"
#include "formats/export/cells.h"

#define TAPE_HEADER "t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error\n"
#define RUN_HEADER                                                                                           \
    "repetition,record,stream,op,offset_bytes,len_bytes,scheduled_ns,issued_ns,lateness_ns,latency_ns,"      \
    "error\n"

/* Longest of one line without its names: ten numbers of 20 digits, commas, operation, flags. */
#define LINE_BYTES 512
static char *put_text(char *p, const char *text)
{
    return stpcpy(p, text ? text : "");
}

static char *put_known(char *p, uint64_t value)
{
    return value == TAPE_UNKNOWN ? p : out_u64(p, value);
}

static char *put_error(char *p, uint64_t latency_ns, uint16_t error)
{
    return latency_ns == TAPE_UNKNOWN && !error ? p : out_u64(p, error);
}

static char *put_difference(char *p, uint64_t a, uint64_t b)
{
    if (a == TAPE_UNKNOWN || b == TAPE_UNKNOWN)
        return p;
    if (a < b)
        *p++ = '-';
    return out_u64(p, a < b ? b - a : a - b);
}

static void tape_line(
        struct out *o, const struct block_record *r, const struct cells *streams, const struct cells *issuers)
{
    char *p = out_room(o, LINE_BYTES + streams->len[r->stream] + issuers->len[r->issuer]);
    p = out_u64(p, r->t_ns);
    *p++ = ',';
    p = cells_put(p, streams, r->stream);
    *p++ = ',';
    p = cells_put(p, issuers, r->issuer);
    *p++ = ',';
    p = put_text(p, block_op_name(r->op));
    *p++ = ',';
    if (r->flags) {
        char flags[BLOCK_FLAGS_TEXT_BYTES];
        p = put_text(p, block_flags_name(r->flags, flags));
    }
    *p++ = ',';
    p = out_u64(p, r->offset_bytes);
    *p++ = ',';
    p = out_u64(p, r->len_bytes);
    *p++ = ',';
    p = put_known(p, r->latency_ns);
    *p++ = ',';
    p = put_error(p, r->latency_ns, r->error);
    *p++ = '\n';
    out_advance(o, p);
}

static int export_tape(struct tape_reader *r, struct out *o, struct err *e)
{
    struct cells streams CLEANUP(cells_release) = {0}, issuers CLEANUP(cells_release) = {0};
    int rc = cells_init(&streams, tape_reader_stream_count(r), csv_text, e);
    if (rc == 0)
        rc = cells_init(&issuers, tape_reader_issuer_count(r), csv_text, e);
    if (rc < 0)
        return rc;
    out_text(o, TAPE_HEADER);
    const struct block_chunk *c;
    while (!o->failed && (rc = tape_reader_next(r, &c, e)) > 0) {
        for (uint32_t i = 0; i < c->count; i++) {
            struct block_record b = block_chunk_get(c, i);
            if (!streams.text[b.stream] &&
                    (rc = cells_make(&streams, b.stream, tape_reader_stream(r, b.stream)->name, e)) < 0)
                return rc;
            if (!issuers.text[b.issuer] &&
                    (rc = cells_make(&issuers, b.issuer, tape_reader_issuer(r, b.issuer), e)) < 0)
                return rc;
            tape_line(o, &b, &streams, &issuers);
        }
    }
    return rc < 0 ? rc : 0;
}

static void run_line(struct out *o, const struct run_chunk *c, uint32_t i, const struct cells *streams)
{
    char *p = out_room(o, LINE_BYTES + streams->len[c->stream[i]]);
    p = out_u64(p, c->repetition);
    *p++ = ',';
    p = out_u64(p, c->record[i] + 1);
    *p++ = ',';
    p = cells_put(p, streams, c->stream[i]);
    *p++ = ',';
    p = put_text(p, block_op_name(c->op[i]));
    *p++ = ',';
    p = out_u64(p, c->offset_bytes[i]);
    *p++ = ',';
    p = out_u64(p, c->len_bytes[i]);
    *p++ = ',';
    p = put_known(p, c->scheduled_ns[i]);
    *p++ = ',';
    p = put_known(p, c->issued_ns[i]);
    *p++ = ',';
    p = put_difference(p, c->issued_ns[i], c->scheduled_ns[i]);
    *p++ = ',';
    p = put_known(p, c->latency_ns[i]);
    *p++ = ',';
    p = put_error(p, c->latency_ns[i], c->error[i]);
    *p++ = '\n';
    out_advance(o, p);
}

static int export_run(struct run_reader *r, struct out *o, struct err *e)
{
    struct cells streams CLEANUP(cells_release) = {0};
    int rc = cells_init(&streams, run_reader_stream_count(r), csv_text, e);
    if (rc < 0)
        return rc;
    out_text(o, RUN_HEADER);
    const struct run_chunk *c;
    while (!o->failed && (rc = run_reader_next(r, &c, e)) > 0) {
        for (uint32_t i = 0; i < c->count; i++) {
            uint32_t id = c->stream[i];
            if (!streams.text[id] && (rc = cells_make(&streams, id, run_reader_stream(r, id)->name, e)) < 0)
                return rc;
            run_line(o, c, i, &streams);
        }
    }
    return rc < 0 ? rc : 0;
}

const struct export_ops export_csv = {
        .name = "csv",
        .help = "one line for each record, RFC 4180 with LF",
        .tape = export_tape,
        .run = export_run,
};
