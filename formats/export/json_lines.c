/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Records as JSON lines (one object a line, UTF-8; https://jsonlines.org), with the names of CSV's columns as
 * keys and in their order (csv.c). Numbers are whole and may exceed 2^53; flags are an array of texts; what
 * is not known is null.
 */
#include <string.h>

#include "formats/base/json.h"
#include "formats/export.h"
#include "formats/export/cells.h"
#include "formats/export/lines.h"

/* Longest of one line without its names. */
#define LINE_BYTES 768

static char *put_number(char *p, const char *key, uint64_t value, bool known)
{
    p = stpcpy(p, key);
    return known ? out_u64(p, value) : stpcpy(p, "null");
}

static char *put_text(char *p, const char *key, const struct cells *c, uint32_t id)
{
    return cells_put(stpcpy(p, key), c, id);
}

static char *put_op(char *p, unsigned op)
{
    return stpcpy(stpcpy(stpcpy(p, ",\"op\":\""), block_op_name(op)), "\"");
}

static char *put_flags(char *p, unsigned flags)
{
    const char *before = "";
    p = stpcpy(p, ",\"flags\":[");
    for (unsigned i = 0; i < BLOCK_FLAGS; i++) {
        char name[BLOCK_FLAGS_TEXT_BYTES];
        if (!(flags >> i & 1))
            continue;
        p = stpcpy(stpcpy(stpcpy(stpcpy(p, before), "\""), block_flags_name(1U << i, name)), "\"");
        before = ",";
    }
    return stpcpy(p, "]");
}

static char *put_end(char *p, uint64_t latency_ns, uint16_t error)
{
    bool known = latency_ns != TAPE_UNKNOWN;
    p = put_number(p, ",\"latency_ns\":", latency_ns, known);
    p = put_number(p, ",\"error\":", error, known || error);
    return stpcpy(p, "}\n");
}

static void tape_line(
        struct out *o, const struct block_record *r, const struct cells *streams, const struct cells *issuers)
{
    char *p = out_room(o, LINE_BYTES + streams->len[r->stream] + issuers->len[r->issuer]);
    p = put_number(p, "{\"t_ns\":", r->t_ns, true);
    p = put_text(p, ",\"stream\":", streams, r->stream);
    p = put_text(p, ",\"issuer\":", issuers, r->issuer);
    p = put_op(p, r->op);
    p = put_flags(p, r->flags);
    p = put_number(p, ",\"offset_bytes\":", r->offset_bytes, true);
    p = put_number(p, ",\"len_bytes\":", r->len_bytes, true);
    out_advance(o, put_end(p, r->latency_ns, r->error));
}

/* Issued late is positive, early negative. */
static char *put_lateness(char *p, uint64_t scheduled_ns, uint64_t issued_ns)
{
    bool known = scheduled_ns != TAPE_UNKNOWN && issued_ns != TAPE_UNKNOWN, early = issued_ns < scheduled_ns;
    return put_number(p, known && early ? ",\"lateness_ns\":-" : ",\"lateness_ns\":",
            early ? scheduled_ns - issued_ns : issued_ns - scheduled_ns, known);
}

static void run_line(struct out *o, const struct run_chunk *c, uint32_t i, const struct cells *streams)
{
    char *p = out_room(o, LINE_BYTES + streams->len[c->stream[i]]);
    p = put_number(p, "{\"repetition\":", c->repetition, true);
    p = put_number(p, ",\"record\":", c->record[i] + 1, true);
    p = put_text(p, ",\"stream\":", streams, c->stream[i]);
    p = put_op(p, c->op[i]);
    p = put_number(p, ",\"offset_bytes\":", c->offset_bytes[i], true);
    p = put_number(p, ",\"len_bytes\":", c->len_bytes[i], true);
    p = put_number(p, ",\"scheduled_ns\":", c->scheduled_ns[i], c->scheduled_ns[i] != TAPE_UNKNOWN);
    p = put_number(p, ",\"issued_ns\":", c->issued_ns[i], c->issued_ns[i] != TAPE_UNKNOWN);
    p = put_lateness(p, c->scheduled_ns[i], c->issued_ns[i]);
    out_advance(o, put_end(p, c->latency_ns[i], c->error[i]));
}

static const struct lines lines = {.quote = json_quote, .tape = tape_line, .run = run_line};

static int export_tape(struct tape_reader *r, struct out *o, struct err *e)
{
    return lines_of_tape(&lines, r, o, e);
}

static int export_run(struct run_reader *r, struct out *o, struct err *e)
{
    return lines_of_run(&lines, r, o, e);
}

const struct export_ops export_json = {
        .name = "json",
        .help = "one JSON object on a line for each record",
        .tape = export_tape,
        .run = export_run,
};
