/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When I/O arrives: the time from one arrival to the next, of all streams together and of each.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/values.h"
#include "analyze/profile/words.h"

struct arrivals_state {
    struct values gap;
    bool first_pass, any;
    uint64_t last_ns;
    uint64_t *stream_last_ns; /* TAPE_UNKNOWN: none yet */
};

static void arrivals_close(void *state)
{
    struct arrivals_state *a = state;
    if (!a)
        return;
    values_close(&a->gap);
    free(a->stream_last_ns);
    free(a);
}

static int arrivals_open(void **state, struct profile *p, struct err *e)
{
    struct arrivals_state *a = calloc(1, sizeof *a);
    if (!a || !(a->stream_last_ns = malloc((p->stream_count + 1) * sizeof *a->stream_last_ns))) {
        free(a);
        return err_sys(e, ENOMEM, "cannot profile the tape");
    }
    for (size_t i = 0; i < p->stream_count; i++)
        a->stream_last_ns[i] = TAPE_UNKNOWN;
    a->first_pass = true;
    *state = a;
    int rc = values_open(&a->gap, e);
    if (rc < 0) {
        arrivals_close(a);
        *state = NULL;
    }
    return rc;
}

static void stream_gaps(struct arrivals_state *a, struct profile *p, const struct block_chunk *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t *last = &a->stream_last_ns[c->stream[i]];
        if (*last != TAPE_UNKNOWN)
            p->streams[c->stream[i]].gap.count[profile_log_of(c->t_ns[i] - *last)]++;
        *last = c->t_ns[i];
    }
}

static int arrivals_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct arrivals_state *a = state;
    uint64_t gap[VALUES_AT_ONCE];
    (void)e;
    if (!c->count)
        return 0;
    if (!a->any) /* no gap before the first */
        a->last_ns = c->t_ns[0];
    for (uint32_t from = !a->any, n; from < c->count; from += n) {
        n = c->count - from < VALUES_AT_ONCE ? c->count - from : VALUES_AT_ONCE;
        for (uint32_t i = 0; i < n; i++) {
            gap[i] = c->t_ns[from + i] - a->last_ns;
            a->last_ns = c->t_ns[from + i];
        }
        values_add_many(&a->gap, &p->arrivals.gap, gap, n);
    }
    a->any = true;
    if (a->first_pass)
        stream_gaps(a, p, c);
    return 0;
}

static int arrivals_next(void *state, struct profile *p, struct err *e)
{
    struct arrivals_state *a = state;
    (void)e;
    a->first_pass = a->any = false;
    return values_next(&a->gap, &p->arrivals.gap);
}

static void arrivals_text(const struct profile *p, struct out *o)
{
    const struct profile_values *v = &p->arrivals.gap;
    if (!v->count)
        return;
    words_title(o, "Arrivals", "time from one I/O to the next");
    words_values_head(o);
    words_values(o, "all", v, units_duration);
}

static struct json *arrivals_json(const struct profile *p)
{
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = json_put(j, "gap", words_values_json(&p->arrivals.gap, "ns"));
    for (size_t i = 0; i < p->stream_count; i++)
        bad |= json_add(streams, words_log_json(&p->streams[i].gap));
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

const struct profile_aspect profile_arrivals = {
        .name = "arrivals",
        .open = arrivals_open,
        .feed = arrivals_feed,
        .next = arrivals_next,
        .close = arrivals_close,
        .text = arrivals_text,
        .json = arrivals_json,
};
