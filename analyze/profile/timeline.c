/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How the workload changes over time: counts, bytes and latencies of each slot. (Its depth and the growth of
 * the working set come from their own aspects.)
 */
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"

static int timeline_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct profile_timeline *t = &p->timeline;
    size_t at = profile_slot_of(t, c);
    (void)state;
    (void)e;
    for (uint32_t i = 0; i < c->count; i++) {
        uint8_t op = c->op[i];
        at = profile_slot_at(t, c->t_ns[i], at);
        struct profile_slot *s = &t->slot[at];
        s->count[op]++;
        s->bytes[op] = profile_add(s->bytes[op], c->len_bytes[i]);
        if (c->latency_ns[i] == TAPE_UNKNOWN)
            continue;
        s->known[op]++;
        s->latency_sum_ns[op] = profile_add(s->latency_sum_ns[op], c->latency_ns[i]);
        s->latency_max_ns[op] =
                s->latency_max_ns[op] > c->latency_ns[i] ? s->latency_max_ns[op] : c->latency_ns[i];
    }
    return 0;
}

static int timeline_next(void *state, struct profile *p, struct err *e)
{
    (void)state;
    (void)p;
    (void)e;
    return 0;
}

/* ---- as text: at most ROWS rows, each of as many slots as it takes ---- */

#define ROWS 20

static void slot_sum(struct profile_slot *to, const struct profile_slot *from)
{
    for (unsigned op = 0; op < BLOCK_OPS; op++) {
        to->count[op] += from->count[op];
        to->bytes[op] = profile_add(to->bytes[op], from->bytes[op]);
        to->known[op] += from->known[op];
        to->latency_sum_ns[op] = profile_add(to->latency_sum_ns[op], from->latency_sum_ns[op]);
    }
    to->depth_sum_ns = profile_add(to->depth_sum_ns, from->depth_sum_ns);
    to->grown_bytes = profile_add(to->grown_bytes, from->grown_bytes);
}

static const char *mean_latency(const struct profile_slot *s, unsigned op, char buf[UNITS_TEXT_BYTES])
{
    return s->known[op] ? units_duration(s->latency_sum_ns[op] / s->known[op], buf) : "-";
}

static void row(const struct profile *p, const struct profile_slot *s, uint64_t begin_ns, uint64_t ns,
        uint64_t set_bytes, struct out *o)
{
    char text[8][UNITS_TEXT_BYTES];
    out_printf(o, "  %-10s%10s%10s%10s%10s%9s%11s%11s%13s\n", units_duration(begin_ns, text[0]),
            words_rate((double)s->count[BLOCK_READ], ns, text[1]),
            words_rate((double)s->count[BLOCK_WRITE], ns, text[2]),
            words_rate((double)s->bytes[BLOCK_READ] / 1e6, ns, text[3]),
            words_rate((double)s->bytes[BLOCK_WRITE] / 1e6, ns, text[4]),
            p->depth.known ? words_rate((double)s->depth_sum_ns / (double)NS_PER_S, ns, text[5]) : "-",
            mean_latency(s, BLOCK_READ, text[6]), mean_latency(s, BLOCK_WRITE, text[7]),
            units_size(set_bytes, (char[UNITS_TEXT_BYTES]){0}));
}

static void timeline_text(const struct profile *p, struct out *o)
{
    const struct profile_timeline *t = &p->timeline;
    size_t each = (t->slots + ROWS - 1) / ROWS;
    uint64_t set_bytes = 0;
    if (!p->records || !p->elapsed_ns)
        return;
    words_title(o, "Timeline", "rates, mean depth, mean latency, and the working set so far");
    out_printf(o, "  %-10s%10s%10s%10s%10s%9s%11s%11s%13s\n", "from", "reads/s", "writes/s", "read MB/s",
            "wr. MB/s", "depth", "read lat.", "write lat.", "working set");
    for (size_t i = 0; i < t->slots; i += each) {
        struct profile_slot sum = {0};
        size_t end = i + each < t->slots ? i + each : t->slots;
        uint64_t begin_ns = i * t->slot_ns;
        for (size_t k = i; k < end; k++)
            slot_sum(&sum, &t->slot[k]);
        set_bytes = profile_add(set_bytes, sum.grown_bytes);
        row(p, &sum, begin_ns, (end < t->slots ? end * t->slot_ns : p->elapsed_ns) - begin_ns, set_bytes, o);
    }
}

/* ---- as JSON ---- */

static struct json *by_op(const uint64_t *values)
{
    struct json *j = json_new_object();
    int bad = !j;
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        bad |= json_put_u64(j, block_op_name(op), values[op]);
    return words_whole(j, bad);
}

static struct json *slot_json(const struct profile_slot *s, uint64_t t_ns)
{
    struct json *j = json_new_object();
    int bad = json_put_u64(j, "t_ns", t_ns);
    bad |= json_put(j, "count", by_op(s->count));
    bad |= json_put(j, "bytes", by_op(s->bytes));
    bad |= json_put(j, "known", by_op(s->known));
    bad |= json_put(j, "latency_sum_ns", by_op(s->latency_sum_ns));
    bad |= json_put(j, "latency_max_ns", by_op(s->latency_max_ns));
    bad |= json_put_u64(j, "depth_sum_ns", s->depth_sum_ns);
    bad |= json_put_u64(j, "depth_max", s->depth_max);
    bad |= json_put_u64(j, "grown_bytes", s->grown_bytes);
    return words_whole(j, bad);
}

static struct json *timeline_json(const struct profile *p)
{
    struct json *j = json_new_object(), *slots = json_new_array();
    int bad = json_put_u64(j, "slot_ns", p->timeline.slot_ns);
    for (size_t i = 0; i < p->timeline.slots; i++)
        bad |= json_add(slots, slot_json(&p->timeline.slot[i], i * p->timeline.slot_ns));
    bad |= json_put(j, "slots", slots);
    return words_whole(j, bad);
}

const struct profile_aspect profile_timeline = {
        .name = "timeline",
        .feed = timeline_feed,
        .next = timeline_next,
        .text = timeline_text,
        .json = timeline_json,
};
