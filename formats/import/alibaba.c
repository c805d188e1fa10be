/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Alibaba's block traces of 2020 (github.com/alibaba/block-traces, README; Li et al., "An In-Depth Analysis
 * of Cloud Block Storage Workloads in Large-Scale Production", IISWC 2020):
 *
 *     device_id,opcode,offset,length,timestamp
 *
 * opcode R or W; offset and length in bytes; the time stamp in microseconds since 1970. One stream for each
 * device. Latencies are not known.
 */
#include <errno.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/import/flow.h"
#include "formats/import/number.h"

enum { DEVICE, OPCODE, OFFSET, LEN, TIME, CELLS };

static int take_row(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e)
{
    uint64_t device;

    if (row->count != CELLS)
        return err_set(e, EBADMSG, "%zu cells instead of %d", row->count, CELLS);
    if (f->last_line == 1 && strcmp(row->cell[DEVICE], "device_id") == 0)
        return 0;
    *r = (struct block_record){.latency_ns = TAPE_UNKNOWN, .issuer = f->issuer};
    if (strcmp(row->cell[OPCODE], "R") != 0 && strcmp(row->cell[OPCODE], "W") != 0)
        return err_set(e, EBADMSG, "opcode '%.64s' is neither R nor W", row->cell[OPCODE]);
    r->op = row->cell[OPCODE][0] == 'R' ? BLOCK_READ : BLOCK_WRITE;
    int rc = number_whole(row->cell[DEVICE], "device", &device, e);
    if (!rc)
        rc = number_whole(row->cell[OFFSET], "offset", &r->offset_bytes, e);
    if (!rc)
        rc = number_whole(row->cell[LEN], "length", &r->len_bytes, e);
    if (!rc)
        rc = number_scaled(row->cell[TIME], "time stamp", NS_PER_US, &r->t_ns, e);
    if (!rc)
        rc = flow_check_range(r, e);
    if (!rc)
        rc = flow_stream(f, row->cell[DEVICE], row->len[DEVICE], NULL, &r->stream, e);
    return rc ? rc : 1;
}

static int alibaba_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    const struct flow_format format = {.issuer = "alibaba",
            .absolute = true,
            .is_wall_clock = true,
            .next = flow_next_row,
            .row = take_row};

    return flow_run(&format, paths, count, opts, out, NULL, e);
}

static bool alibaba_probe(const uint8_t *head, size_t len)
{
    return flow_probe(head, len, "nwnnn", false);
}

const struct import_ops import_alibaba = {
        .name = "alibaba",
        .help = "Alibaba's block traces of 2020 (CSV; times in microseconds, no latencies)",
        .probe = alibaba_probe,
        .read = alibaba_read,
};
