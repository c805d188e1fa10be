/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long I/O took at the recording, operation by operation.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/values.h"
#include "analyze/profile/words.h"

struct latency_state {
    struct values op[BLOCK_OPS];
};

static void latency_close(void *state)
{
    struct latency_state *l = state;
    for (unsigned op = 0; l && op < BLOCK_OPS; op++)
        values_close(&l->op[op]);
    free(l);
}

static int latency_open(void **state, struct profile *p, struct err *e)
{
    struct latency_state *l = calloc(1, sizeof *l);
    int rc = l ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
    (void)p;
    for (unsigned op = 0; rc == 0 && op < BLOCK_OPS; op++)
        rc = values_open(&l->op[op], e);
    if (rc == 0)
        *state = l;
    else
        latency_close(l);
    return rc;
}

static int latency_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    struct latency_state *l = state;
    uint64_t known[BLOCK_OPS][VALUES_AT_ONCE];
    size_t count[BLOCK_OPS] = {0};
    (void)e;
    for (uint32_t i = 0; i < c->count; i++) {
        uint8_t op = c->op[i];
        known[op][count[op]] = c->latency_ns[i];
        count[op] += c->latency_ns[i] != TAPE_UNKNOWN;
        if (count[op] == VALUES_AT_ONCE) {
            values_add_many(&l->op[op], &p->latency.op[op], known[op], VALUES_AT_ONCE);
            count[op] = 0;
        }
    }
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        values_add_many(&l->op[op], &p->latency.op[op], known[op], count[op]);
    return 0;
}

static int latency_next(void *state, struct profile *p, struct err *e)
{
    struct latency_state *l = state;
    bool again = false;
    (void)e;
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        again |= values_next(&l->op[op], &p->latency.op[op]);
    return again;
}

static void latency_text(const struct profile *p, struct out *o)
{
    if (!p->records)
        return;
    words_title(o, "Latency", "from arrival to completion, as recorded");
    bool any = false;
    for (unsigned op = 0; op < BLOCK_OPS; op++) {
        if (p->latency.op[op].count && !any)
            words_values_head(o);
        if (p->latency.op[op].count)
            words_values(o, block_op_name(op), &p->latency.op[op], units_duration);
        any |= p->latency.op[op].count > 0;
    }
    if (!any)
        out_text(o, "  not known: no completion was recorded\n");
}

static struct json *latency_json(const struct profile *p)
{
    struct json *j = json_new_object();
    int bad = !j;
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        bad |= json_put(j, block_op_name(op), words_values_json(&p->latency.op[op], "ns"));
    return words_whole(j, bad);
}

const struct profile_aspect profile_latency = {
        .name = "latency",
        .open = latency_open,
        .feed = latency_feed,
        .next = latency_next,
        .close = latency_close,
        .text = latency_text,
        .json = latency_json,
};
