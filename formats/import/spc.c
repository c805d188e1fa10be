/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SPC traces, as the UMass repository has them (Storage Performance Council, "SPC Trace File Format
 * Specification", revision 1.0.1):
 *
 *     ASU,LBA,Size,Opcode,Timestamp[,...]
 *
 * One stream for each application-specific unit (ASU). The LBA counts blocks, whose size the specification
 * leaves to the trace (--lba-unit; 512 bytes is what UMass' traces have); the size is in bytes; the opcode R
 * or W in either case; the time stamp in seconds since the trace's begin, with a fraction. Further cells are
 * optional and mean nothing here.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "formats/base/units.h"
#include "formats/import/flow.h"
#include "formats/import/number.h"

#define LBA_BYTES 512

enum { ASU, LBA, LEN, OPCODE, TIME, CELLS };

static int take_row(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e)
{
    uint64_t asu, unit = f->opts->lba_bytes ? f->opts->lba_bytes : LBA_BYTES;

    if (row->count < CELLS)
        return err_set(e, EBADMSG, "%zu cells instead of %d or more", row->count, CELLS);
    *r = (struct block_record){.latency_ns = TAPE_UNKNOWN, .issuer = f->issuer};
    if (strcasecmp(row->cell[OPCODE], "r") != 0 && strcasecmp(row->cell[OPCODE], "w") != 0)
        return err_set(e, EBADMSG, "opcode '%.64s' is neither R nor W", row->cell[OPCODE]);
    r->op = strcasecmp(row->cell[OPCODE], "r") == 0 ? BLOCK_READ : BLOCK_WRITE;
    int rc = number_whole(row->cell[ASU], "ASU", &asu, e);
    if (!rc)
        rc = number_scaled(row->cell[LBA], "LBA", unit, &r->offset_bytes, e);
    if (!rc)
        rc = number_whole(row->cell[LEN], "size", &r->len_bytes, e);
    if (!rc)
        rc = number_decimal(row->cell[TIME], "time stamp", NS_PER_S, &r->t_ns, e);
    if (!rc)
        rc = flow_check_range(r, e);
    if (!rc)
        rc = flow_stream(f, row->cell[ASU], row->len[ASU], NULL, &r->stream, e);
    return rc ? rc : 1;
}

static int spc_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    const struct flow_format format = {.issuer = "spc", .next = flow_next_row, .row = take_row};

    return flow_run(&format, paths, count, opts, out, NULL, e);
}

static bool spc_probe(const uint8_t *head, size_t len)
{
    return flow_probe(head, len, "nnnwd", true);
}

const struct import_ops import_spc = {
        .name = "spc",
        .help = "SPC traces such as UMass' (CSV; LBA in units of --lba-unit, times in seconds, no latencies)",
        .probe = spc_probe,
        .read = spc_read,
};
