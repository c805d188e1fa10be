/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/import_out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED UINT32_MAX
#define COUNTS 32

struct out_stream {
    struct tape_stream copy; /* released once the tape has it */
    uint64_t lost;
    uint32_t id; /* in the tape */
    bool wanted;
};

struct out_issuer {
    char *name; /* freed once the tape has it */
    uint32_t id;
};

struct out_count {
    char name[48];
    uint64_t count;
};

struct import_out {
    const char *path;
    const struct import_part *part;
    struct tape_info info;
    struct tape_writer *w; /* NULL: not begun */
    struct out_stream *streams;
    struct out_issuer *issuers;
    struct out_count counts[COUNTS];
    size_t stream_count, stream_cap, issuer_count, issuer_cap, count_count;
    uint32_t tape_streams;
    uint64_t end_ns; /* of the part; UINT64_MAX: it has none */
    uint64_t lost, elapsed_ns;
    bool seen;       /* a record, whether in the part or not */
    bool *only_seen; /* one for each of part->only */
    bool finished;
    char note[256];
};

int import_out_open(struct import_out **out, const char *path, struct tape_info *info,
        const struct import_part *part, struct err *e)
{
    struct import_out *o = calloc(1, sizeof *o);
    bool *seen = calloc(part->only_count + 1, sizeof *seen);

    if (!o || !seen) {
        free(o);
        free(seen);
        return err_sys(e, ENOMEM, "cannot import");
    }
    *o = (struct import_out){.path = path, .part = part, .info = *info, .only_seen = seen};
    *info = (struct tape_info){0};
    if (!part->for_ns || __builtin_add_overflow(part->from_ns, part->for_ns, &o->end_ns))
        o->end_ns = UINT64_MAX;
    *out = o;
    return 0;
}

void import_out_close(struct import_out *o)
{
    if (!o)
        return;
    tape_writer_close(o->w, !o->finished);
    for (size_t i = 0; i < o->stream_count; i++)
        tape_stream_release(&o->streams[i].copy);
    for (size_t i = 0; i < o->issuer_count; i++)
        free(o->issuers[i].name);
    free(o->streams);
    free(o->issuers);
    free(o->only_seen);
    tape_info_release(&o->info);
    free(o);
}

struct tape_info *import_out_info(struct import_out *o)
{
    return &o->info;
}

int import_out_begin(struct import_out *o, struct tape_writer **w, struct err *e)
{
    int rc = 0;

    if (!o->w) {
        if (o->info.started_unix_ns)
            o->info.started_unix_ns += o->part->from_ns;
        rc = tape_writer_open(&o->w, o->path, &o->info, e);
    }
    if (w)
        *w = o->w;
    return rc;
}

/* ---- streams and issuers ---- */

static void *grown(void *list, size_t count, size_t *cap, size_t size, struct err *e)
{
    if (count < *cap)
        return list;
    size_t more = *cap ? 2 * *cap : 16;
    void *larger = reallocarray(list, more, size);
    if (larger)
        *cap = more;
    else
        err_sys(e, ENOMEM, "cannot keep a name");
    return larger;
}

static bool is_wanted(const struct import_out *o, const char *name)
{
    bool wanted = o->part->only_count == 0;

    for (size_t i = 0; i < o->part->only_count; i++)
        if (strcmp(o->part->only[i], name) == 0)
            wanted = o->only_seen[i] = true;
    return wanted;
}

int import_out_stream(struct import_out *o, const struct tape_stream *s, uint32_t *id, struct err *e)
{
    return import_out_stream_of(o, s->name, s, id, e);
}

int import_out_stream_of(
        struct import_out *o, const char *name, const struct tape_stream *s, uint32_t *id, struct err *e)
{
    struct out_stream *list = grown(o->streams, o->stream_count, &o->stream_cap, sizeof *list, e);

    if (!list)
        return -ENOMEM;
    o->streams = list;
    struct out_stream *n = &list[o->stream_count];
    *n = (struct out_stream){.id = UNUSED, .wanted = is_wanted(o, name)};
    int rc = n->wanted ? tape_stream_copy(&n->copy, s, e) : 0;
    if (rc == 0)
        *id = (uint32_t)o->stream_count++;
    return rc;
}

int import_out_issuer(struct import_out *o, const char *name, uint32_t *id, struct err *e)
{
    struct out_issuer *list = grown(o->issuers, o->issuer_count, &o->issuer_cap, sizeof *list, e);

    if (!list)
        return -ENOMEM;
    o->issuers = list;
    list[o->issuer_count] = (struct out_issuer){.name = strdup(name), .id = UNUSED};
    if (!list[o->issuer_count].name)
        return err_sys(e, ENOMEM, "cannot keep a name");
    *id = (uint32_t)o->issuer_count++;
    return 0;
}

static int stream_in_tape(struct import_out *o, struct out_stream *s, struct err *e)
{
    if (o->tape_streams == TAPE_STREAMS_MAX)
        return err_set(e, E2BIG, "more than %d streams: take some of them with --only", TAPE_STREAMS_MAX);
    int rc = tape_writer_stream(o->w, &s->copy, &s->id, e);
    if (rc == 0) {
        o->tape_streams++;
        tape_stream_release(&s->copy);
    }
    return rc;
}

static int issuer_in_tape(struct import_out *o, struct out_issuer *n, struct err *e)
{
    int rc = tape_writer_issuer(o->w, n->name, &n->id, e);

    if (rc == 0) {
        free(n->name);
        n->name = NULL;
    }
    return rc;
}

bool import_out_wants(const struct import_out *o, uint32_t stream)
{
    return o->streams[stream].wanted;
}

int import_out_use(struct import_out *o, uint32_t stream, uint32_t *id, struct err *e)
{
    struct out_stream *s = &o->streams[stream];
    int rc = import_out_begin(o, NULL, e);

    if (rc == 0 && s->id == UNUSED)
        rc = stream_in_tape(o, s, e);
    *id = s->id;
    return rc;
}

/* ---- records ---- */

bool import_out_is_past(const struct import_out *o, uint64_t t_ns)
{
    return o->end_ns != UINT64_MAX && t_ns >= o->end_ns;
}

int import_out_add(struct import_out *o, const struct block_record *r, uint64_t *ordinal, struct err *e)
{
    struct out_stream *s = &o->streams[r->stream];
    struct out_issuer *n = &o->issuers[r->issuer];
    struct block_record mine = *r;
    int rc = 0;

    o->seen = true;
    if (!s->wanted || r->t_ns < o->part->from_ns || import_out_is_past(o, r->t_ns)) {
        if (ordinal)
            *ordinal = UINT64_MAX;
        return 0;
    }
    if (!o->w)
        rc = import_out_begin(o, NULL, e);
    if (rc == 0 && s->id == UNUSED)
        rc = stream_in_tape(o, s, e);
    if (rc == 0 && n->id == UNUSED)
        rc = issuer_in_tape(o, n, e);
    if (rc)
        return rc;
    mine.t_ns -= o->part->from_ns;
    mine.stream = s->id;
    mine.issuer = n->id;
    return tape_writer_add(o->w, &mine, ordinal, e);
}

int import_out_late(struct import_out *o, uint64_t ordinal, uint32_t stream, uint64_t t_ns,
        uint64_t latency_ns, uint16_t error, struct err *e)
{
    if (ordinal == UINT64_MAX)
        return 0;
    return tape_writer_late(
            o->w, ordinal, o->streams[stream].id, t_ns - o->part->from_ns, latency_ns, error, e);
}

/* ---- counts and the end ---- */

void import_out_lost(struct import_out *o, uint32_t stream, uint64_t count)
{
    if (stream < o->stream_count)
        o->streams[stream].lost += count;
    else
        o->lost += count;
}

void import_out_count(struct import_out *o, const char *name, uint64_t count)
{
    size_t i = 0;

    while (i < o->count_count && strcmp(o->counts[i].name, name) != 0)
        i++;
    if (i == COUNTS)
        return; /* no format has so many */
    if (i == o->count_count)
        snprintf(o->counts[o->count_count++].name, sizeof o->counts[i].name, "%s", name);
    o->counts[i].count += count;
}

void import_out_elapsed(struct import_out *o, uint64_t elapsed_ns)
{
    o->elapsed_ns = elapsed_ns;
}

void import_out_note(struct import_out *o, const char *fmt, ...)
{
    va_list args;

    if (o->note[0])
        return;
    va_start(args, fmt);
    vsnprintf(o->note, sizeof o->note, fmt, args);
    va_end(args);
}

static int refuse_only(const struct import_out *o, size_t missing, struct err *e)
{
    return err_set(e, EINVAL,
            "--only: no stream of the trace is called '%s' (it has %zu; imported without --only, "
            "`iotape-analyze show` tells their names)",
            o->part->only[missing], o->stream_count);
}

static void tell_counts(struct import_out *o)
{
    for (size_t i = 0; i < o->count_count; i++)
        tape_writer_count(o->w, o->counts[i].name, o->counts[i].count);
    for (size_t i = 0; i < o->stream_count; i++)
        if (o->streams[i].lost && o->streams[i].wanted)
            tape_writer_lost(o->w, o->streams[i].id, o->streams[i].lost);
    if (o->lost)
        tape_writer_lost(o->w, UINT32_MAX, o->lost);
}

int import_out_finish(struct import_out *o, const char *ended, struct import_summary *sum, struct err *e)
{
    uint64_t end_ns = o->elapsed_ns < o->end_ns ? o->elapsed_ns : o->end_ns;
    uint64_t elapsed_ns = end_ns > o->part->from_ns ? end_ns - o->part->from_ns : 0;

    for (size_t i = 0; i < o->part->only_count; i++)
        if (!o->only_seen[i])
            return refuse_only(o, i, e);
    if (!o->w && (o->seen || o->part->from_ns || o->part->for_ns || o->part->only_count))
        return err_set(e, EINVAL, "none of the trace's I/Os lies in the part that was asked for");
    int rc = import_out_begin(o, NULL, e);
    if (rc)
        return rc;
    tell_counts(o);
    rc = tape_writer_finish(o->w, ended, elapsed_ns, e);
    o->finished = rc == 0;
    *sum = (struct import_summary){tape_writer_records(o->w), tape_writer_bytes(o->w), elapsed_ns,
            tape_writer_conversations(o->w), o->note};
    return rc;
}
