/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long reads and writes are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"

#define SECTOR_BYTES 512
#define SIZES        8193 /* 0, 1, ... sectors; up to 4 MiB */

struct sizes_state {
    uint64_t count[2][SIZES]; /* of reads, of writes */
};

static int sizes_open(void **state, struct profile *p, struct err *e)
{
    (void)p;
    *state = calloc(1, sizeof(struct sizes_state));
    return *state ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
}

static int sizes_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct sizes_state *s = state;
    (void)e;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!profile_is_data(c->op[i]))
            continue;
        bool write = c->op[i] == BLOCK_WRITE;
        uint64_t len = c->len_bytes[i], sectors = len / SECTOR_BYTES;
        struct profile_stream *stream = &p->streams[c->stream[i]];
        (write ? &stream->write_size : &stream->read_size)->count[profile_log_of(len)]++;
        if (sectors < SIZES && len % SECTOR_BYTES == 0)
            s->count[write][sectors]++;
    }
    return 0;
}

/* The most frequent, of equally frequent ones the shorter first. */
static void pick(struct profile_sizes *to, const uint64_t *count)
{
    for (uint64_t sectors = 0; sectors < SIZES; sectors++) {
        size_t at = to->list_count;
        while (at > 0 && to->list[at - 1].count < count[sectors])
            at--;
        if (!count[sectors] || at == PROFILE_SIZES)
            continue;
        to->list_count += to->list_count < PROFILE_SIZES;
        memmove(&to->list[at + 1], &to->list[at], (to->list_count - 1 - at) * sizeof *to->list);
        to->list[at] = (struct profile_size){sectors * SECTOR_BYTES, count[sectors]};
    }
    to->others = words_log_count(&to->log);
    for (size_t i = 0; i < to->list_count; i++)
        to->others -= to->list[i].count;
}

static int sizes_next(void *state, struct profile *p, struct err *e)
{
    const struct sizes_state *s = state;
    (void)e;
    for (size_t i = 0; i < p->stream_count; i++) {
        for (unsigned k = 0; k < PROFILE_LOG_BUCKETS; k++) {
            p->read_sizes.log.count[k] += p->streams[i].read_size.count[k];
            p->write_sizes.log.count[k] += p->streams[i].write_size.count[k];
        }
    }
    pick(&p->read_sizes, s->count[0]);
    pick(&p->write_sizes, s->count[1]);
    return 0;
}

static void line(struct out *o, const char *name, const struct profile_sizes *s, const struct profile_op *op)
{
    char size[UNITS_TEXT_BYTES], share[UNITS_TEXT_BYTES], least[UNITS_TEXT_BYTES];
    uint64_t all = words_log_count(&s->log);
    if (!all)
        return;
    out_printf(o, "  %-13s", name);
    for (size_t i = 0; i < s->list_count && i < 5; i++)
        out_printf(o, "%s%s %s", i ? ", " : "", units_size(s->list[i].len_bytes, size),
                words_share(s->list[i].count, all, share));
    out_printf(o, "%s from %s to %s\n", s->list_count ? ";" : "", units_size(op->least, least),
            units_size(op->greatest, size));
}

static void sizes_text(const struct profile *p, struct out *o)
{
    if (!p->mix.op[BLOCK_READ].count && !p->mix.op[BLOCK_WRITE].count)
        return;
    words_title(o, "Sizes", "the most frequent ones, and the range of all");
    line(o, "read", &p->read_sizes, &p->mix.op[BLOCK_READ]);
    line(o, "write", &p->write_sizes, &p->mix.op[BLOCK_WRITE]);
}

static struct json *of_one_json(const struct profile_sizes *s)
{
    struct json *j = json_new_object(), *list = json_new_array();
    int bad = !j;
    for (size_t i = 0; i < s->list_count; i++) {
        struct json *size = json_new_object();
        bad |= json_put_u64(size, "len_bytes", s->list[i].len_bytes);
        bad |= json_put_u64(size, "count", s->list[i].count);
        bad |= json_add(list, size);
    }
    bad |= json_put(j, "frequent", list);
    bad |= json_put_u64(j, "others", s->others);
    bad |= json_put(j, "log", words_log_json(&s->log));
    return words_whole(j, bad);
}

static struct json *sizes_json(const struct profile *p)
{
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = json_put(j, "read", of_one_json(&p->read_sizes));
    bad |= json_put(j, "write", of_one_json(&p->write_sizes));
    for (size_t i = 0; i < p->stream_count; i++) {
        struct json *stream = json_new_object();
        bad |= json_put(stream, "read", words_log_json(&p->streams[i].read_size));
        bad |= json_put(stream, "write", words_log_json(&p->streams[i].write_size));
        bad |= json_add(streams, stream);
    }
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

const struct profile_aspect profile_sizes = {
        .name = "sizes",
        .open = sizes_open,
        .feed = sizes_feed,
        .next = sizes_next,
        .close = free,
        .text = sizes_text,
        .json = sizes_json,
};
