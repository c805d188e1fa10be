/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio's iolog, versions 2 and 3 (fio, HOWTO, "Trace file format"; iolog.c, log_io_u and log_file):
 *
 *     fio version 3 iolog                            fio version 2 iolog
 *     TIMESTAMP FILE add|open|close                  FILE add|open|close
 *     TIMESTAMP FILE ACTION OFFSET LENGTH            FILE ACTION OFFSET LENGTH
 *
 * Version 3: the time stamp is in microseconds since the run began: log_io_u writes utime_since_now(), and on
 * reading iolog_delay() takes the differences as microseconds. (--time-unit: for logs of other writers.) A
 * "wait" does nothing there: fio ignores it, and here it is counted. Version 2 has no times but "FILE wait
 * MICROSECONDS 0", each relative to the one before: an I/O's time is their sum. The actions are
 * io_ddir_name()'s: read, write, trim, sync, datasync, sync_file_range, syncfs, wait. One file is one stream.
 * Latencies come from a latency log, where one is given beside the iolog.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/import/fio_latency.h"
#include "formats/import/flow.h"
#include "formats/import/number.h"
#include "formats/import/sorter.h"

#define HEADER   "fio version 3 iolog"
#define HEADER_2 "fio version 2 iolog"

struct fio {
    const struct import_options *opts;
    struct fio_latency *latency; /* NULL: none is known */
    unsigned version;            /* 0: the heading was not read yet */
    uint64_t unit_ns;
    uint64_t waited_ns; /* version 2 */
    uint64_t waits, ranges;
};

struct action {
    const char *name;
    enum { IO, RANGE, WAIT, FILE_ACTION } kind;
    enum block_op op;
};

static const struct action actions[] = {
        {"read", IO, BLOCK_READ},
        {"write", IO, BLOCK_WRITE},
        {"trim", IO, BLOCK_DISCARD},
        {"sync", IO, BLOCK_FLUSH},
        {"datasync", IO, BLOCK_FLUSH},
        {"syncfs", IO, BLOCK_FLUSH},
        {"sync_file_range", RANGE, BLOCK_FLUSH},
        {"wait", WAIT, 0},
        {"add", FILE_ACTION, 0},
        {"open", FILE_ACTION, 0},
        {"close", FILE_ACTION, 0},
};

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

/* One line, cut in place. */
struct log_line {
    uint64_t t_ns, offset_bytes, len_bytes;
    const char *file;
    const struct action *action;
};

static int line_numbers(
        const struct fio *fio, struct log_line *l, char *const *field, bool has_place, struct err *e)
{
    uint64_t end;
    int rc = 0;

    l->t_ns = fio->waited_ns;
    if (fio->version == 3)
        rc = number_scaled(*field++, "time stamp", fio->unit_ns, &l->t_ns, e);
    if (!rc && has_place)
        rc = number_whole(field[2], "offset", &l->offset_bytes, e);
    if (!rc && has_place)
        rc = number_whole(field[3], "length", &l->len_bytes, e);
    if (!rc && l->action->kind != WAIT && l->len_bytes &&
            __builtin_add_overflow(l->offset_bytes, l->len_bytes - 1, &end))
        rc = err_set(e, EBADMSG, "offset '%s' and length '%s' exceed 64 bits", field[2], field[3]);
    return rc;
}

static int line_parse(const struct fio *fio, char *text, struct log_line *l, struct err *e)
{
    size_t fields = 0, stamp = fio->version == 3, few = 2 + stamp, many = 4 + stamp;
    char *field[6], *save = NULL;

    for (char *f = strtok_r(text, " \t\r", &save); f && fields <= many; f = strtok_r(NULL, " \t\r", &save))
        field[fields++] = f;
    if (fields != few && fields != many)
        return err_set(e, EBADMSG, "%zu%s fields instead of %zu or %zu", fields,
                fields > many ? " or more" : "", few, many);
    *l = (struct log_line){.file = field[stamp], .action = action_find(field[stamp + 1])};
    if (!l->action)
        return err_set(e, EBADMSG, "unknown action '%s'", field[stamp + 1]);
    if ((l->action->kind == FILE_ACTION) != (fields == few) && l->action->kind != WAIT)
        return err_set(e, EBADMSG, "%zu fields do not go with action '%s'", fields, l->action->name);
    return line_numbers(fio, l, field, fields == many, e);
}

/* Paths are personal: a device keeps its name below /dev, another file is numbered. */
static int stream_of(struct flow *f, const char *file, uint32_t *stream, struct err *e)
{
    bool device = strncmp(file, "/dev/", 5) == 0 && file[5] && !strchr(file + 5, '/');

    if (device && !f->opts->keep_names)
        file += 5;
    return flow_stream(f, file, strlen(file), device ? NULL : "file", stream, e);
}

static int wait_take(struct fio *fio, const struct log_line *l, struct err *e)
{
    uint64_t ns;

    fio->waits++;
    if (fio->version == 3)
        return 0;
    if (__builtin_mul_overflow(l->offset_bytes, fio->unit_ns, &ns) ||
            __builtin_add_overflow(fio->waited_ns, ns, &fio->waited_ns))
        return err_set(e, EBADMSG, "waits add up to more than 64 bits of ns");
    return 0;
}

/* 1 where the line is an I/O, 0 for another one, or -errno. */
static int line_take(struct flow *f, char *text, struct block_record *r, struct err *e)
{
    struct fio *fio = f->format->own;
    struct log_line l;
    int rc = line_parse(fio, text, &l, e);

    if (!rc && l.action->kind == WAIT)
        rc = wait_take(fio, &l, e);
    if (rc)
        return rc;
    uint64_t t_ns = fio->version == 2 ? fio->waited_ns : l.t_ns;
    if (t_ns >= SORTER_SPAN_NS)
        return err_set(e, EBADMSG, "the time %" PRIu64 " ns is 2^63 ns (292 years) or more", t_ns);
    if (t_ns > f->seen_ns)
        f->seen_ns = t_ns;
    if (l.action->kind == WAIT || l.action->kind == FILE_ACTION)
        return 0;
    *r = (struct block_record){
            .t_ns = t_ns, .latency_ns = TAPE_UNKNOWN, .issuer = f->issuer, .op = (uint8_t)l.action->op};
    if (r->op != BLOCK_FLUSH) {
        r->offset_bytes = l.offset_bytes;
        r->len_bytes = l.len_bytes;
    }
    fio->ranges += l.action->kind == RANGE;
    rc = stream_of(f, l.file, &r->stream, e);
    return rc ? rc : 1;
}

static int header_take(struct fio *fio, struct input *in, struct err *e)
{
    char *text;
    int rc = input_line(in, &text, e);

    if (rc < 0)
        return rc == -EBADMSG ? err_set(e, EINVAL, "'%s':1: the line is not '" HEADER "'", in->path) : rc;
    if (rc == 0)
        return err_set(e, EINVAL, "'%s': the file is empty", in->path);
    text[strcspn(text, "\r")] = '\0';
    fio->version = strcmp(text, HEADER) == 0 ? 3 : strcmp(text, HEADER_2) == 0 ? 2 : 0;
    return fio->version ? 0 : err_set(e, EINVAL, "'%s':1: the line is not '" HEADER "'", in->path);
}

static int next(struct flow *f, struct flow_file *file, struct block_record *r, struct err *e)
{
    struct fio *fio = f->format->own;
    struct input *in = &file->in;
    char *text;
    int rc = fio->version ? 0 : header_take(fio, in, e);

    if (rc)
        return rc;
    while ((rc = input_line(in, &text, e)) > 0) {
        rc = line_take(f, text, r, e);
        if (rc < 0)
            return err_prefix(e, "'%s':%" PRIu64, in->path, in->line);
        if (rc > 0)
            return 1;
    }
    return rc;
}

static int complete(struct flow *f, struct block_record *r, struct err *e)
{
    struct fio *fio = f->format->own;

    return fio_latency_take(fio->latency, r, e);
}

/* ---- the whole ---- */

/* What a fast disk needs for the I/O, where latencies are not known: 10 us each and 1 GB/s. */
#define IO_NS   UINT64_C(10000)
#define BYTE_NS UINT64_C(1)
#define DOUBT   1000

/* A log in nanoseconds that is read as microseconds lasts a thousand times too long. */
static void doubt(const struct fio *fio, const struct flow_totals *t, struct import_out *out)
{
    uint64_t explained_ns = t->records * IO_NS + t->len_bytes * BYTE_NS;
    char length[UNITS_TEXT_BYTES], explained[UNITS_TEXT_BYTES];

    if (fio->latency)
        explained_ns = fio_latency_counts(fio->latency).sum_ns;
    if (fio->opts->time_unit_ns || t->elapsed_ns / DOUBT <= explained_ns)
        return;
    import_out_note(out,
            "the log lasts %s for I/O that takes %s: are its times in nanoseconds? (then --time-unit ns, "
            "else "
            "--time-unit us)",
            units_duration(t->elapsed_ns, length), units_duration(explained_ns, explained));
}

static int finish(const struct fio *fio, const struct flow_totals *t, struct import_out *out, struct err *e)
{
    struct fio_latency_counts c = {0};

    if (fio->latency)
        c = fio_latency_counts(fio->latency);
    if (fio->latency && !c.taken)
        return err_set(e, EINVAL,
                "no latency of the log belongs to an I/O of the iolog: was it written with "
                "--log_offset=1, of the same job?");
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"waits", fio->waits}, {"flush_ranges", fio->ranges}, {"without_latency", c.missing},
            {"bad", c.bad}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count)
            import_out_count(out, counts[i].name, counts[i].count);
    if (fio->version == 3)
        doubt(fio, t, out);
    return 0;
}

/* Which of the paths is the iolog, and which the latency log (-1: none). */
static int tell_apart(
        const char *const *paths, size_t count, struct input *standard, int *latency, struct err *e)
{
    *latency = -1;
    for (size_t i = 0; count > 1 && i < count; i++) {
        CLEANUP(input_release) struct input in = {0};
        int rc = input_open(&in, paths[i], strcmp(paths[i], "-") == 0 ? standard : NULL, e);
        long have = rc ? rc : input_need(&in, 128, e);
        if (have < 0)
            return (int)have;
        if (fio_latency_probe(in.buffer, (size_t)have))
            *latency = (int)i;
        if (strcmp(paths[i], "-") == 0 && standard) {
            *standard = in;
            in = (struct input){0};
        }
    }
    if (count > 2 || (count == 2 && *latency < 0)) /* two logs begin at two times, of which neither tells */
        return err_set(e, EINVAL, "'%s': one fio iolog, with one latency log beside it, makes one tape",
                paths[count > 2 ? 2 : 1]);
    return 0;
}

static void cleanup_latency(struct fio_latency **l)
{
    fio_latency_close(*l);
}

static int fio_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    CLEANUP(cleanup_latency) struct fio_latency *latency = NULL;
    struct flow_totals totals;
    int at;
    int rc = tell_apart(paths, count, opts->standard, &at, e);

    if (!rc && at >= 0)
        rc = fio_latency_open(&latency, paths[at], opts, e);
    if (rc)
        return rc;
    struct fio fio = {
            .opts = opts, .latency = latency, .unit_ns = opts->time_unit_ns ? opts->time_unit_ns : NS_PER_US};
    const struct flow_format format = {
            .issuer = "fio", .next = next, .complete = latency ? complete : NULL, .own = &fio};
    rc = flow_run(&format, &paths[at == 0], 1, opts, out, &totals, e);
    return rc ? rc : finish(&fio, &totals, out, e);
}

static bool fio_probe(const uint8_t *head, size_t len)
{
    return (len >= strlen(HEADER) && (memcmp(head, HEADER, strlen(HEADER)) == 0 ||
                                             memcmp(head, HEADER_2, strlen(HEADER_2)) == 0)) ||
           fio_latency_probe(head, len);
}

const struct import_ops import_fio_iolog = {
        .name = "fio_iolog",
        .help = "fio's iolog, versions 2 and 3 (--write_iolog), and its latency log beside it "
                "(--write_lat_log "
                "--log_offset=1)",
        .probe = fio_probe,
        .read = fio_read,
};
