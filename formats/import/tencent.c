/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tencent's cloud block storage traces (SNIA IOTTA 27917, README; Zhang et al., "OSCA: An Online-Model Based
 * Cache Allocation Scheme in Cloud Block Storage Systems", USENIX ATC 2020):
 *
 *     Timestamp,Offset,Size,IOType,VolumeID
 *
 * The time stamp in whole seconds since 1970; offset and size in sectors of 512 bytes; IOType 0 a read, 1 a
 * write. One stream for each volume. Latencies are not known.
 */
#include <errno.h>
#include <ctype.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/import/flow.h"
#include "formats/import/number.h"

#define SECTOR 512

enum { TIME, OFFSET, LEN, TYPE, VOLUME, CELLS };

static int take_row(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e)
{
    uint64_t volume, type;

    if (row->count != CELLS)
        return err_set(e, EBADMSG, "%zu cells instead of %d", row->count, CELLS);
    if (f->last_line == 1 && isalpha((unsigned char)row->cell[TIME][0]))
        return 0; /* a heading */
    *r = (struct block_record){.latency_ns = TAPE_UNKNOWN, .issuer = f->issuer};
    int rc = number_scaled(row->cell[TIME], "time stamp", NS_PER_S, &r->t_ns, e);
    if (!rc)
        rc = number_scaled(row->cell[OFFSET], "offset", SECTOR, &r->offset_bytes, e);
    if (!rc)
        rc = number_scaled(row->cell[LEN], "size", SECTOR, &r->len_bytes, e);
    if (!rc)
        rc = number_whole(row->cell[TYPE], "IOType", &type, e);
    if (!rc && type > 1)
        rc = err_set(e, EBADMSG, "IOType '%.64s' is neither 0 nor 1", row->cell[TYPE]);
    if (!rc)
        rc = number_whole(row->cell[VOLUME], "volume", &volume, e);
    if (!rc)
        rc = flow_check_range(r, e);
    if (!rc)
        rc = flow_stream(f, row->cell[VOLUME], row->len[VOLUME], NULL, &r->stream, e);
    if (rc)
        return rc;
    r->op = type ? BLOCK_WRITE : BLOCK_READ;
    return 1;
}

static int tencent_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    const struct flow_format format = {.issuer = "tencent",
            .absolute = true,
            .is_wall_clock = true,
            .next = flow_next_row,
            .row = take_row};
    int rc = flow_run(&format, paths, count, opts, out, NULL, e);

    if (rc == 0)
        import_out_note(
                out, "the trace tells whole seconds: all I/Os of one second have the same time in the tape");
    return rc;
}

static bool tencent_probe(const uint8_t *head, size_t len)
{
    /* fio's latency logs have a blank behind each comma. */
    return flow_probe(head, len, "nnnnn", false) && !memmem(head, len < 128 ? len : 128, ", ", 2);
}

const struct import_ops import_tencent = {
        .name = "tencent",
        .help = "Tencent's cloud block storage traces (CSV; times in whole seconds, no latencies)",
        .probe = tencent_probe,
        .read = tencent_read,
};
