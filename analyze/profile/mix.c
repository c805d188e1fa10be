/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is asked for: operations, flags, how many and how much, of the whole tape and of each stream.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"
#include "analyze/show.h"

#define FLAG_SETS (1 << BLOCK_FLAGS)

struct mix_state {
    uint64_t flag_sets[FLAG_SETS]; /* records with exactly these flags */
    uint64_t issuers[TAPE_ISSUERS_MAX / 64];
};

static int mix_open(void **state, struct profile *p, struct err *e)
{
    (void)p;
    *state = calloc(1, sizeof(struct mix_state));
    return *state ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
}

static int mix_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct mix_state *m = state;
    (void)e;
    for (uint32_t i = 0; i < c->count; i++) {
        struct profile_op *op = &p->streams[c->stream[i]].op[c->op[i]];
        uint64_t len = c->len_bytes[i];
        op->least = op->count && op->least < len ? op->least : len;
        op->greatest = op->greatest > len ? op->greatest : len;
        op->count++;
        op->bytes = profile_add(op->bytes, len);
        op->errors += c->error[i] != 0;
        op->unknown += c->latency_ns[i] == TAPE_UNKNOWN;
        m->flag_sets[c->flags[i] % FLAG_SETS]++;
        m->issuers[c->issuer[i] / 64] |= UINT64_C(1) << c->issuer[i] % 64;
    }
    return 0;
}

static void op_sum(struct profile_op *to, const struct profile_op *from)
{
    if (!from->count)
        return;
    to->least = to->count && to->least < from->least ? to->least : from->least;
    to->greatest = to->greatest > from->greatest ? to->greatest : from->greatest;
    to->count += from->count;
    to->bytes = profile_add(to->bytes, from->bytes);
    to->errors += from->errors;
    to->unknown += from->unknown;
}

static int mix_next(void *state, struct profile *p, struct err *e)
{
    const struct mix_state *m = state;
    (void)e;
    for (size_t i = 0; i < p->stream_count; i++)
        for (unsigned op = 0; op < BLOCK_OPS; op++)
            op_sum(&p->mix.op[op], &p->streams[i].op[op]);
    for (unsigned set = 0; set < FLAG_SETS; set++)
        for (unsigned flag = 0; flag < BLOCK_FLAGS; flag++)
            p->mix.flags[flag] += set >> flag & 1 ? m->flag_sets[set] : 0;
    for (size_t i = 0; i < TAPE_ISSUERS_MAX / 64; i++)
        p->mix.issuers += (uint64_t)__builtin_popcountll(m->issuers[i]);
    return 0;
}

/* ---- as text ---- */

static void op_line(struct out *o, const char *name, const struct profile_op *op, const struct profile *p)
{
    char share[UNITS_TEXT_BYTES], iops[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES], mb[UNITS_TEXT_BYTES],
            mean[UNITS_TEXT_BYTES];
    bool sized = op->count && op->bytes;
    out_printf(o, "  %-13s%12llu%10s%12s%14s%10s%13s\n", name, (unsigned long long)op->count,
            words_share(op->count, p->records, share), words_rate((double)op->count, p->elapsed_ns, iops),
            sized ? units_size(op->bytes, size) : "-",
            sized ? words_rate((double)op->bytes / 1e6, p->elapsed_ns, mb) : "-",
            sized ? units_size(op->bytes / op->count, mean) : "-");
}

static void flag_list(const struct profile *p, struct out *o)
{
    const char *before = "  with flags: ";
    for (unsigned i = 0; i < BLOCK_FLAGS; i++) {
        char name[BLOCK_FLAGS_TEXT_BYTES], share[UNITS_TEXT_BYTES];
        if (!p->mix.flags[i])
            continue;
        out_printf(o, "%s%s %s", before, block_flags_name(1U << i, name),
                words_share(p->mix.flags[i], p->records, share));
        before = ", ";
    }
    if (*before == ',')
        out_text(o, "\n");
}

static void notes(const struct profile *p, struct out *o)
{
    struct profile_op all = {0};
    char text[UNITS_TEXT_BYTES];
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        op_sum(&all, &p->mix.op[op]);
    if (all.errors)
        out_printf(o, "  failed: %llu (%s)\n", (unsigned long long)all.errors,
                words_share(all.errors, p->records, text));
    if (all.unknown)
        out_printf(o, "  completion not recorded: %llu (%s)\n", (unsigned long long)all.unknown,
                words_share(all.unknown, p->records, text));
}

static void disk_lines(const struct profile *p, struct out *o)
{
    uint32_t ids[WORDS_STREAMS_MAX];
    size_t count = words_streams(p, ids);
    if (p->stream_count < 2)
        return;
    words_title(o, "Disks", "");
    for (size_t i = 0; i < count; i++) {
        const struct profile_stream *s = &p->streams[ids[i]];
        char capacity[UNITS_TEXT_BYTES], read[UNITS_TEXT_BYTES], written[UNITS_TEXT_BYTES];
        uint64_t others = 0;
        for (unsigned op = BLOCK_WRITE + 1; op < BLOCK_OPS; op++)
            others += s->op[op].count;
        out_text(o, "  ");
        show_clean(o, s->name);
        out_printf(o, " (%s): %llu reads of %s, %llu writes of %s, %llu others\n",
                s->capacity_bytes ? units_size(s->capacity_bytes, capacity) : "size not known",
                (unsigned long long)s->op[BLOCK_READ].count, units_size(s->op[BLOCK_READ].bytes, read),
                (unsigned long long)s->op[BLOCK_WRITE].count, units_size(s->op[BLOCK_WRITE].bytes, written),
                (unsigned long long)others);
    }
    words_more_streams(p, o);
}

static void mix_text(const struct profile *p, struct out *o)
{
    if (!p->records)
        return;
    out_printf(o, "\n%-15s%12s%10s%12s%14s%10s%13s\n", "Operations", "I/Os", "share", "IOPS", "bytes", "MB/s",
            "mean size");
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        if (p->mix.op[op].count)
            op_line(o, block_op_name(op), &p->mix.op[op], p);
    flag_list(p, o);
    notes(p, o);
    disk_lines(p, o);
}

/* ---- as JSON ---- */

static struct json *op_json(const struct profile_op *op)
{
    struct json *j = json_new_object();
    int bad = json_put_u64(j, "count", op->count);
    bad |= json_put_u64(j, "bytes", op->bytes);
    bad |= json_put_u64(j, "errors", op->errors);
    bad |= json_put_u64(j, "unknown", op->unknown);
    bad |= json_put_u64(j, "min_bytes", op->least);
    bad |= json_put_u64(j, "max_bytes", op->greatest);
    return words_whole(j, bad);
}

static struct json *ops_json(const struct profile_op *op)
{
    struct json *j = json_new_object();
    int bad = !j;
    for (unsigned i = 0; i < BLOCK_OPS; i++)
        bad |= json_put(j, block_op_name(i), op_json(&op[i]));
    return words_whole(j, bad);
}

static struct json *mix_json(const struct profile *p)
{
    struct json *j = json_new_object(), *flags = json_new_object(), *streams = json_new_array();
    int bad = json_put(j, "operations", ops_json(p->mix.op));
    for (unsigned i = 0; i < BLOCK_FLAGS; i++) {
        char name[BLOCK_FLAGS_TEXT_BYTES];
        bad |= json_put_u64(flags, block_flags_name(1U << i, name), p->mix.flags[i]);
    }
    bad |= json_put(j, "flags", flags);
    bad |= json_put_u64(j, "issuers", p->mix.issuers);
    for (size_t i = 0; i < p->stream_count; i++)
        bad |= json_add(streams, ops_json(p->streams[i].op));
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

const struct profile_aspect profile_mix = {
        .name = "mix",
        .open = mix_open,
        .feed = mix_feed,
        .next = mix_next,
        .close = free,
        .text = mix_text,
        .json = mix_json,
};
