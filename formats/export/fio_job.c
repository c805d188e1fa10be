/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio's iolog, version 3 (fio, HOWTO, "Trace file format v3"), and a job file that makes fio replay it:
 *
 *     fio version 3 iolog
 *     TIMESTAMP FILE add|open|close
 *     TIMESTAMP FILE read|write|trim|sync OFFSET LENGTH
 *
 * in whole microseconds, rounded down. Each stream is a file of its own name in fio's current folder, never
 * the recorded device: a replay must not destroy it. A write-zeroes is a trim, flags have no form. A read or
 * write of no bytes is left out, since at the first one fio (3.33) gives up the whole log; it also leaves out
 * all trims (iolog.c, read_iolog: "bad ddir").
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/export.h"

#define LINE_BYTES 160
#define PAGE_BYTES 4096

static const char *action_of(unsigned op)
{
    switch (op) {
    case BLOCK_READ:
        return " read ";
    case BLOCK_WRITE:
        return " write ";
    case BLOCK_FLUSH:
        return " sync ";
    default:
        return " trim ";
    }
}

static bool is_empty(const struct block_chunk *c, uint32_t i)
{
    return c->op[i] != BLOCK_FLUSH && !c->len_bytes[i];
}

static char *put_file(char *p, uint32_t stream)
{
    return stpcpy(out_u64(stpcpy(p, "iotape-stream-"), (uint64_t)stream + 1), ".img");
}

static void file_lines(struct out *o, const bool *used, size_t streams, uint64_t t_us, const char *action)
{
    for (uint32_t i = 0; i < streams; i++) {
        if (!used[i])
            continue;
        char *p = out_u64(out_room(o, LINE_BYTES), t_us);
        *p++ = ' ';
        out_advance(o, stpcpy(put_file(p, i), action));
    }
}

static void io_lines(struct out *o, const struct block_chunk *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (is_empty(c, i))
            continue;
        char *p = out_u64(out_room(o, LINE_BYTES), c->t_ns[i] / NS_PER_US);
        *p++ = ' ';
        p = stpcpy(put_file(p, c->stream[i]), action_of(c->op[i]));
        p = out_u64(p, c->offset_bytes[i]);
        *p++ = ' ';
        p = out_u64(p, c->len_bytes[i]);
        *p++ = '\n';
        out_advance(o, p);
    }
}

/* What the whole log needs to be known of the tape. */
struct extent {
    bool *used;          /* stream i has I/O */
    uint64_t *end_bytes; /* of its reads and writes */
    uint64_t empty, trims, zeroes;
};

static void extent_release(struct extent *x)
{
    free(x->used);
    free(x->end_bytes);
}

static void extent_add(struct extent *x, const struct block_chunk *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t stream = c->stream[i];
        uint64_t end = c->offset_bytes[i] + c->len_bytes[i];
        x->trims += c->op[i] == BLOCK_DISCARD;
        x->zeroes += c->op[i] == BLOCK_WRITE_ZEROES;
        x->empty += is_empty(c, i);
        if (is_empty(c, i))
            continue;
        x->used[stream] = true;
        if (c->op[i] != BLOCK_READ && c->op[i] != BLOCK_WRITE)
            continue;
        end = end < c->offset_bytes[i] ? UINT64_MAX : end;
        x->end_bytes[stream] = x->end_bytes[stream] > end ? x->end_bytes[stream] : end;
    }
}

/* Reads the tape from its begin, and rewinds it. */
static int extent_of(struct extent *x, struct tape_reader *r, struct err *e)
{
    size_t streams = tape_reader_stream_count(r);
    const struct block_chunk *c;
    x->used = calloc(streams + 1, sizeof *x->used);
    x->end_bytes = calloc(streams + 1, sizeof *x->end_bytes);
    if (!x->used || !x->end_bytes)
        return err_sys(e, ENOMEM, "cannot hold %zu streams", streams);
    int rc = tape_reader_seek(r, 0, e);
    while (rc >= 0 && (rc = tape_reader_next(r, &c, e)) > 0)
        extent_add(x, c);
    return rc < 0 ? rc : tape_reader_seek(r, 0, e);
}

static int export_tape(struct tape_reader *r, struct out *o, struct err *e)
{
    struct extent x CLEANUP(extent_release) = {0};
    const struct block_chunk *c;
    size_t streams = tape_reader_stream_count(r);
    int rc = extent_of(&x, r, e);
    if (rc < 0)
        return rc;
    out_text(o, "fio version 3 iolog\n");
    file_lines(o, x.used, streams, 0, " add\n");
    file_lines(o, x.used, streams, 0, " open\n");
    while (!o->failed && (rc = tape_reader_next(r, &c, e)) > 0)
        io_lines(o, c);
    file_lines(o, x.used, streams, tape_reader_totals(r)->elapsed_ns / NS_PER_US, " close\n");
    return rc < 0 ? rc : 0;
}

/* ---- the job ---- */

static const char about[] =
        "; Replays the tape: fio JOB, in this folder. Its files are made here, sparse: what a read finds "
        "that nothing\n"
        "; has written are holes, which no disk reads. For figures of a disk, take away the sections before "
        "[replay],\n"
        "; and add replay_redirect=/dev/DISK there: all that the log writes will be written to it.\n"
        "; fio's queue is as deep as iodepth at most; what the log wants deeper waits.\n";

static void put_counts(struct out *o, const struct extent *x)
{
    if (x->empty)
        out_printf(o, "; Left out: %" PRIu64 " operations of 0 bytes, at which fio would stop.\n", x->empty);
    if (x->zeroes)
        out_printf(o, "; %" PRIu64 " write-zeroes are trims here.\n", x->zeroes);
    if (x->trims || x->zeroes)
        out_text(o, "; fio 3.33 leaves trims out of a replay (\"bad ddir: 2\").\n");
}

static int export_job(struct tape_reader *r, const char *log, struct out *o, struct err *e)
{
    struct extent x CLEANUP(extent_release) = {0};
    size_t streams = tape_reader_stream_count(r);
    if (log[strcspn(log, ":\n")])
        return err_set(e, EINVAL, "'%s': fio takes no ':' and no line break in a log's name", log);
    int rc = extent_of(&x, r, e);
    if (rc < 0)
        return rc;
    out_text(o, about);
    put_counts(o, &x);
    out_text(o, "[global]\nioengine=libaio\ndirect=1\n");
    for (uint32_t i = 0; i < streams; i++) {
        char name[64];
        if (!x.used[i])
            continue;
        *put_file(name, i) = 0;
        uint64_t pages = x.end_bytes[i] / PAGE_BYTES + (x.end_bytes[i] % PAGE_BYTES != 0);
        out_printf(o, "[%s]\nfilename=%s\nfilesize=%" PRIu64 "k\nrw=write\ncreate_only=1\n", name, name,
                (pages ? pages : 1) * (PAGE_BYTES / 1024));
    }
    out_printf(o, "[replay]\nstonewall\nread_iolog=%s\niodepth=64\n", log);
    return 0;
}

const struct export_ops export_fio = {
        .name = "fio",
        .help = "fio's iolog, version 3; with -o FILE also a job that replays it, FILE.fio",
        .tape = export_tape,
        .beside = ".fio",
        .tape_beside = export_job,
};
