/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"

/* Of each record of the tape. */
#define NOTE_FUA      1
#define NOTE_PREFLUSH 2
#define NOTE_DONE     4 /* has a result in the repetition that is looked at */

/* One I/O that changed data, or failed to. */
struct change {
    uint64_t issued_ns, done_ns, record, offset_bytes, len_bytes;
    uint32_t stream;
    uint16_t error;
    uint8_t op;
};

struct history {
    struct session *session;
    struct session_side *side;
    struct run_reader *run;
    uint8_t *note;
    uint64_t notes;
    struct change *change;
    size_t changes, room;
    uint64_t *stable_ns; /* of each stream: what had completed by then is on stable storage */
    uint32_t repetition; /* that is looked at; 0: none yet */
};

/* ---- options ---- */

static int number_of(const struct facts *f, const char *key, uint64_t *value, struct err *e)
{
    const char *text = facts_get(f, key);
    *value = 0;
    return text ? units_parse_u64(text, value, e) : 0;
}

int history_settings(struct settings *set, const struct run_reader *run, struct err *e)
{
    const struct facts *f = &run_reader_info(run)->options;
    const char *verify = facts_get(f, "verify");
    const char *fit = facts_get(f, "fit");
    uint64_t compressible;
    if (!verify || strcmp(verify, "yes") != 0)
        return err_set(e, EINVAL, "run '%s' was made without --verify", set->verify_only);
    for (set->fit = 0; fit_names[set->fit] && fit && strcmp(fit_names[set->fit], fit) != 0;)
        set->fit++;
    if (!fit_names[set->fit])
        return err_set(
                e, EINVAL, "run '%s': its option fit is %s, which is unknown here", set->verify_only, fit);
    int r = number_of(f, "seed", &set->seed, e);
    if (r == 0)
        r = number_of(f, "from_ns", &set->from_ns, e);
    if (r == 0)
        r = number_of(f, "for_ns", &set->for_ns, e);
    if (r == 0)
        r = number_of(f, "compressible", &compressible, e);
    if (r < 0 || compressible > 100)
        return r < 0 ? r : err_set(e, EINVAL, "run '%s': its options are malformed", set->verify_only);
    set->recipe = (struct content_recipe){.compressible = (uint8_t)compressible, .verify = true};
    set->timing = TIMING_RECORDED; /* means nothing here */
    return 0;
}

/* ---- the tape ---- */

static int note_record(void *context, const struct block_record *r, uint64_t number, struct err *e)
{
    (void)e;
    struct history *h = context;
    if (number < h->notes)
        h->note[number] = (uint8_t)((r->flags & BLOCK_FUA ? NOTE_FUA : 0) |
                                    (r->flags & BLOCK_PREFLUSH ? NOTE_PREFLUSH : 0));
    return 0;
}

static int check_same(const struct history *h, struct err *e)
{
    const struct session *s = h->session;
    const struct run_info *info = run_reader_info(h->run);
    size_t streams = tape_reader_stream_count(s->tape);
    if (!tape_identity_equal(&info->identity, &tape_reader_totals(s->tape)->identity) ||
            streams != run_reader_stream_count(h->run))
        return err_set(e, EINVAL, "run '%s' is not of '%s'", s->settings.verify_only, s->settings.tape);
    for (size_t i = 0; i < streams; i++) {
        char key[48];
        const struct target *t = h->side->target[i];
        snprintf(key, sizeof key, streams > 1 ? "%2$zu.%1$s" : "%1$s", "size_bytes", i + 1);
        const char *size = facts_get(&info->target, key);
        if (size && strtoull(size, NULL, 10) != t->size_bytes)
            return err_set(e, EINVAL, "'%s' has %llu bytes, and the target of run '%s' had %s", t->url,
                    (unsigned long long)t->size_bytes, s->settings.verify_only, size);
    }
    return 0;
}

/* ---- changes ---- */

static struct content_write write_of(const struct history *h, uint64_t record)
{
    return (struct content_write){
            .seed = h->session->settings.seed, .record = record, .repetition = h->repetition};
}

static int perhaps_record(void *context, const struct block_record *record, uint64_t number, struct err *e)
{
    struct history *h = context;
    struct feed_source source = session_source(h->session, h->side);
    struct feed_counts counts = {0};
    struct block_record r = *record;
    bool drop;
    if (number >= h->notes || (h->note[number] & NOTE_DONE) ||
            feed_fit(&source, &r, &drop, &counts) == FIT_REFUSED || drop)
        return 0;
    struct content_write w = write_of(h, number + 1);
    return verify_changed(h->side->verify[r.stream], r.op, r.offset_bytes, r.len_bytes, &w, false, e);
}

struct fill_part {
    struct verify *verify;
    struct content_write write;
    bool sure;
};

static int fill_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    const struct fill_part *f = context;
    return verify_changed(f->verify, BLOCK_WRITE, offset_bytes, len_bytes, &f->write, f->sure, e);
}

/* The fill before repetition h->repetition: of all before the first, then of what was discarded or zeroed. */
static int apply_fill(struct history *h, bool sure, struct err *e)
{
    struct session *s = h->session;
    int r = 0;
    for (size_t i = 0; i < s->targets && r == 0; i++) {
        struct session_target *t = &s->target[i];
        struct fill_part f = {t->verify, write_of(h, 0), sure};
        const struct ranges *filled = h->repetition == 1 ? &t->touched : &t->punched;
        r = ranges_each(filled, RANGES_END_BYTES / 2, fill_part, &f, e);
    }
    return r;
}

static int by_issue(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->issued_ns != y->issued_ns)
        return x->issued_ns < y->issued_ns ? -1 : 1;
    if (x->done_ns != y->done_ns)
        return x->done_ns < y->done_ns ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static const struct run_repetition *summary_of(const struct history *h, uint32_t repetition)
{
    for (size_t i = 0; i < run_reader_repetition_count(h->run); i++)
        if (run_reader_repetition(h->run, i)->repetition == repetition)
            return run_reader_repetition(h->run, i);
    return NULL;
}

/* All of a repetition is known: its changes, in the order in which overlapping ones were done. */
static int end_repetition(struct history *h, struct err *e)
{
    const struct run_repetition *summary = summary_of(h, h->repetition);
    bool complete = summary && summary->complete;
    qsort(h->change, h->changes, sizeof *h->change, by_issue);
    for (size_t i = 0; i < h->changes; i++) {
        const struct change *c = &h->change[i];
        bool stable = complete || (h->note[c->record] & NOTE_FUA) || c->done_ns <= h->stable_ns[c->stream];
        struct content_write w = write_of(h, c->record + 1);
        int r = verify_changed(h->side->verify[c->stream], c->op, c->offset_bytes, c->len_bytes, &w,
                stable && c->error == 0, e);
        if (r < 0)
            return r;
    }
    h->changes = 0;
    if (complete)
        return 0;
    struct feed_source source = session_source(h->session, h->side);
    return feed_walk(&source, perhaps_record, h, e);
}

static int begin_repetition(struct history *h, struct err *e)
{
    h->repetition++;
    for (uint64_t i = 0; i < h->notes; i++)
        h->note[i] &= (uint8_t)~NOTE_DONE;
    memset(h->stable_ns, 0, tape_reader_stream_count(h->session->tape) * sizeof *h->stable_ns);
    return apply_fill(h, true, e);
}

static int reach_repetition(struct history *h, uint32_t repetition, struct err *e)
{
    int r = 0;
    while (h->repetition < repetition && r == 0) {
        r = h->repetition ? end_repetition(h, e) : 0;
        if (r == 0)
            r = begin_repetition(h, e);
    }
    return r;
}

/* ---- the run ---- */

/* All streams that go to the same target are flushed. */
static void note_flush(struct history *h, uint32_t stream, uint64_t issued_ns)
{
    for (size_t i = 0; i < tape_reader_stream_count(h->session->tape); i++)
        if (h->side->target[i] == h->side->target[stream] && h->stable_ns[i] < issued_ns)
            h->stable_ns[i] = issued_ns;
}

static int add_change(struct history *h, const struct run_chunk *c, uint32_t i, struct err *e)
{
    if (h->changes == h->room) {
        size_t room = h->room ? h->room * 2 : 4096;
        struct change *list = reallocarray(h->change, room, sizeof *list);
        if (!list)
            return err_sys(e, ENOMEM, "cannot keep what was written");
        h->change = list;
        h->room = room;
    }
    uint64_t done_ns = c->issued_ns[i] + c->latency_ns[i];
    h->change[h->changes++] = (struct change){.issued_ns = c->issued_ns[i],
            .done_ns = done_ns < c->issued_ns[i] ? UINT64_MAX : done_ns,
            .record = c->record[i],
            .offset_bytes = c->offset_bytes[i],
            .len_bytes = c->len_bytes[i],
            .stream = c->stream[i],
            .error = c->error[i],
            .op = c->op[i]};
    return 0;
}

static int take_chunk(struct history *h, const struct run_chunk *c, struct err *e)
{
    int r = reach_repetition(h, c->repetition, e);
    for (uint32_t i = 0; i < c->count && r == 0; i++) {
        if (c->record[i] >= h->notes || c->offset_bytes[i] >= RANGES_END_BYTES ||
                c->len_bytes[i] >= RANGES_END_BYTES)
            return err_set(e, EBADMSG, "run '%s' has a result that its tape does not",
                    h->session->settings.verify_only);
        uint8_t *note = &h->note[c->record[i]];
        *note |= NOTE_DONE;
        if (c->error[i] == 0 && (c->op[i] == BLOCK_FLUSH || (*note & NOTE_PREFLUSH)))
            note_flush(h, c->stream[i], c->issued_ns[i]);
        if (c->op[i] != BLOCK_READ && c->op[i] != BLOCK_FLUSH)
            r = add_change(h, c, i, e);
    }
    return r;
}

static int read_run(struct history *h, struct err *e)
{
    const struct run_chunk *c;
    size_t closed = run_reader_repetition_count(h->run);
    int r = run_reader_rewind(h->run, e);
    while (r == 0 && (r = run_reader_next(h->run, &c, e)) == 1)
        r = take_chunk(h, c, e);
    if (r == 0 && closed)
        r = reach_repetition(h, (uint32_t)run_reader_repetition(h->run, closed - 1)->repetition, e);
    if (r < 0)
        return r;
    if (h->repetition == 0)
        return err_set(e, ENODATA, "run '%s' holds no results: nothing is known of what was written",
                h->session->settings.verify_only);
    r = end_repetition(h, e);
    const char *ended = run_reader_ended(h->run);
    if (r < 0 || (run_reader_finished(h->run) && strcmp(ended, "done") == 0))
        return r;
    h->repetition++; /* its fill may have begun */
    return apply_fill(h, false, e);
}

int history_apply(struct session *s, struct run_reader *run, struct err *e)
{
    size_t streams = tape_reader_stream_count(s->tape);
    struct history h = {
            .session = s, .side = &s->side[0], .run = run, .notes = tape_reader_totals(s->tape)->records};
    struct feed_source source = session_source(s, h.side);
    int r = s->sides == 1 ? check_same(&h, e)
                          : err_set(e, EINVAL, "--verify-only checks the targets of one run");
    if (r < 0)
        return r;
    h.note = calloc(h.notes + 1, 1);
    h.stable_ns = calloc(streams + 1, sizeof *h.stable_ns);
    r = h.note && h.stable_ns ? feed_walk(&source, note_record, &h, e)
                              : err_sys(e, ENOMEM, "cannot keep what was written");
    if (r == 0)
        r = read_run(&h, e);
    free(h.note);
    free(h.stable_ns);
    free(h.change);
    return r;
}
