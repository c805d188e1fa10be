/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile/aspect.h"

/* So many at a time that the columns of all stay in a near cache while aspect after aspect reads them. */
#define FEED_RECORDS       4096

#define ASPECT_ENTRY(name) &profile_##name,
const struct profile_aspect *const profile_aspects[] = {PROFILE_ASPECTS(ASPECT_ENTRY) NULL};
#define ASPECTS (sizeof profile_aspects / sizeof *profile_aspects - 1)

struct work {
    void *state[ASPECTS];
    bool open[ASPECTS], wants[ASPECTS];
};

static void work_close(struct work *w)
{
    for (size_t i = 0; i < ASPECTS; i++)
        if (w->open[i] && profile_aspects[i]->close)
            profile_aspects[i]->close(w->state[i]);
}

static int work_open(struct work *w, struct profile *p, struct err *e)
{
    for (size_t i = 0; i < ASPECTS; i++) {
        int rc = profile_aspects[i]->open ? profile_aspects[i]->open(&w->state[i], p, e) : 0;
        if (rc < 0)
            return rc;
        w->open[i] = true;
        w->wants[i] = profile_aspects[i]->feed || profile_aspects[i]->feed_net;
    }
    return 0;
}

/* Records from .. from + count - 1 of a chunk. */
static struct block_chunk part_of(const struct block_chunk *c, uint32_t from, uint32_t count)
{
    return (struct block_chunk){c->first + from, count, c->t_ns + from, c->offset_bytes + from,
            c->len_bytes + from, c->latency_ns + from, c->stream + from, c->issuer + from, c->flags + from,
            c->error + from, c->op + from};
}

static int feed_chunk(struct work *w, struct profile *p, const struct block_chunk *c, struct err *e)
{
    for (uint32_t from = 0; from < c->count; from += FEED_RECORDS) {
        uint32_t left = c->count - from;
        struct block_chunk part = part_of(c, from, left < FEED_RECORDS ? left : FEED_RECORDS);
        for (size_t i = 0; i < ASPECTS; i++) {
            const struct profile_aspect *a = profile_aspects[i];
            int rc = w->wants[i] && a->feed ? a->feed(w->state[i], p, &part, e) : 0;
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static int feed_net_chunk(struct work *w, struct profile *p, const struct net_chunk *c, struct err *e)
{
    for (size_t i = 0; i < ASPECTS; i++) {
        const struct profile_aspect *a = profile_aspects[i];
        int rc = w->wants[i] && a->feed_net ? a->feed_net(w->state[i], p, c, e) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* 1 where another pass is wanted. */
static int next_pass(struct work *w, struct profile *p, struct err *e)
{
    int any = 0;
    p->passes++;
    for (size_t i = 0; i < ASPECTS; i++) {
        int rc = w->wants[i] ? profile_aspects[i]->next(w->state[i], p, e) : 0;
        if (rc < 0)
            return rc;
        w->wants[i] = rc > 0;
        any |= rc;
    }
    return any;
}

static bool wants_any(const struct work *w, bool net)
{
    bool any = false;
    for (size_t i = 0; i < ASPECTS; i++)
        any |= w->wants[i] && (net ? profile_aspects[i]->feed_net != NULL : profile_aspects[i]->feed != NULL);
    return any;
}

static int read_blocks(struct tape_reader *r, struct work *w, struct profile *p, struct err *e)
{
    const struct block_chunk *c;
    int rc = tape_reader_seek(r, 0, e);
    while (rc >= 0 && (rc = tape_reader_next(r, &c, e)) > 0)
        rc = feed_chunk(w, p, c, e);
    return rc;
}

static int read_net(struct tape_reader *r, struct work *w, struct profile *p, struct err *e)
{
    const struct net_chunk *c;
    int rc;
    tape_reader_net_rewind(r);
    while ((rc = tape_reader_net_next(r, &c, e)) > 0)
        if ((rc = feed_net_chunk(w, p, c, e)) < 0)
            break;
    return rc;
}

static int read_passes(struct tape_reader *r, struct work *w, struct profile *p, struct err *e)
{
    int rc, again;
    do {
        rc = wants_any(w, false) ? read_blocks(r, w, p, e) : 0;
        if (rc >= 0 && wants_any(w, true))
            rc = read_net(r, w, p, e);
        again = rc < 0 ? rc : next_pass(w, p, e);
    } while (again > 0);
    return again;
}

/* The least of 1, 2, 5, 10, ... ns with which PROFILE_SLOTS_MAX slots suffice. */
static void cut_time(struct profile_timeline *t, uint64_t elapsed_ns)
{
    static const unsigned steps[] = {1, 2, 5};
    uint64_t power = 1;
    for (unsigned i = 0;; i++) {
        t->slot_ns = power * steps[i % 3];
        t->slots = (size_t)(elapsed_ns / t->slot_ns + (elapsed_ns % t->slot_ns != 0));
        if (elapsed_ns / t->slot_ns < PROFILE_SLOTS_MAX && t->slots <= PROFILE_SLOTS_MAX)
            break;
        power *= i % 3 == 2 ? 10 : 1;
    }
    t->slots += t->slots == 0;
}

static int describe(struct profile *p, const struct tape_reader *r, struct err *e)
{
    const struct tape_totals *t = tape_reader_totals(r);
    const char *label = tape_reader_info(r)->label;
    tape_identity_name(&t->identity, p->identity);
    p->finished = t->finished;
    p->records = t->records;
    p->lost = t->lost;
    p->net = t->net;
    p->elapsed_ns = t->elapsed_ns;
    cut_time(&p->timeline, p->elapsed_ns);
    p->label = strdup(label ? label : "");
    p->stream_count = tape_reader_stream_count(r);
    p->streams = calloc(p->stream_count + 1, sizeof *p->streams);
    for (size_t i = 0; p->streams && p->label && i < p->stream_count; i++) {
        const struct tape_stream *s = tape_reader_stream(r, (uint32_t)i);
        p->disks += s->kind == TAPE_STREAM_DISK;
        p->streams[i].capacity_bytes = s->capacity_bytes;
        p->streams[i].sector_bytes = s->sector_bytes;
        p->streams[i].name = strdup(s->name ? s->name : "");
        if (!p->streams[i].name)
            return err_sys(e, ENOMEM, "cannot profile the tape");
    }
    return p->streams && p->label ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
}

int profile_make(struct profile **out, const char *path, struct err *e)
{
    struct tape_reader *r;
    struct work w = {0};
    int rc = tape_reader_open(&r, path, e);
    if (rc < 0)
        return rc;
    struct profile *p = calloc(1, sizeof *p);
    rc = p ? describe(p, r, e) : err_sys(e, ENOMEM, "cannot profile the tape");
    if (rc == 0)
        rc = work_open(&w, p, e);
    if (rc == 0)
        rc = read_passes(r, &w, p, e);
    work_close(&w);
    tape_reader_close(r);
    if (rc < 0) {
        profile_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->streams && i < p->stream_count; i++)
        free(p->streams[i].name);
    for (size_t i = 0; i < p->heat.places; i++)
        free(p->heat.place[i]);
    free(p->streams);
    free(p->label);
    free(p);
}
