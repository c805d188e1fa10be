/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What reads and writes touch: how much there is of it and how it grows, what is read again or after it was
 * written, and where most of the I/O goes. The unit of each stream is only known after the first pass, which
 * takes them all for the largest; where that was wrong, it all begins with the second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/hottest.h"
#include "analyze/profile/touched.h"
#include "analyze/profile/words.h"
#include "analyze/show.h"

#define RANGES_OF_ONE_MAX 4096 /* that one I/O may touch: 1 GiB in units of 4 KiB */
#define UNIT_BITS_MAX     12
#define TOUCHES_AT_ONCE   512
/* From MANY_STREAMS on, what is kept of each takes memory from the set. */
#define MANY_STREAMS 1024
#define BYTES_MAX    ((size_t)40 << 20)
#define BYTES_FEW    ((size_t)16 << 20)

struct set_state {
    bool first_pass, guessed_right; /* so far */
    bool later;                     /* not the first pass that counts */
    int failed;                     /* of the ranges */
    struct touched *touched;
    struct hottest hottest;
    uint8_t *unit_bits; /* of each stream */
    struct profile *p;
};

static void set_close(void *state)
{
    struct set_state *s = state;
    if (!s)
        return;
    touched_close(s->touched);
    hottest_release(&s->hottest);
    free(s->unit_bits);
    free(s);
}

static int begin(struct set_state *s, struct err *e)
{
    touched_close(s->touched);
    s->touched = NULL;
    size_t bytes = s->p->stream_count > MANY_STREAMS ? BYTES_FEW : BYTES_MAX;
    return touched_open(&s->touched, bytes, s->p->records / 4 * 5, e); /* some reach into a second range */
}

static int set_open(void **state, struct profile *p, struct err *e)
{
    struct set_state *s = calloc(1, sizeof *s);
    if (s)
        s->unit_bits = malloc(p->stream_count + 1);
    if (!s || !s->unit_bits) {
        set_close(s);
        return err_sys(e, ENOMEM, "cannot profile the tape");
    }
    memset(s->unit_bits, UNIT_BITS_MAX, p->stream_count + 1);
    s->first_pass = s->guessed_right = true;
    s->p = p;
    int rc = begin(s, e);
    if (rc == 0)
        rc = hottest_init(&s->hottest, e);
    if (rc < 0)
        set_close(s);
    else
        *state = s;
    return rc;
}

/* The largest of 512 .. 4096 that all offsets and lengths of the stream are multiples of; else 512. */
static uint8_t unit_bits_of(const struct profile_places *s)
{
    unsigned class = 4;
    for (unsigned i = 0; i < class; i++)
        if (s->offset_align[i] || s->len_align[i])
            class = i;
    return (uint8_t)(class ? class + 8 : 9);
}

/* ---- passes ---- */

/* Touches that are collected, with what is the same for all of an I/O, or of many. */
struct batch {
    struct touched_pass pass;
    size_t count;
    struct touch list[TOUCHES_AT_ONCE];
};

static int flush(struct set_state *s, struct batch *b, struct err *e)
{
    int rc = touched_add(s->touched, b->list, b->count, e);
    b->count = 0;
    b->pass = touched_pass(s->touched);
    return rc;
}

/* What is the same for all ranges of an I/O. */
struct io {
    uint32_t stream;
    uint8_t unit_bits;
    bool write;
    uint16_t slot;
};

/* Units first .. last of a stream. */
static inline int touch_units(
        struct set_state *s, struct batch *b, struct io io, uint64_t first, uint64_t last, struct err *e)
{
    for (uint64_t index = first / 64; index <= last / 64; index++) {
        unsigned from = index == first / 64 ? first % 64 : 0, to = index == last / 64 ? last % 64 : 63;
        uint64_t key = touched_key(&b->pass, io.stream, index);
        b->list[b->count] = (struct touch){key, io.slot, (uint8_t)from, (uint8_t)to, io.unit_bits, io.write};
        /* No branch: it would be mispredicted where half of the ranges is left to another pass. */
        b->count += touched_wants(&b->pass, key);
        if (b->count == TOUCHES_AT_ONCE) {
            int rc = flush(s, b, e);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static int touch_all(struct set_state *s, struct batch *b, const struct block_chunk *c, struct err *e)
{
    struct profile *p = s->p;
    size_t slot = profile_slot_of(&p->timeline, c);
    uint64_t bytes[2] = {0}, left_out = 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < c->count; i++) {
        if (!profile_is_data(c->op[i]) || !c->len_bytes[i])
            continue;
        uint64_t offset = c->offset_bytes[i], last = profile_add(offset, c->len_bytes[i] - 1);
        unsigned bits = s->unit_bits[c->stream[i]];
        slot = profile_slot_at(&p->timeline, c->t_ns[i], slot);
        struct io io = {c->stream[i], (uint8_t)bits, c->op[i] == BLOCK_WRITE, (uint16_t)slot};
        if ((last >> bits) / 64 - (offset >> bits) / 64 >= RANGES_OF_ONE_MAX) {
            left_out++;
        } else {
            bytes[io.write] += ((last >> bits) - (offset >> bits) + 1) << bits;
            rc = touch_units(s, b, io, offset >> bits, last >> bits, e);
        }
    }
    if (!s->later) {
        p->working_set.left_out += left_out;
        p->working_set.read_bytes += bytes[0];
        p->working_set.written_bytes += bytes[1];
    }
    return rc;
}

static bool all_whole(const struct block_chunk *c)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < c->count; i++)
        bits |= profile_is_data(c->op[i]) ? c->offset_bytes[i] | c->len_bytes[i] : 0;
    return bits % (1U << UNIT_BITS_MAX) == 0;
}

static int set_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct set_state *s = state;
    struct batch b;
    (void)p;
    if (s->first_pass)
        s->guessed_right = s->guessed_right && all_whole(c);
    if (!s->guessed_right)
        return 0;
    b.count = 0;
    b.pass = touched_pass(s->touched);
    int rc = touch_all(s, &b, c, e);
    return rc < 0 ? rc : flush(s, &b, e);
}

static void take_range(void *to, const struct touched_range *r)
{
    struct set_state *s = to;
    unsigned bits = s->unit_bits[r->stream];
    struct profile_touched *t = &s->p->streams[r->stream].touched;
    t->read_bytes += touched_bits(r->read) << bits;
    t->written_bytes += touched_bits(r->written) << bits;
    t->bytes += touched_bits(r->read | r->written) << bits;
    struct profile_hot range = {r->stream, r->index << bits << 6, UINT64_C(64) << bits, r->touches};
    if (hottest_add(&s->hottest, &range) < 0)
        s->failed = -ENOMEM;
}

static void finish(struct set_state *s, struct profile *p)
{
    struct profile_working_set *w = &p->working_set;
    for (size_t i = 0; i < p->stream_count; i++) {
        w->all.read_bytes = profile_add(w->all.read_bytes, p->streams[i].touched.read_bytes);
        w->all.written_bytes = profile_add(w->all.written_bytes, p->streams[i].touched.written_bytes);
        w->all.bytes = profile_add(w->all.bytes, p->streams[i].touched.bytes);
    }
    /* All but the first time that a byte was read, or was written. */
    w->read_again_bytes = w->read_bytes - w->all.read_bytes;
    w->overwritten_bytes = w->written_bytes - w->all.written_bytes;
    hottest_finish(&s->hottest, w);
}

/* Now that the units are known: 1 where the first pass was for nothing. */
static int know_units(struct set_state *s, struct profile *p, struct err *e)
{
    for (size_t i = 0; i < p->stream_count; i++) {
        s->unit_bits[i] = unit_bits_of(&p->streams[i].places);
        p->streams[i].unit_bytes = 1U << s->unit_bits[i];
    }
    s->first_pass = false;
    if (s->guessed_right)
        return 0;
    s->guessed_right = true;
    p->working_set.left_out = p->working_set.read_bytes = p->working_set.written_bytes = 0;
    int rc = begin(s, e);
    return rc < 0 ? rc : 1;
}

static int set_next(void *state, struct profile *p, struct err *e)
{
    struct set_state *s = state;
    int rc = s->first_pass ? know_units(s, p, e) : 0;
    if (rc)
        return rc;
    uint64_t grown[PROFILE_SLOTS_MAX] = {0};
    int again = touched_next(s->touched, take_range, s, &p->working_set.read_after_write_bytes, grown, e);
    if (again < 0)
        return again;
    if (s->failed)
        return err_sys(e, ENOMEM, "cannot profile the tape");
    for (size_t i = 0; i < p->timeline.slots; i++)
        p->timeline.slot[i].grown_bytes += grown[i];
    s->later = true;
    if (!again)
        finish(s, p);
    return again;
}

/* ---- as text ---- */

static void hot_lines(const struct profile *p, struct out *o)
{
    const struct profile_working_set *w = &p->working_set;
    char share[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES], place[UNITS_TEXT_BYTES];
    static const unsigned percent[] = {
#define PERCENT(n) n,
            PROFILE_SHARES(PERCENT)
#undef PERCENT
    };
    out_text(o, "  the hottest part of it takes so much of the I/O:");
    for (unsigned i = 0; i < PROFILE_SHARES_MAX; i++)
        out_printf(o, "%s %u %% takes %s", i ? "," : "", percent[i],
                words_share(w->share_touches[i], w->touches, share));
    out_text(o, "\n");
    for (size_t i = 0; i < w->hot_count && i < 3; i++) {
        out_text(o, i ? "                 " : "  hottest places ");
        show_clean(o, p->streams[w->hot[i].stream].name);
        out_printf(o, " at %s, %s long: %s\n", units_size(w->hot[i].offset_bytes, place),
                units_size(w->hot[i].len_bytes, size), words_share(w->hot[i].touches, w->touches, share));
    }
}

static void set_text(const struct profile *p, struct out *o)
{
    const struct profile_working_set *w = &p->working_set;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    if (!p->mix.op[BLOCK_READ].count && !p->mix.op[BLOCK_WRITE].count)
        return;
    words_title(o, "Working set", "distinct bytes that were read or written");
    out_printf(o, "  %s: %s were read, %s were written\n", units_size(w->all.bytes, a),
            units_size(w->all.read_bytes, b), units_size(w->all.written_bytes, c));
    if (w->left_out)
        out_printf(o, "  without %llu reads and writes that are too long to be any disk's\n",
                (unsigned long long)w->left_out);
    out_printf(o, "  of the bytes read, %s had been read before, %s had been written before\n",
            words_share(w->read_again_bytes, w->read_bytes, a),
            words_share(w->read_after_write_bytes, w->read_bytes, b));
    out_printf(o, "  of the bytes written, %s had been written before\n",
            words_share(w->overwritten_bytes, w->written_bytes, a));
    if (w->ranges)
        hot_lines(p, o);
}

/* ---- as JSON ---- */

static int put_touched(struct json *j, const struct profile_touched *t)
{
    int bad = json_put_u64(j, "bytes", t->bytes);
    bad |= json_put_u64(j, "read_bytes", t->read_bytes);
    return bad | json_put_u64(j, "written_bytes", t->written_bytes);
}

static struct json *hot_json(const struct profile_working_set *w)
{
    struct json *j = json_new_array();
    int bad = !j;
    for (size_t i = 0; i < w->hot_count; i++) {
        struct json *hot = json_new_object();
        bad |= json_put_u64(hot, "stream", w->hot[i].stream);
        bad |= json_put_u64(hot, "offset_bytes", w->hot[i].offset_bytes);
        bad |= json_put_u64(hot, "len_bytes", w->hot[i].len_bytes);
        bad |= json_put_u64(hot, "touches", w->hot[i].touches);
        bad |= json_add(j, hot);
    }
    return words_whole(j, bad);
}

static struct json *streams_json(const struct profile *p)
{
    struct json *j = json_new_array();
    int bad = !j;
    for (size_t i = 0; i < p->stream_count; i++) {
        struct json *stream = json_new_object();
        bad |= put_touched(stream, &p->streams[i].touched);
        bad |= json_put_u64(stream, "unit_bytes", p->streams[i].unit_bytes);
        bad |= json_add(j, stream);
    }
    return words_whole(j, bad);
}

static struct json *set_json(const struct profile *p)
{
    const struct profile_working_set *w = &p->working_set;
    struct json *j = json_new_object(), *shares = json_new_object();
    int bad = put_touched(j, &w->all);
    bad |= json_put_u64(j, "left_out", w->left_out);
    bad |= json_put_u64(j, "all_read_bytes", w->read_bytes);
    bad |= json_put_u64(j, "read_after_write_bytes", w->read_after_write_bytes);
    bad |= json_put_u64(j, "read_again_bytes", w->read_again_bytes);
    bad |= json_put_u64(j, "all_written_bytes", w->written_bytes);
    bad |= json_put_u64(j, "overwritten_bytes", w->overwritten_bytes);
    bad |= json_put_u64(j, "ranges", w->ranges);
    bad |= json_put_u64(j, "touches", w->touches);
    size_t i = 0;
#define SHARE(n) bad |= json_put_u64(shares, #n, w->share_touches[i++]);
    PROFILE_SHARES(SHARE)
#undef SHARE
    bad |= json_put(j, "touches_of_hottest_percent", shares);
    bad |= json_put(j, "hot", hot_json(w));
    bad |= json_put(j, "streams", streams_json(p));
    return words_whole(j, bad);
}

const struct profile_aspect profile_working_set = {
        .name = "working_set",
        .open = set_open,
        .feed = set_feed,
        .next = set_next,
        .close = set_close,
        .text = set_text,
        .json = set_json,
};
