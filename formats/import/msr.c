/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * MSR Cambridge traces (SNIA IOTTA 388, README; Narayanan et al., "Write Off-Loading", USENIX FAST 2008):
 *
 *     Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
 *
 * The time stamp is when the I/O was issued, in Windows' filetime: units of 100 ns since 1601. Type Read or
 * Write; offset and size in bytes; the response time in the time stamp's unit. One stream for each disk of
 * each host; host names are personal.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "formats/base/units.h"
#include "formats/import/flow.h"
#include "formats/import/number.h"

#define UNIT_NS UINT64_C(100)
/* Filetime of 1970: 11,644,473,600 s after 1601 (369 years with 89 leap days). */
#define EPOCH_NS (UINT64_C(11644473600) * NS_PER_S)

enum { TIME, HOST, DISK, TYPE, OFFSET, LEN, RESPONSE, CELLS };

static int stream_of(struct flow *f, const struct csv_row *row, uint32_t *stream, struct err *e)
{
    char name[256];
    uint64_t disk;
    int rc = number_whole(row->cell[DISK], "disk number", &disk, e);

    if (rc)
        return rc;
    size_t len = row->len[HOST] + 1 + row->len[DISK];
    if (len > sizeof name)
        return err_set(e, EBADMSG, "host name and disk number have %zu characters", len);
    char *end = mempcpy(name, row->cell[HOST], row->len[HOST]); /* snprintf would take a fifth of the time */
    *end++ = '.';
    memcpy(end, row->cell[DISK], row->len[DISK]);
    return flow_stream(f, name, len, "disk", stream, e);
}

static int take_row(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e)
{
    if (row->count != CELLS)
        return err_set(e, EBADMSG, "%zu cells instead of %d", row->count, CELLS);
    if (f->last_line == 1 && strcasecmp(row->cell[TIME], "Timestamp") == 0)
        return 0;
    *r = (struct block_record){.issuer = f->issuer};
    bool is_read = strcasecmp(row->cell[TYPE], "Read") == 0;
    if (!is_read && strcasecmp(row->cell[TYPE], "Write") != 0)
        return err_set(e, EBADMSG, "type '%.64s' is neither Read nor Write", row->cell[TYPE]);
    r->op = is_read ? BLOCK_READ : BLOCK_WRITE;
    int rc = number_scaled(row->cell[TIME], "time stamp", UNIT_NS, &r->t_ns, e);
    if (!rc && r->t_ns < EPOCH_NS)
        rc = err_set(e, EBADMSG, "time stamp '%.64s' lies before 1970", row->cell[TIME]);
    if (!rc)
        rc = number_whole(row->cell[OFFSET], "offset", &r->offset_bytes, e);
    if (!rc)
        rc = number_whole(row->cell[LEN], "size", &r->len_bytes, e);
    if (!rc)
        rc = number_scaled(row->cell[RESPONSE], "response time", UNIT_NS, &r->latency_ns, e);
    if (!rc)
        rc = flow_check_latency(r->latency_ns, e);
    if (!rc)
        rc = flow_check_range(r, e);
    if (!rc)
        rc = stream_of(f, row, &r->stream, e);
    return rc ? rc : 1;
}

static int msr_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    const struct flow_format format = {.issuer = "msr",
            .absolute = true,
            .is_wall_clock = true,
            .epoch_to_unix_ns = EPOCH_NS,
            .next = flow_next_row,
            .row = take_row};

    return flow_run(&format, paths, count, opts, out, NULL, e);
}

static bool msr_probe(const uint8_t *head, size_t len)
{
    return flow_probe(head, len, "nxnwnnn", false);
}

const struct import_ops import_msr = {
        .name = "msr",
        .help = "MSR Cambridge traces (CSV; times in 100 ns, with response times; several files are merged)",
        .probe = msr_probe,
        .read = msr_read,
};
