/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CloudPhysics' vSCSI traces (Waldspurger et al., "Efficient MRC Construction with SHARDS", USENIX FAST
 * 2015), binary, little-endian, without padding:
 *
 *     version 1, 32 bytes: u32 serial, bytes, segments; u16 command, version; u64 block, time
 *     version 2, 40 bytes: u16 command, version; u32 serial, bytes, segments; u64 block, time, response time
 *
 * The version is in the high byte of its field; the command is SCSI's operation code (SBC-3); blocks have 512
 * bytes, times are in microseconds. One file is one virtual disk, and its time that of arrival.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/import/flow.h"

#define SECTOR    512
#define BYTES_MAX 40

struct layout {
    uint8_t version, bytes, command, len, block, time, response; /* response 0: none */
};

static const struct layout layouts[] = {{1, 32, 12, 4, 16, 24, 0}, {2, 40, 0, 8, 16, 24, 32}};

struct vscsi {
    const struct layout *layout; /* of the first record */
    uint64_t other;              /* commands */
};

static uint16_t get16(const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return le16toh(v);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

static bool is_record(const struct layout *l, const uint8_t *at)
{
    return get16(at + l->command + 2) >> 8 == l->version && get16(at + l->command) <= UINT8_MAX;
}

/* Of a file that begins so; NULL where not all that is there are records of one version. */
static const struct layout *layout_find(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *l = &layouts[i];
        size_t at = 0;
        while (at + l->bytes <= len && is_record(l, head + at))
            at += l->bytes;
        if (at > 0 && at + l->bytes > len)
            return l;
    }
    return NULL;
}

/* SBC-3, operation codes. -1: not replayed as a block's I/O. */
static int op_of(unsigned command)
{
    switch (command) {
    case 0x08: /* READ (6), (10), (12), (16) */
    case 0x28:
    case 0xa8:
    case 0x88:
        return BLOCK_READ;
    case 0x0a: /* WRITE (6), (10), (12), (16), WRITE AND VERIFY (10), (12), (16) */
    case 0x2a:
    case 0xaa:
    case 0x8a:
    case 0x2e:
    case 0xae:
    case 0x8e:
        return BLOCK_WRITE;
    case 0x35: /* SYNCHRONIZE CACHE (10), (16) */
    case 0x91:
        return BLOCK_FLUSH;
    default:
        return -1;
    }
}

static int times_of(const struct layout *l, const uint8_t *at, struct block_record *r, struct err *e)
{
    uint64_t response_us = l->response ? get64(at + l->response) : 0;

    if (__builtin_mul_overflow(get64(at + l->time), NS_PER_US, &r->t_ns) ||
            __builtin_mul_overflow(response_us, NS_PER_US, &r->latency_ns))
        return err_set(e, EBADMSG, "time %" PRIu64 " us or response time %" PRIu64 " us is too large",
                get64(at + l->time), response_us);
    if (l->response)
        return flow_check_latency(r->latency_ns, e);
    r->latency_ns = TAPE_UNKNOWN;
    return 0;
}

/* 1; 0 for a command that is counted only; -EBADMSG. */
static int record_of(
        struct flow *f, const struct layout *l, const uint8_t *at, struct block_record *r, struct err *e)
{
    struct vscsi *v = f->format->own;
    int op = op_of(get16(at + l->command)), rc;

    if (!is_record(l, at))
        return err_set(e, EBADMSG, "no record of version %u is here", l->version);
    if (op < 0) {
        v->other++;
        return 0;
    }
    *r = (struct block_record){.issuer = f->issuer, .op = (uint8_t)op};
    rc = times_of(l, at, r, e);
    if (rc)
        return rc;
    if (op != BLOCK_FLUSH) {
        r->len_bytes = get32(at + l->len);
        if (__builtin_mul_overflow(get64(at + l->block), SECTOR, &r->offset_bytes))
            return err_set(e, EBADMSG, "block %" PRIu64 " lies beyond 64 bits", get64(at + l->block));
        rc = flow_check_range(r, e);
    }
    if (!rc)
        rc = flow_stream(f, "vdisk", strlen("vdisk"), NULL, &r->stream, e);
    return rc ? rc : 1;
}

static int begin(struct flow *f, struct flow_file *file, struct err *e)
{
    struct vscsi *v = f->format->own;
    long have = input_need(&file->in, 4096, e);

    if (have < 0)
        return (int)have;
    v->layout = layout_find(file->in.buffer, have < 4096 ? (size_t)have : 4096);
    for (size_t i = 0; !v->layout && i < sizeof layouts / sizeof *layouts; i++)
        if (have >= layouts[i].bytes && is_record(&layouts[i], file->in.buffer))
            v->layout = &layouts[i];
    return v->layout ? 0
                     : err_set(e, EINVAL, "'%s' does not begin with a vSCSI record of version 1 or 2",
                               file->in.path);
}

static int next(struct flow *f, struct flow_file *file, struct block_record *r, struct err *e)
{
    struct vscsi *v = f->format->own;
    int rc = v->layout ? 0 : begin(f, file, e);

    while (rc == 0) {
        long have = input_need(&file->in, v->layout->bytes, e);
        if (have <= 0)
            return (int)have;
        uint64_t byte = file->in.byte;
        size_t take = (size_t)have < v->layout->bytes ? (size_t)have : v->layout->bytes;
        const uint8_t *at = file->in.buffer + file->in.begin;
        input_take(&file->in, take);
        if (take < v->layout->bytes)
            return err_set(e, EBADMSG,
                    "'%s' is cut off at byte %" PRIu64 ": a record has %u bytes, %zu are there",
                    file->in.path, byte, v->layout->bytes, take);
        rc = record_of(f, v->layout, at, r, e);
        if (rc == -EBADMSG)
            return err_prefix(e, "'%s', byte %" PRIu64, file->in.path, byte);
    }
    return rc;
}

static int vscsi_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    struct vscsi v = {0};
    const struct flow_format format = {.issuer = "guest", .absolute = true, .next = next, .own = &v};

    if (count != 1)
        return err_set(e, EINVAL, "'%s': one vSCSI trace, of one virtual disk, makes one tape", paths[1]);
    int rc = flow_run(&format, paths, count, opts, out, NULL, e);
    if (rc == 0 && v.other)
        import_out_count(out, "other_operations", v.other);
    return rc;
}

static bool vscsi_probe(const uint8_t *head, size_t len)
{
    return layout_find(head, len) != NULL;
}

const struct import_ops import_cloudphysics = {
        .name = "vscsi",
        .help = "CloudPhysics' vSCSI traces, versions 1 and 2 (binary; version 2 has latencies)",
        .probe = vscsi_probe,
        .read = vscsi_read,
};
