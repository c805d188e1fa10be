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
#include <string.h>

#include "formats/base/csv_text.h"
#include "formats/export.h"
#include "formats/export/cells.h"
#include "formats/export/lines.h"

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

static const struct lines lines = {.quote = csv_text, .tape = tape_line, .run = run_line};

static int export_tape(struct tape_reader *r, struct out *o, struct err *e)
{
    out_text(o, TAPE_HEADER);
    return lines_of_tape(&lines, r, o, e);
}

static int export_run(struct run_reader *r, struct out *o, struct err *e)
{
    out_text(o, RUN_HEADER);
    return lines_of_run(&lines, r, o, e);
}

const struct export_ops export_csv = {
        .name = "csv",
        .help = "one line for each record, RFC 4180 with LF",
        .tape = export_tape,
        .run = export_run,
};
