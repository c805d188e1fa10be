/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What reads and writes touch: how much there is of it and how it grows, what is read again or after it was
 * written, and where most of the I/O goes. From the second pass on, since only then the unit of each stream
 * is known.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/hottest.h"
#include "analyze/profile/touched.h"
#include "analyze/profile/words.h"
#include "analyze/show.h"

#define RANGES_OF_ONE_MAX 4096 /* that one I/O may touch: 1 GiB in units of 4 KiB */
#define MANY_STREAMS      1024 /* from here on, what is kept of each takes memory from the set */

struct set_state {
    bool second, third; /* passes have begun */
    int failed;         /* of the ranges */
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

static int set_open(void **state, struct profile *p, struct err *e)
{
    struct set_state *s = calloc(1, sizeof *s);
    if (s)
        s->unit_bits = calloc(p->stream_count + 1, 1);
    int rc = s && s->unit_bits ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
    if (rc == 0)
        rc = touched_open(&s->touched, p->stream_count > MANY_STREAMS ? 19 : 20, e);
    if (rc == 0)
        rc = hottest_init(&s->hottest, e);
    if (rc < 0) {
        set_close(s);
        return rc;
    }
    s->p = p;
    *state = s;
    return 0;
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

static int touch_range(
        struct set_state *s, struct touch *t, uint32_t stream, uint64_t first, uint64_t last, struct err *e)
{
    int rc = 0;
    for (uint64_t index = first / 64; rc == 0 && index <= last / 64; index++) {
        unsigned from = index == first / 64 ? first % 64 : 0, to = index == last / 64 ? last % 64 : 63;
        t->key = touched_key(stream, index);
        t->mask = (~UINT64_C(0) >> (63 - (to - from))) << from;
        rc = touched_add(s->touched, t, e);
    }
    return rc;
}

static int set_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct set_state *s = state;
    size_t slot = c->count ? (size_t)(c->t_ns[0] / p->timeline.slot_ns) : 0;
    int rc = 0;
    if (!s->second)
        return 0;
    slot = slot < p->timeline.slots ? slot : p->timeline.slots - 1;
    for (uint32_t i = 0; rc == 0 && i < c->count; i++) {
        if (!profile_is_data(c->op[i]) || !c->len_bytes[i])
            continue;
        uint64_t offset = c->offset_bytes[i], last = profile_add(offset, c->len_bytes[i] - 1);
        unsigned bits = s->unit_bits[c->stream[i]];
        slot = profile_slot_at(&p->timeline, c->t_ns[i], slot);
        struct touch t = {
                .unit_bits = (uint8_t)bits, .write = c->op[i] == BLOCK_WRITE, .slot = (uint16_t)slot};
        if ((last >> bits) / 64 - (offset >> bits) / 64 >= RANGES_OF_ONE_MAX)
            p->working_set.left_out += !s->third;
        else
            rc = touch_range(s, &t, c->stream[i], offset >> bits, last >> bits, e);
    }
    return rc;
}

static void take_range(void *to, const struct touched_range *r)
{
    struct set_state *s = to;
    uint32_t stream = touched_stream(r->key);
    unsigned bits = s->unit_bits[stream];
    struct profile_touched *t = &s->p->streams[stream].touched;
    t->read_bytes += (uint64_t)__builtin_popcountll(r->read) << bits;
    t->written_bytes += (uint64_t)__builtin_popcountll(r->written) << bits;
    t->bytes += (uint64_t)__builtin_popcountll(r->read | r->written) << bits;
    struct profile_hot range = {stream, touched_index(r->key) << bits << 6, UINT64_C(64) << bits, r->touches};
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
    hottest_finish(&s->hottest, w);
}

static int set_next(void *state, struct profile *p, struct err *e)
{
    struct set_state *s = state;
    if (!s->second) {
        s->second = true;
        for (size_t i = 0; i < p->stream_count; i++) {
            s->unit_bits[i] = unit_bits_of(&p->streams[i].places);
            p->streams[i].unit_bytes = 1U << s->unit_bits[i];
        }
        return 1;
    }
    struct touched_counts counts = {0};
    uint64_t grown[PROFILE_SLOTS_MAX] = {0};
    bool again;
    int rc = touched_next(s->touched, take_range, s, &counts, grown, &again, e);
    if (rc == 0 && s->failed)
        rc = err_sys(e, ENOMEM, "cannot profile the tape");
    if (rc < 0)
        return rc;
    struct profile_working_set *w = &p->working_set;
    w->read_bytes += counts.read;
    w->read_after_write_bytes += counts.read_after_write;
    w->read_again_bytes += counts.read_again;
    w->written_bytes += counts.written;
    w->overwritten_bytes += counts.overwritten;
    for (size_t i = 0; i < p->timeline.slots; i++)
        p->timeline.slot[i].grown_bytes += grown[i];
    s->third = true;
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
