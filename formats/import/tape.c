/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Our own tapes: to cut a part out of one, to take some of its streams, or to take out what is personal. What
 * a tape says about itself goes with it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/import.h"
#include "formats/import/scrub.h"
#include "formats/net_part.h"

#define FIRST_MEMBER "iotape.msgpack"
#define USTAR_MAGIC  257 /* its place in a tar header */

struct copy {
    const struct import_options *opts;
    struct import_out *out;
    struct tape_reader *r;
};

static void cleanup_reader(struct tape_reader **r)
{
    tape_reader_close(*r);
}

/* ---- what it says about itself ---- */

static int copy_options(const struct copy *c, struct tape_info *to, struct err *e)
{
    const struct import_part *part = &c->opts->part;
    int rc = 0;

    if (part->from_ns || part->for_ns)
        rc = facts_set(&to->options, e, "cut_from_ns", "%" PRIu64, part->from_ns);
    if (rc == 0 && part->for_ns)
        rc = facts_set(&to->options, e, "cut_for_ns", "%" PRIu64, part->for_ns);
    if (rc == 0 && part->only_count)
        rc = facts_set(&to->options, e, "streams_taken", "%zu of %zu", part->only_count,
                tape_reader_stream_count(c->r));
    if (rc == 0 && c->opts->scrub)
        rc = facts_set(&to->options, e, "scrubbed", "yes");
    return rc;
}

/* The label stays unless the caller gave one; one that is to be scrubbed is the caller's. */
static int copy_info(const struct copy *c, struct err *e)
{
    const struct tape_info *from = tape_reader_info(c->r);
    struct tape_info *to = import_out_info(c->out);
    int rc;

    memcpy(to->salt, from->salt, sizeof to->salt);
    to->started_unix_ns = from->started_unix_ns;
    facts_release(&to->options);
    rc = facts_merge(&to->options, &from->options, "", e);
    if (rc == 0)
        rc = facts_merge(&to->host, &from->host, "", e);
    if (rc == 0 && c->opts->scrub)
        rc = scrub_info(to, e);
    if (rc == 0 && !c->opts->label_given && !c->opts->scrub && from->label) {
        free(to->label);
        to->label = strdup(from->label);
        if (!to->label)
            return err_sys(e, ENOMEM, "cannot keep the label");
    }
    return rc ? rc : copy_options(c, to, e);
}

static int copy_stream(const struct copy *c, uint32_t i, struct err *e)
{
    struct tape_stream CLEANUP(tape_stream_release) s = {0};
    uint32_t id;
    const struct tape_stream *from = tape_reader_stream(c->r, i);
    int rc = tape_stream_copy(&s, from, e);

    if (rc == 0 && c->opts->scrub)
        rc = scrub_stream(&s, i + 1, e);
    return rc ? rc : import_out_stream_of(c->out, from->name, &s, &id, e);
}

static int copy_issuer(const struct copy *c, uint32_t i, struct err *e)
{
    char name[32];
    uint32_t id;

    snprintf(name, sizeof name, "process-%u", i + 1);
    return import_out_issuer(c->out, c->opts->scrub ? name : tape_reader_issuer(c->r, i), &id, e);
}

/* Numbers stay: the n-th stream is the n-th stream. */
static int copy_names(const struct copy *c, struct err *e)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < tape_reader_stream_count(c->r); i++)
        rc = copy_stream(c, i, e);
    for (uint32_t i = 0; rc == 0 && i < tape_reader_issuer_count(c->r); i++)
        rc = copy_issuer(c, i, e);
    return rc;
}

/* ---- records and counts ---- */

static int copy_records(const struct copy *c, struct err *e)
{
    const struct block_chunk *chunk;
    int rc = tape_reader_seek(c->r, c->opts->part.from_ns, e);

    while (rc == 0 && (rc = tape_reader_next(c->r, &chunk, e)) > 0) {
        rc = 0;
        for (uint32_t i = 0; rc == 0 && i < chunk->count; i++) {
            struct block_record r = block_chunk_get(chunk, i);
            rc = import_out_add(c->out, &r, NULL, e);
        }
        if (rc == 0 && import_out_is_past(c->out, chunk->t_ns[chunk->count - 1]))
            break;
    }
    return rc;
}

/* ---- conversations ---- */

/* The number that a host has in the tape, where it is with its first conversation. */
static int copy_host(
        const struct copy *c, struct tape_writer *w, uint32_t *known, uint32_t *id, struct err *e)
{
    char name[32];
    uint32_t from = *id;
    int rc = 0;

    snprintf(name, sizeof name, "host-%u", from + 1);
    if (known[from] == UINT32_MAX)
        rc = tape_writer_host(w, c->opts->scrub ? name : tape_reader_host(c->r, from), &known[from], e);
    *id = known[from];
    return rc;
}

static int copy_event(const struct copy *c, struct net_part_event *p, uint32_t *known, struct err *e)
{
    struct tape_writer *w;
    int rc = import_out_begin(c->out, &w, e);

    if (rc == 0 && p->ev.kind == NET_CONNECT) {
        rc = import_out_use(c->out, p->of.stream, &p->of.stream, e);
        if (rc == 0)
            rc = copy_host(c, w, known, &p->of.client, e);
        if (rc == 0)
            rc = copy_host(c, w, known, &p->of.server, e);
    }
    return rc ? rc : tape_writer_net(w, &p->ev, p->ev.kind == NET_CONNECT ? &p->of : NULL, e);
}

/* A part of them is as net_part.h says. */
static int copy_conversations(const struct copy *c, struct err *e)
{
    const struct import_part *part = &c->opts->part;
    size_t streams = tape_reader_stream_count(c->r), hosts = tape_reader_host_count(c->r);
    CLEANUP_FREE bool *wanted = calloc(streams + 1, sizeof *wanted);
    CLEANUP_FREE uint32_t *known = malloc((hosts + 1) * sizeof *known);
    struct net_part_options o = {.from_ns = part->from_ns, .until_ns = UINT64_MAX, .streams = wanted};
    struct net_part *p;
    struct net_part_event ev;

    if (!wanted || !known)
        return err_sys(e, ENOMEM, "cannot copy conversations");
    memset(known, 0xff, (hosts + 1) * sizeof *known);
    for (uint32_t i = 0; i < streams; i++)
        wanted[i] = import_out_wants(c->out, i);
    if (part->for_ns && part->from_ns <= UINT64_MAX - part->for_ns)
        o.until_ns = part->from_ns + part->for_ns;
    int rc = net_part_open(&p, &o, c->r, e);
    if (rc)
        return rc;
    while (rc == 0 && (rc = net_part_next(p, &ev, e)) == 1)
        rc = copy_event(c, &ev, known, e);
    net_part_close(p);
    return rc;
}

/* ---- the whole ---- */

static void copy_totals(const struct copy *c)
{
    const struct tape_totals *t = tape_reader_totals(c->r);
    uint64_t lost = t->lost;

    for (size_t i = 0; i < t->stream_count && i < tape_reader_stream_count(c->r); i++) {
        if (t->streams[i].lost)
            import_out_lost(c->out, (uint32_t)i, t->streams[i].lost);
        lost -= t->streams[i].lost < lost ? t->streams[i].lost : lost;
    }
    if (lost)
        import_out_lost(c->out, UINT32_MAX, lost);
    for (size_t i = 0; i < t->counts.count; i++)
        import_out_count(c->out, t->counts.list[i].key, strtoull(t->counts.list[i].value, NULL, 10));
    import_out_elapsed(c->out, t->elapsed_ns);
    if (!t->finished)
        import_out_note(c->out, "the tape is unfinished: what is readable of it was taken");
    else if (t->lost && (c->opts->part.from_ns || c->opts->part.for_ns))
        import_out_note(c->out,
                "the recording lost %" PRIu64 " events: which of them in this part, it does not tell",
                t->lost);
}

/* A tape is read through its index, not in sequence. */
static int refuse_stream(const char *path, struct input *standard, struct err *e)
{
    CLEANUP(input_release) struct input in = {0};

    if (strcmp(path, "-") == 0)
        return err_set(e, EINVAL, "a tape cannot be read from standard input: give its file");
    int rc = input_open(&in, path, standard, e);
    if (rc == 0 && in.unpack)
        return err_set(e, EINVAL, "'%s' is a packed tape: unpack it first", path);
    return rc;
}

static int tape_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    CLEANUP(cleanup_reader) struct tape_reader *r = NULL;
    int rc;

    if (count != 1) /* clocks of two tapes have nothing in common */
        return err_set(e, EINVAL, "'%s': one tape makes one tape", paths[1]);
    rc = refuse_stream(paths[0], opts->standard, e);
    if (rc == 0)
        rc = tape_reader_open(&r, paths[0], e);
    if (rc)
        return rc;
    struct copy c = {opts, out, r};
    rc = copy_info(&c, e);
    if (rc == 0)
        rc = copy_names(&c, e);
    if (rc == 0)
        rc = copy_records(&c, e);
    if (rc == 0)
        rc = copy_conversations(&c, e);
    if (rc == 0)
        copy_totals(&c);
    return rc;
}

static bool tape_probe(const uint8_t *head, size_t len)
{
    return len > USTAR_MAGIC + 5 && memcmp(head, FIRST_MEMBER, sizeof FIRST_MEMBER) == 0 &&
           memcmp(head + USTAR_MAGIC, "ustar", 5) == 0;
}

const struct import_ops import_tape = {
        .name = "tape",
        .help = "a tape of our own, to cut (--from, --for), to take streams of (--only) or to clean "
                "(--scrub)",
        .probe = tape_probe,
        .read = tape_read,
};
