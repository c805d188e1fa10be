/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A target that does nothing, at once: what iotape itself costs, and the bound that think times alone set.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/target.h"

struct target_queue {
    unsigned depth, head, count;
    struct target_io *ring[];
};

extern const struct target_ops target_null;

static void null_close(struct target *t)
{
    free(t->url);
    free(t);
}

static int null_open(struct target **out, const char *url, const struct target_options *o, struct err *e)
{
    (void)o;
    struct target *t = calloc(1, sizeof *t);
    char *name = strdup(url);
    if (!t || !name) {
        free(t);
        free(name);
        return err_sys(e, ENOMEM, "cannot open '%s'", url);
    }
    *t = (struct target){.ops = &target_null, .url = name, .size_bytes = TARGET_ENDLESS, .sector_bytes = 512};
    *out = t;
    return 0;
}

static int null_describe(struct target *t, struct facts *f, struct err *e)
{
    (void)t;
    return facts_set(f, e, "model", "null (does nothing)");
}

static int null_queue_open(struct target_queue **out, unsigned depth, struct err *e)
{
    struct target_queue *q = calloc(1, sizeof *q + depth * sizeof *q->ring);
    if (!q)
        return err_sys(e, ENOMEM, "cannot open a queue of %u", depth);
    q->depth = depth;
    *out = q;
    return 0;
}

static void null_queue_close(struct target_queue *q)
{
    free(q);
}

static int null_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e)
{
    (void)e;
    unsigned n = count < q->depth - q->count ? count : q->depth - q->count;
    for (unsigned i = 0; i < n; i++) {
        unsigned at = q->head + q->count++;
        q->ring[at < q->depth ? at : at - q->depth] = io[i];
    }
    return (int)n;
}

static bool has_data(unsigned op)
{
    return op == BLOCK_READ || op == BLOCK_WRITE;
}

static int null_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    (void)timeout_ns;
    (void)e;
    unsigned n = max < q->count ? max : q->count;
    for (unsigned i = 0; i < n; i++) {
        struct target_io *io = q->ring[q->head];
        q->head = q->head + 1 < q->depth ? q->head + 1 : 0;
        io->result = has_data(io->op) ? (int64_t)io->len_bytes : 0;
        done[i] = io;
    }
    q->count -= n;
    return (int)n;
}

static const char *const prefixes[] = {"null:", NULL};

const struct target_ops target_null = {
        .name = "null",
        .help = "null:            does nothing, at once: what iotape itself can do",
        .prefixes = prefixes,
        .open = null_open,
        .close = null_close,
        .describe = null_describe,
        .queue_open = null_queue_open,
        .queue_close = null_queue_close,
        .submit = null_submit,
        .reap = null_reap,
};
