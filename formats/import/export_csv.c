/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The CSV that `iotape-analyze export --format csv` writes of a tape (formats/export/csv.c):
 *
 *     t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error
 *
 * Names are taken as they are: the tape had pseudonyms where they were wanted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/flow.h"
#include "formats/import/number.h"

#define HEADER "t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error"

enum { T, STREAM, ISSUER, OP, FLAGS, OFFSET, LEN, LATENCY, ERROR, CELLS };

static int what_and_flags(const struct csv_row *row, struct block_record *r, struct err *e)
{
    int op = block_op_parse(row->cell[OP]), flags = block_flags_parse(row->cell[FLAGS]);

    if (op < 0)
        return err_set(e, EBADMSG, "unknown operation '%.64s'", row->cell[OP]);
    if (flags < 0)
        return err_set(e, EBADMSG, "unknown flags '%.64s'", row->cell[FLAGS]);
    r->op = (uint8_t)op;
    r->flags = (uint16_t)flags;
    return 0;
}

/* Empty cells: not known. */
static int outcome(const struct csv_row *row, struct block_record *r, struct err *e)
{
    uint64_t error = 0;
    int rc = 0;

    r->latency_ns = TAPE_UNKNOWN;
    if (row->len[LATENCY])
        rc = number_whole(row->cell[LATENCY], "latency", &r->latency_ns, e);
    if (!rc && row->len[LATENCY])
        rc = flow_check_latency(r->latency_ns, e);
    if (!rc && row->len[ERROR])
        rc = number_whole(row->cell[ERROR], "error", &error, e);
    if (!rc && error > UINT16_MAX)
        rc = err_set(e, EBADMSG, "error '%.64s' is too large", row->cell[ERROR]);
    r->error = (uint16_t)error;
    return rc;
}

static int take_row(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e)
{
    if (row->count != CELLS)
        return err_set(e, EBADMSG, "%zu cells instead of %d", row->count, CELLS);
    if (f->last_line == 1 && strcmp(row->cell[T], "t_ns") == 0)
        return 0;
    if (row->len[STREAM] == 0 || row->len[ISSUER] == 0)
        return err_set(e, EBADMSG, "stream or issuer is empty");
    *r = (struct block_record){0};
    int rc = number_whole(row->cell[T], "time", &r->t_ns, e);
    if (!rc)
        rc = what_and_flags(row, r, e);
    if (!rc)
        rc = number_whole(row->cell[OFFSET], "offset", &r->offset_bytes, e);
    if (!rc)
        rc = number_whole(row->cell[LEN], "length", &r->len_bytes, e);
    if (!rc)
        rc = flow_check_range(r, e);
    if (!rc && r->op == BLOCK_FLUSH && (r->offset_bytes || r->len_bytes))
        rc = err_set(e, EBADMSG, "a flush with a place");
    if (!rc)
        rc = outcome(row, r, e);
    if (!rc)
        rc = flow_stream(f, row->cell[STREAM], row->len[STREAM], NULL, &r->stream, e);
    if (!rc)
        rc = flow_issuer(f, row->cell[ISSUER], row->len[ISSUER], &r->issuer, e);
    return rc ? rc : 1;
}

static int csv_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    const struct flow_format format = {.next = flow_next_row, .row = take_row};

    return flow_run(&format, paths, count, opts, out, NULL, e);
}

static bool csv_probe(const uint8_t *head, size_t len)
{
    return len >= strlen(HEADER) && memcmp(head, HEADER, strlen(HEADER)) == 0;
}

const struct import_ops import_export_csv = {
        .name = "csv",
        .help = "the CSV that iotape-analyze export writes of a tape",
        .probe = csv_probe,
        .read = csv_read,
};
