/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where reads and writes go, stream by stream in order of arrival: sequentiality, seek distances, alignment.
 * The least distance to any of the last 16 shows several sequential readers that take turns, which the
 * distance to the last alone hides (I. Ahmad, "Easy and Efficient Disk I/O Workload Characterization in
 * VMware ESX Server", IISWC 2007).
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"
#include "analyze/show.h"

#define PAGE_BYTES 4096

/* Ends of the last data I/Os; before there are so many, the first stands in for those missing. */
struct tail {
    uint64_t end[PROFILE_NEAR];
    unsigned last;
};

static int places_open(void **state, struct profile *p, struct err *e)
{
    *state = calloc(p->stream_count + 1, sizeof(struct tail));
    return *state ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
}

static unsigned align_of(uint64_t bytes)
{
    unsigned zeros = bytes ? (unsigned)__builtin_ctzll(bytes) : 63;
    return zeros < 9 ? 0 : zeros - 8 < PROFILE_ALIGNS ? zeros - 8 : PROFILE_ALIGNS - 1;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

_Static_assert(PROFILE_NEAR % 2 == 0, "two at a time");

/* The least distance to any end: two at a time, which do not wait for each other. */
static uint64_t nearest_of(const struct tail *t, uint64_t offset)
{
    uint64_t a = UINT64_MAX, b = UINT64_MAX;
    for (unsigned i = 0; i < PROFILE_NEAR; i += 2) {
        a = least(a, distance(offset, t->end[i]));
        b = least(b, distance(offset, t->end[i + 1]));
    }
    return least(a, b);
}

static void seek(struct profile_places *s, const struct tail *t, uint64_t offset)
{
    uint64_t end = t->end[t->last], nearest = offset == end ? 0 : nearest_of(t, offset);
    (offset < end ? &s->backward : &s->forward)->count[profile_log_of(distance(offset, end))]++;
    s->sequential += offset == end;
    s->near += nearest == 0;
    s->nearest.count[profile_log_of(nearest)]++;
}

static void place(struct profile_places *s, struct tail *t, uint64_t offset, uint64_t len)
{
    uint64_t end = profile_add(offset, len);
    if (s->count) {
        seek(s, t, offset);
        t->last = (t->last + 1) % PROFILE_NEAR;
        t->end[t->last] = end;
    } else {
        for (unsigned i = 0; i < PROFILE_NEAR; i++)
            t->end[i] = end;
        s->lowest_bytes = offset;
    }
    s->count++;
    s->lowest_bytes = s->lowest_bytes < offset ? s->lowest_bytes : offset;
    s->end_bytes = s->end_bytes > end ? s->end_bytes : end;
    s->offset_align[align_of(offset)]++;
    s->len_align[align_of(len)]++;
    s->misaligned += (offset | len) % PAGE_BYTES != 0;
}

static int places_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct tail *tails = state;
    (void)e;
    for (uint32_t i = 0; i < c->count; i++)
        if (profile_is_data(c->op[i]))
            place(&p->streams[c->stream[i]].places, &tails[c->stream[i]], c->offset_bytes[i],
                    c->len_bytes[i]);
    return 0;
}

static int places_next(void *state, struct profile *p, struct err *e)
{
    (void)state;
    (void)p;
    (void)e;
    return 0;
}

/* ---- as text ---- */

/* Share of a log's numbers in from .. 2^last - 1. */
static uint64_t part_of(const struct profile_log *l, unsigned first, unsigned last)
{
    uint64_t n = 0;
    for (unsigned i = first; i <= last; i++)
        n += l->count[i];
    return n;
}

static void seek_line(struct out *o, const char *name, const struct profile_log *l, uint64_t whole)
{
    /* Up to 64 KiB - 1, 1 MiB - 1, 16 MiB - 1, 256 MiB - 1, 4 GiB - 1, and beyond. */
    static const unsigned ends[] = {16, 20, 24, 28, 32, PROFILE_LOG_BUCKETS - 1};
    out_printf(o, "    %-25s", name);
    unsigned first = 1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char share[UNITS_TEXT_BYTES];
        out_printf(o, "%10s", words_share(part_of(l, first, ends[i]), whole, share));
        first = ends[i] + 1;
    }
    out_text(o, "\n");
}

static void stream_text(const struct profile_stream *s, struct out *o)
{
    const struct profile_places *l = &s->places;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    uint64_t seeks = l->count - 1;
    out_text(o, "  ");
    show_clean(o, s->name);
    out_printf(o, ": from %s to %s\n", units_size(l->lowest_bytes, a), units_size(l->end_bytes, b));
    if (seeks) {
        out_printf(o, "    begin where the one before ended: %s; where one of the %d before ended: %s\n",
                words_share(l->sequential, seeks, a), PROFILE_NEAR, words_share(l->near, seeks, b));
        out_printf(o, "    %-25s%10s%10s%10s%10s%10s%10s\n", "else the next one is", "<64 KiB", "<1 MiB",
                "<16 MiB", "<256 MiB", "<4 GiB", "farther");
        seek_line(o, "  forwards", &l->forward, seeks);
        seek_line(o, "  backwards", &l->backward, seeks);
        seek_line(o, "  off the nearest of 16", &l->nearest, seeks);
    }
    if (l->misaligned)
        out_printf(o, "    not on whole 4 KiB: %s%s\n", words_share(l->misaligned, l->count, a),
                l->offset_align[0] || l->len_align[0] ? ", some not even on whole 512 bytes" : "");
    else
        out_text(o, "    all on whole 4 KiB\n");
}

static void places_text(const struct profile *p, struct out *o)
{
    uint32_t ids[WORDS_STREAMS_MAX];
    size_t count = words_streams(p, ids);
    if (!p->mix.op[BLOCK_READ].count && !p->mix.op[BLOCK_WRITE].count)
        return;
    words_title(o, "Places", "where reads and writes go");
    for (size_t i = 0; i < count; i++)
        if (p->streams[ids[i]].places.count)
            stream_text(&p->streams[ids[i]], o);
    words_more_streams(p, o);
}

/* ---- as JSON ---- */

static struct json *align_json(const uint64_t *count)
{
    struct json *j = json_new_array();
    int bad = !j;
    for (unsigned i = 0; i < PROFILE_ALIGNS; i++) {
        if (!count[i])
            continue;
        struct json *class = json_new_object();
        bad |= json_put_u64(class, "multiple_of_bytes", i ? UINT64_C(256) << i : 1);
        bad |= json_put_u64(class, "count", count[i]);
        bad |= json_add(j, class);
    }
    return words_whole(j, bad);
}

static struct json *stream_json(const struct profile_places *s)
{
    struct json *j = json_new_object();
    int bad = json_put_u64(j, "count", s->count);
    bad |= json_put_u64(j, "sequential", s->sequential);
    bad |= json_put_u64(j, "sequential_to_one_of_16", s->near);
    bad |= json_put(j, "forward_bytes", words_log_json(&s->forward));
    bad |= json_put(j, "backward_bytes", words_log_json(&s->backward));
    bad |= json_put(j, "nearest_of_16_bytes", words_log_json(&s->nearest));
    bad |= json_put_u64(j, "lowest_bytes", s->lowest_bytes);
    bad |= json_put_u64(j, "end_bytes", s->end_bytes);
    bad |= json_put(j, "offset_alignment", align_json(s->offset_align));
    bad |= json_put(j, "length_alignment", align_json(s->len_align));
    bad |= json_put_u64(j, "misaligned_4096", s->misaligned);
    return words_whole(j, bad);
}

static struct json *places_json(const struct profile *p)
{
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = !j;
    for (size_t i = 0; i < p->stream_count; i++)
        bad |= json_add(streams, stream_json(&p->streams[i].places));
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

const struct profile_aspect profile_places = {
        .name = "places",
        .open = places_open,
        .feed = places_feed,
        .next = places_next,
        .close = free,
        .text = places_text,
        .json = places_json,
};
