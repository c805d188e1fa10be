/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/foreign.h"
#include "formats/base/cleanup.h"

static void close_tape(struct tape_reader **r)
{
    tape_reader_close(*r);
}
static void close_run(struct run_reader **r)
{
    run_reader_close(*r);
}

/* ---- what a file says about itself ---- */

static int copy_text(char **to, const char *from, struct err *e)
{
    *to = strdup(from ? from : "");
    return *to ? 0 : err_sys(e, ENOMEM, "cannot hold a name");
}

static bool is_throttled(const struct tape_stream *stream)
{
    return facts_get(&stream->device, "throttle") != NULL;
}

static int open_tape(struct source *s, struct err *e)
{
    struct tape_reader *r CLEANUP(close_tape) = NULL;
    int rc = tape_reader_open(&r, s->path, e);
    if (rc < 0)
        return rc;
    const struct tape_info *info = tape_reader_info(r);
    const struct tape_totals *totals = tape_reader_totals(r);
    s->finished = totals->finished;
    s->identity = totals->identity;
    s->lost = totals->lost;
    for (uint32_t i = 0; i < tape_reader_stream_count(r); i++)
        s->tape_throttled |= is_throttled(tape_reader_stream(r, i));
    rc = copy_text(&s->label, info->label, e);
    return rc < 0 ? rc : facts_merge(&s->host, &info->host, "", e);
}

static int open_run(struct source *s, struct err *e)
{
    struct run_reader *r CLEANUP(close_run) = NULL;
    int rc = run_reader_open(&r, s->path, e);
    if (rc < 0)
        return rc;
    const struct run_info *info = run_reader_info(r);
    s->finished = run_reader_finished(r);
    s->identity = info->identity;
    s->lost = info->tape_lost;
    for (uint32_t i = 0; i < run_reader_stream_count(r); i++)
        s->tape_throttled |= is_throttled(run_reader_stream(r, i));
    s->working_set_bytes = info->working_set_bytes;
    if ((rc = copy_text(&s->label, info->tape.label, e)) < 0 ||
            (rc = copy_text(&s->target_name, info->target_name, e)) < 0 ||
            (rc = facts_merge(&s->host, &info->host, "", e)) < 0 ||
            (rc = facts_merge(&s->options, &info->options, "", e)) < 0)
        return rc;
    return facts_merge(&s->target, &info->target, "", e);
}

struct source *source_list_add(struct source_list *l, struct err *e)
{
    struct source *list = reallocarray(l->list, l->count + 1, sizeof *list);
    if (!list) {
        err_sys(e, ENOMEM, "cannot hold %zu files", l->count + 1);
        return NULL;
    }
    l->list = list;
    list[l->count] = (struct source){0};
    return &list[l->count++];
}

int source_open(struct source_list *l, const char *path, struct err *e)
{
    enum tape_kind kind;
    int rc = tape_file_kind(path, &kind, e);
    if (rc < 0)
        return rc;
    if (kind == TAPE_KIND_NONE)
        return foreign_open(l, path, e);
    struct source *s = source_list_add(l, e);
    if (!s)
        return -ENOMEM;
    s->kind = kind;
    rc = copy_text(&s->path, path, e);
    if (rc < 0)
        return rc;
    return kind == TAPE_KIND_RUN ? open_run(s, e) : open_tape(s, e);
}

static void source_release(struct source *s)
{
    free(s->path);
    free(s->label);
    free(s->target_name);
    facts_release(&s->host);
    facts_release(&s->options);
    facts_release(&s->target);
    free(s->results);
    for (size_t i = 0; i < s->stream_count; i++) {
        free(s->streams[i].name);
        free(s->streams[i].results);
    }
    free(s->streams);
    foreign_release(s->foreign);
    free(s->stated);
}

void source_list_release(struct source_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        source_release(&l->list[i]);
    free(l->list);
    *l = (struct source_list){0};
}

const char *source_workload(const struct source *s, char buf[TAPE_IDENTITY_TEXT_BYTES])
{
    if (*s->label)
        return s->label;
    tape_identity_name(&s->identity, buf);
    buf[12] = 0;
    return buf;
}
