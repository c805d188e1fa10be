/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The command traces of VMware's vscsiStats, as `vscsiStats -e` writes them as text. Two headings tell
 * version and columns:
 *
 *     #Vscsi Cmd Trace. (Trace Format Version 1)
 *     #Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)
 *     2147483692,4096,1,write,24048792,2756778716647
 *
 * (without the "#" in some versions of ESX). The length is in bytes, the LBN in sectors of 512 bytes; the
 * command is "read", "write" or another one, which is counted. One virtual disk makes one trace. The time is
 * that of arrival, on a clock that counts from the host's start; latencies are not known.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "formats/base/units.h"
#include "formats/import/flow.h"
#include "formats/import/number.h"

#define SECTOR 512
#define HEADER "Vscsi Cmd Trace."

enum { SERIAL, LEN, SEGMENTS, COMMAND, LBN, TIME, CELLS };

struct vscsi {
    uint64_t other; /* commands */
};

static bool is_heading(const char *cell)
{
    return *cell == '#' || isalpha((unsigned char)*cell);
}

static int take_row(struct flow *f, const struct csv_row *row, struct block_record *r, struct err *e)
{
    struct vscsi *v = f->format->own;
    uint64_t serial;

    if (f->last_line <= 2 && is_heading(row->cell[SERIAL]))
        return 0;
    if (row->count != CELLS)
        return err_set(e, EBADMSG, "%zu cells instead of %d", row->count, CELLS);
    *r = (struct block_record){.latency_ns = TAPE_UNKNOWN, .issuer = f->issuer};
    int rc = number_whole(row->cell[SERIAL], "serial number", &serial, e);
    if (!rc)
        rc = number_whole(row->cell[LEN], "length", &r->len_bytes, e);
    if (!rc)
        rc = number_scaled(row->cell[LBN], "LBN", SECTOR, &r->offset_bytes, e);
    if (!rc)
        rc = number_scaled(row->cell[TIME], "time stamp", NS_PER_US, &r->t_ns, e);
    if (!rc)
        rc = flow_check_range(r, e);
    if (rc)
        return rc;
    bool is_read = strcasecmp(row->cell[COMMAND], "read") == 0;
    if (!is_read && strcasecmp(row->cell[COMMAND], "write") != 0) {
        v->other++;
        return 0;
    }
    r->op = is_read ? BLOCK_READ : BLOCK_WRITE;
    rc = flow_stream(f, "vdisk", strlen("vdisk"), NULL, &r->stream, e);
    return rc ? rc : 1;
}

static int vscsistats_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    struct vscsi v = {0};
    const struct flow_format format = {
            .issuer = "guest", .absolute = true, .next = flow_next_row, .row = take_row, .own = &v};

    if (count != 1)
        return err_set(
                e, EINVAL, "'%s': one vscsiStats trace, of one virtual disk, makes one tape", paths[1]);
    int rc = flow_run(&format, paths, count, opts, out, NULL, e);
    if (rc == 0 && v.other)
        import_out_count(out, "other_operations", v.other);
    return rc;
}

static bool vscsistats_probe(const uint8_t *head, size_t len)
{
    size_t mark = len && head[0] == '#';

    return (len >= mark + strlen(HEADER) && memcmp(head + mark, HEADER, strlen(HEADER)) == 0) ||
           flow_probe(head, len, "nnnwnn", false);
}

const struct import_ops import_vscsistats = {
        .name = "vscsistats",
        .help = "command traces of VMware's vscsiStats -e (CSV; times in microseconds, no latencies)",
        .probe = vscsistats_probe,
        .read = vscsistats_read,
};
