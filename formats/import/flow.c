/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/flow.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/import/sorter.h"

#define FILES_MAX 1024 /* of one import; each has a buffer of its own */

static void flow_release(struct flow *f)
{
    for (size_t i = 0; i < f->file_count; i++) {
        input_release(&f->files[i].in);
        csv_rows_close(f->files[i].rows);
    }
    free(f->files);
    trace_names_release(&f->streams);
    trace_names_release(&f->issuers);
    sorter_close(f->sorter);
}

/* ---- names ---- */

int flow_stream(struct flow *f, const char *name, size_t len, const char *kind, uint32_t *id, struct err *e)
{
    char numbered[64];
    int rc = trace_names_find(&f->streams, name, len, id, e);

    if (rc || *id != UINT32_MAX)
        return rc;
    struct tape_stream s = {0};
    snprintf(numbered, sizeof numbered, "%s-%u", kind ? kind : "", f->stream_count + 1);
    s.name = kind && !f->opts->keep_names ? strdup(numbered) : strndup(name, len);
    rc = s.name ? import_out_stream(f->out, &s, id, e) : err_sys(e, ENOMEM, "cannot keep a name");
    tape_stream_release(&s);
    if (rc)
        return rc;
    f->stream_count++;
    trace_names_set(&f->streams, name, len, *id);
    return 0;
}

int flow_issuer(struct flow *f, const char *name, size_t len, uint32_t *id, struct err *e)
{
    int rc = trace_names_find(&f->issuers, name, len, id, e);

    if (rc || *id != UINT32_MAX)
        return rc;
    CLEANUP_FREE char *text = strndup(name, len);
    rc = text ? import_out_issuer(f->out, text, id, e) : err_sys(e, ENOMEM, "cannot keep a name");
    if (rc == 0)
        trace_names_set(&f->issuers, name, len, *id);
    return rc;
}

/* ---- records ---- */

int flow_check_range(const struct block_record *r, struct err *e)
{
    uint64_t end;

    if (r->len_bytes && __builtin_add_overflow(r->offset_bytes, r->len_bytes - 1, &end))
        return err_set(e, EBADMSG, "offset %" PRIu64 " and length %" PRIu64 " exceed 64 bits",
                r->offset_bytes, r->len_bytes);
    return 0;
}

int flow_check_latency(uint64_t latency_ns, struct err *e)
{
    if (latency_ns >= SORTER_SPAN_NS)
        return err_set(e, EBADMSG, "latency %" PRIu64 " ns is 2^63 ns (292 years) or more", latency_ns);
    return 0;
}

static int blame_line(const struct flow_file *file, struct err *e)
{
    return err_prefix(e, "'%s':%" PRIu64, file->in.path, file->in.line);
}

int flow_next_row(struct flow *f, struct flow_file *file, struct block_record *r, struct err *e)
{
    const struct csv_row *row;
    bool open = false; /* a quoted cell goes on */
    char *line;
    int rc = file->rows ? 0 : csv_rows_open(&file->rows, e);

    if (rc)
        return rc;
    while ((rc = input_line(&file->in, &line, e)) > 0) {
        rc = csv_rows_line(file->rows, line, file->in.line_bytes, &row, e);
        open = rc == 0;
        if (rc > 0 && row->count > 0) {
            f->last_line = file->in.line;
            rc = f->format->row(f, row, r, e);
        } else if (rc > 0) {
            rc = err_set(e, EBADMSG, "the line is empty");
        }
        if (rc < 0)
            return blame_line(file, e);
        if (rc > 0)
            return 1;
    }
    if (rc == 0 && open) {
        err_set(e, EBADMSG, "the last row's quoted cell does not end");
        return blame_line(file, e);
    }
    return rc;
}

/* Reads on to the file's next record, over what may be skipped. */
static int advance(struct flow *f, struct flow_file *file, struct err *e)
{
    struct err bad;

    for (;;) {
        err_clear(&bad);
        int rc = f->format->next(f, file, &file->next, &bad);
        file->has_next = rc > 0;
        if (rc >= 0)
            return 0;
        if (rc != -EBADMSG || !f->opts->skip_bad) {
            if (e)
                *e = bad;
            return rc;
        }
        f->bad++;
    }
}

/* Writes the earliest: 1, 0 where none is left or needed, or -errno. */
static int write_one(struct flow *f, struct err *e)
{
    struct block_record *r = sorter_pop(f->sorter);

    if (!r)
        return 0;
    if (!f->begun && f->format->absolute) {
        f->base_ns = r->t_ns;
        if (f->format->is_wall_clock)
            import_out_info(f->out)->started_unix_ns = r->t_ns - f->format->epoch_to_unix_ns;
    }
    f->begun = true;
    r->t_ns -= f->base_ns;
    f->last_ns = r->t_ns;
    f->records++;
    f->len_bytes += r->op <= BLOCK_WRITE ? r->len_bytes : 0;
    int rc = f->format->complete ? f->format->complete(f, r, e) : 0;
    if (rc == 0)
        rc = import_out_add(f->out, r, NULL, e);
    f->done = import_out_is_past(f->out, r->t_ns); /* what comes is not earlier */
    return rc ? rc : !f->done;
}

/* Takes a file's record into the sorter. */
static int take(struct flow *f, struct flow_file *file, struct err *e)
{
    struct err bad;
    int rc = sorter_full(f->sorter) ? write_one(f, e) : 0;

    err_clear(&bad);
    if (rc < 0 || f->done)
        return rc;
    rc = sorter_push(f->sorter, file->next.t_ns, &file->next, &bad);
    if (rc == -EBADMSG && f->opts->skip_bad) {
        f->bad++;
        f->untimely++;
        return 0;
    }
    if (rc == -EBADMSG && file->in.line)
        blame_line(file, &bad);
    else if (rc == -EBADMSG)
        err_prefix(&bad, "'%s', before byte %" PRIu64, file->in.path, file->in.byte);
    if (rc && e)
        *e = bad;
    return rc;
}

static struct flow_file *earliest(struct flow *f)
{
    struct flow_file *best = NULL;

    for (size_t i = 0; i < f->file_count; i++)
        if (f->files[i].has_next && (!best || f->files[i].next.t_ns < best->next.t_ns))
            best = &f->files[i];
    return best;
}

static int read_all(struct flow *f, struct err *e)
{
    struct flow_file *file;
    int rc = 0;

    while (rc == 0 && !f->done && (file = earliest(f))) {
        rc = take(f, file, e);
        if (rc == 0)
            rc = advance(f, file, e);
    }
    while (rc == 0 && !f->done && (rc = write_one(f, e)) > 0)
        rc = 0;
    return rc;
}

static int open_files(struct flow *f, const char *const *paths, size_t count, struct err *e)
{
    if (count > FILES_MAX)
        return err_set(e, E2BIG, "more than %d files in one import", FILES_MAX);
    f->files = calloc(count, sizeof *f->files);
    if (!f->files)
        return err_sys(e, ENOMEM, "cannot import");
    for (size_t i = 0; i < count; i++) {
        f->file_count++;
        int rc = input_open(&f->files[i].in, paths[i], f->opts->standard, e);
        if (rc == 0)
            rc = advance(f, &f->files[i], e);
        if (rc)
            return rc;
    }
    return 0;
}

static int finish(struct flow *f, const char *path, struct err *e)
{
    uint64_t disorder = sorter_disorder(f->sorter);

    if (f->untimely > f->records)
        return import_untimely(path, f->untimely, e);
    if (!f->records)
        return err_set(e, EINVAL, "'%s': there is no I/O in the trace", path);
    if (f->bad)
        import_out_count(f->out, "bad", f->bad);
    if (disorder)
        import_out_count(f->out, "out_of_order", disorder);
    if (f->seen_ns > f->base_ns && f->seen_ns - f->base_ns > f->last_ns)
        f->last_ns = f->seen_ns - f->base_ns;
    import_out_elapsed(f->out, f->last_ns);
    return 0;
}

int flow_run(const struct flow_format *format, const char *const *paths, size_t count,
        const struct import_options *opts, struct import_out *out, struct flow_totals *totals, struct err *e)
{
    CLEANUP(flow_release) struct flow f = {.format = format, .opts = opts, .out = out};
    int rc = sorter_open(&f.sorter, sizeof(struct block_record), import_window(opts), e);

    if (!rc && !format->absolute)
        sorter_from_zero(f.sorter);
    if (!rc && format->issuer)
        rc = import_out_issuer(out, format->issuer, &f.issuer, e);
    if (!rc)
        rc = open_files(&f, paths, count, e);
    if (!rc)
        rc = read_all(&f, e);
    if (!rc)
        rc = finish(&f, paths[0], e);
    if (!rc && totals)
        *totals = (struct flow_totals){f.records, f.last_ns, f.len_bytes};
    return rc;
}
