/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio's iolog, version 3 (fio, HOWTO, "Trace file format v3"; iolog.c, log_io_u and log_file):
 *
 *     fio version 3 iolog
 *     TIMESTAMP FILE add|open|close
 *     TIMESTAMP FILE ACTION OFFSET LENGTH
 *
 * The time stamp is in microseconds since the run began: log_io_u writes utime_since_now(), and on reading
 * iolog_delay() takes the differences as microseconds. The actions are io_ddir_name()'s: read, write,
 * trim, sync, datasync, sync_file_range, syncfs, wait. One file is one stream. Latencies are unknown. A
 * "wait" does nothing in version 3: fio ignores it, and here it is counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/import.h"
#include "formats/import/input.h"
#include "formats/import/sorter.h"

#define HEADER   "fio version 3 iolog"
#define HEADER_2 "fio version 2 iolog"
#define WINDOW   16384

struct log_file {
    char *name;
    uint32_t stream;
    bool used; /* it has a stream */
};

struct fio_import {
    const struct import_options *opts;
    struct tape_writer *w;
    struct sorter *sorter;
    struct log_file *files;
    size_t file_count, last_file;
    uint32_t issuer;
    uint64_t last_ns; /* of any line */
    uint64_t bad, waits, ranges, records;
};

static void import_release(struct fio_import *im)
{
    for (size_t i = 0; i < im->file_count; i++)
        free(im->files[i].name);
    free(im->files);
    sorter_close(im->sorter);
}

/* ---- files ---- */

static int file_find(struct fio_import *im, const char *name, size_t *index, struct err *e)
{
    struct log_file *more;

    *index = im->last_file;
    if (im->file_count && strcmp(im->files[im->last_file].name, name) == 0)
        return 0;
    for (size_t i = 0; i < im->file_count; i++) {
        if (strcmp(im->files[i].name, name) == 0) {
            *index = im->last_file = i;
            return 0;
        }
    }
    if (im->file_count == TAPE_STREAMS_MAX)
        return err_set(e, E2BIG, "more than %d files", TAPE_STREAMS_MAX);
    more = realloc(im->files, (im->file_count + 1) * sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot keep a file's name");
    im->files = more;
    more[im->file_count] = (struct log_file){.name = strdup(name)};
    if (!more[im->file_count].name)
        return err_sys(e, ENOMEM, "cannot keep a file's name");
    *index = im->last_file = im->file_count++;
    return 0;
}

/* Paths are personal: a device keeps its name below /dev, another file is numbered. */
static int file_stream(struct fio_import *im, size_t index, uint32_t *stream, struct err *e)
{
    struct log_file *f = &im->files[index];
    char name[32];
    struct tape_stream s = {.name = f->name};

    if (!f->used) {
        snprintf(name, sizeof name, "file-%zu", index + 1);
        if (!im->opts->keep_names)
            s.name = strncmp(f->name, "/dev/", 5) == 0 && f->name[5] && !strchr(f->name + 5, '/')
                             ? f->name + 5
                             : name;
        int rc = tape_writer_stream(im->w, &s, &f->stream, e);
        if (rc)
            return rc;
        f->used = true;
    }
    *stream = f->stream;
    return 0;
}

/* ---- lines ---- */

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
    uint64_t t_us, offset_bytes, len_bytes;
    const char *file;
    const struct action *action;
};

static int number(const char *text, const char *what, uint64_t *value, struct err *e)
{
    uint64_t v = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return err_set(e, EBADMSG, "%s '%s' is too large", what, text);
    if (p == text || *p)
        return err_set(e, EBADMSG, "%s '%s' is not a number", what, text);
    *value = v;
    return 0;
}

static int line_numbers(struct log_line *l, char *const field[], size_t fields, struct err *e)
{
    uint64_t end;
    int rc;

    rc = number(field[0], "time stamp", &l->t_us, e);
    if (!rc && l->t_us > UINT64_MAX / NS_PER_US)
        rc = err_set(e, EBADMSG, "time stamp '%s' is too large", field[0]);
    if (!rc && fields == 5)
        rc = number(field[3], "offset", &l->offset_bytes, e);
    if (!rc && fields == 5)
        rc = number(field[4], "length", &l->len_bytes, e);
    if (!rc && __builtin_add_overflow(l->offset_bytes, l->len_bytes, &end))
        rc = err_set(e, EBADMSG, "offset '%s' and length '%s' exceed 64 bits", field[3], field[4]);
    return rc;
}

static int line_parse(char *text, struct log_line *l, struct err *e)
{
    char *field[6], *save = NULL;
    size_t fields = 0;

    for (char *f = strtok_r(text, " \t\r", &save); f && fields < 6; f = strtok_r(NULL, " \t\r", &save))
        field[fields++] = f;
    if (fields != 3 && fields != 5)
        return err_set(e, EBADMSG, "%zu%s fields instead of 3 or 5", fields, fields == 6 ? " or more" : "");
    *l = (struct log_line){.file = field[1], .action = action_find(field[2])};
    if (!l->action)
        return err_set(e, EBADMSG, "unknown action '%s'", field[2]);
    if ((l->action->kind == FILE_ACTION) != (fields == 3) && l->action->kind != WAIT)
        return err_set(e, EBADMSG, "%zu fields do not go with action '%s'", fields, field[2]);
    return line_numbers(l, field, fields, e);
}

/* ---- records ---- */

static int record_write(struct fio_import *im, struct err *e)
{
    struct block_record r;

    if (!sorter_pop(im->sorter, &r))
        return 0;
    im->records++;
    int rc = tape_writer_add(im->w, &r, NULL, e);
    return rc ? rc : 1;
}

static int record_take(struct fio_import *im, const struct log_line *l, struct err *e)
{
    struct block_record r = {.t_ns = l->t_us * NS_PER_US,
            .latency_ns = TAPE_UNKNOWN,
            .issuer = im->issuer,
            .op = (uint8_t)l->action->op};
    size_t index;
    int rc = file_find(im, l->file, &index, e);

    if (!rc)
        rc = file_stream(im, index, &r.stream, e);
    if (!rc && sorter_full(im->sorter))
        rc = record_write(im, e);
    if (rc < 0)
        return rc;
    if (r.op != BLOCK_FLUSH) {
        r.offset_bytes = l->offset_bytes;
        r.len_bytes = l->len_bytes;
    }
    rc = sorter_push(im->sorter, r.t_ns, &r, e);
    if (rc)
        return rc;
    im->ranges += l->action->kind == RANGE;
    return 0;
}

/* -EBADMSG for a line that --skip-bad may leave out. */
static int line_take(struct fio_import *im, char *text, struct err *e)
{
    struct log_line l;
    int rc = line_parse(text, &l, e);

    if (rc)
        return rc;
    if (l.action->kind == WAIT)
        im->waits++;
    else if (l.action->kind != FILE_ACTION)
        rc = record_take(im, &l, e);
    if (!rc && l.t_us * NS_PER_US > im->last_ns)
        im->last_ns = l.t_us * NS_PER_US;
    return rc;
}

static int header_take(struct input *in, struct err *e)
{
    char *text;
    int rc = input_line(in, &text, e);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(e, EINVAL, "'%s': the file is empty", in->path);
    text[strcspn(text, "\r")] = '\0';
    if (strcmp(text, HEADER_2) == 0)
        return err_set(e, ENOTSUP, "'%s':1: fio's iolog version 2 cannot be read yet", in->path);
    if (strcmp(text, HEADER) != 0)
        return err_set(e, EINVAL, "'%s':1: the line is not '" HEADER "'", in->path);
    return 0;
}

static int file_read(struct fio_import *im, struct input *in, struct err *e)
{
    int rc = header_take(in, e);

    if (rc)
        return rc;
    for (;;) {
        struct err bad = {0};
        char *text;
        rc = input_line(in, &text, &bad);
        if (rc == 0)
            return 0;
        if (rc > 0) {
            rc = line_take(im, text, &bad);
            if (rc)
                err_prefix(&bad, "'%s':%" PRIu64, in->path, in->line);
        }
        if (rc == -EBADMSG && im->opts->skip_bad)
            im->bad++;
        else if (rc) {
            if (e)
                *e = bad;
            return rc;
        }
    }
}

static int import_finish(struct fio_import *im, const char *path, struct err *e)
{
    int rc;

    while ((rc = record_write(im, e)) > 0)
        ;
    if (rc)
        return rc;
    if (!im->records)
        return err_set(e, EINVAL, "'%s': there is no I/O in the log", path);
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"bad", im->bad}, {"out_of_order", sorter_disorder(im->sorter)}, {"waits", im->waits},
            {"flush_ranges", im->ranges}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count)
            tape_writer_count(im->w, counts[i].name, counts[i].count);
    return 0;
}

static int fio_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct tape_writer *w, uint64_t *elapsed_ns, struct err *e)
{
    CLEANUP(import_release) struct fio_import im = {.opts = opts, .w = w};
    CLEANUP(input_release) struct input in = {0};
    int rc;

    /* Two logs of one run begin at two times, of which neither log tells. */
    if (count != 1)
        return err_set(e, EINVAL, "'%s': one fio iolog makes one tape", paths[1]);
    rc = sorter_open(&im.sorter, sizeof(struct block_record), WINDOW, e);
    if (!rc)
        rc = input_open(&in, paths[0], e);
    if (!rc)
        rc = tape_writer_issuer(w, "fio", &im.issuer, e);
    if (!rc)
        rc = file_read(&im, &in, e);
    if (!rc)
        rc = import_finish(&im, paths[0], e);
    if (!rc)
        *elapsed_ns = im.last_ns;
    return rc;
}

static bool fio_probe(const uint8_t *head, size_t len)
{
    return len >= strlen(HEADER) &&
           (memcmp(head, HEADER, strlen(HEADER)) == 0 || memcmp(head, HEADER_2, strlen(HEADER_2)) == 0);
}

const struct import_ops import_fio_iolog = {
        .name = "fio_iolog",
        .help = "fio's iolog, version 3 (--write_iolog; times in microseconds, no latencies)",
        .probe = fio_probe,
        .read = fio_read,
};
