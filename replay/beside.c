/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/beside.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "formats/base/units.h"
#include "replay/peer/message.h"

#define LOOK_NS (100 * NS_PER_MS)

struct beside {
    struct settings settings;   /* a copy, with the timing of the repetition */
    const struct settings *set; /* the command's, whose timing is decided after beside_open */
    struct tape_reader *tape;   /* one of its own: another thread reads it */
    struct net *net;
    volatile sig_atomic_t *stop;
    /* of the repetition */
    volatile sig_atomic_t end;
    pthread_t thread;
    bool running;
    struct net_sum sum;
    int result;
    struct err err;
};

int beside_open(struct beside **out, const struct settings *s, volatile sig_atomic_t *stop, struct err *e)
{
    struct beside *b = calloc(1, sizeof *b);
    if (!b)
        return err_sys(e, ENOMEM, "cannot replay conversations");
    b->settings = *s;
    b->set = s;
    b->stop = stop;
    int r = tape_reader_open(&b->tape, s->tape, e);
    if (r == 0 && tape_reader_totals(b->tape)->net.conversations == 0)
        r = err_set(e, ENODATA, "'%s' has no conversations to replay with --peer", s->tape);
    if (r == 0)
        r = net_open(&b->net, &b->settings, b->tape, e);
    if (r < 0) {
        beside_close(b, NULL);
        return r;
    }
    *out = b;
    return 0;
}

int beside_close(struct beside *b, struct err *e)
{
    if (!b)
        return 0;
    int r = net_close(b->net, e);
    tape_reader_close(b->tape);
    free(b);
    return r;
}

int beside_describe(const struct beside *b, struct facts *options, struct facts *target, struct err *e)
{
    struct facts peer = {0};
    int r = facts_set(options, e, "threads", "%llu", (unsigned long long)b->set->threads);
    if (r == 0)
        r = facts_set(target, e, "peer", "%s", b->set->peer);
    if (r == 0)
        r = net_describe(b->net, &peer, e);
    if (r == 0)
        r = facts_merge(target, &peer, "peer_", e);
    facts_release(&peer);
    return r;
}

int beside_prepare(struct beside *b, struct run_writer *run, uint32_t repetition, struct err *e)
{
    b->settings.timing = b->set->timing;
    b->end = 0;
    b->result = 0;
    b->err = (struct err){0};
    b->sum = (struct net_sum){0};
    int r = net_prepare(b->net, run, repetition, b->stop, e);
    return r < 0 ? err_prefix(e, "'%s'", b->set->peer) : 0;
}

static void *play(void *arg)
{
    struct beside *b = arg;
    b->result = net_run(b->net, &b->end, &b->sum, &b->err);
    if (b->result < 0)
        *b->stop = 1;
    return NULL;
}

void beside_go(void *beside, uint64_t start_ns)
{
    struct beside *b = beside;
    b->result = net_go(b->net, start_ns, &b->err);
    int failed = b->result < 0 ? 0 : pthread_create(&b->thread, NULL, play, b);
    if (failed)
        b->result = err_sys(&b->err, failed, "cannot start a thread");
    b->running = b->result == 0;
    if (b->result < 0)
        *b->stop = 1;
}

static void wait_for_end(struct beside *b)
{
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)LOOK_NS;
        until.tv_sec += until.tv_nsec / (long)NS_PER_S;
        until.tv_nsec %= (long)NS_PER_S;
        if (pthread_timedjoin_np(b->thread, NULL, &until) != ETIMEDOUT)
            return;
        if (*b->stop)
            b->end = 1;
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Gates of validity are of both: the worse counts. */
static void store(const struct beside *b, struct run_repetition *r)
{
    const struct net_sum *sum = &b->sum;
    net_sum_store(sum, r);
    r->complete = r->complete && sum->complete;
    r->errors += sum->errors;
    r->behind += sum->here.behind + sum->there[RESULTS_BEHIND];
    r->cpu_spun_ns += sum->here.spun_ns;
    r->lateness_p50_ns = larger(r->lateness_p50_ns, lateness_percentile_ns(&sum->here.lateness, 0.5));
    r->lateness_p99_ns = larger(r->lateness_p99_ns, lateness_percentile_ns(&sum->here.lateness, 0.99));
    r->lateness_max_ns = larger(r->lateness_max_ns, sum->here.lateness.max_ns);
}

int beside_finish(struct beside *b, bool cut, struct run_repetition *r, struct err *e)
{
    if (!b->running) {
        r->complete = false;
        if (b->result < 0 && e)
            *e = b->err;
        return b->result;
    }
    if (cut)
        b->end = 1;
    wait_for_end(b);
    b->running = false;
    store(b, r);
    if (b->result < 0 && e)
        *e = b->err;
    return b->result < 0 ? err_prefix(e, "'%s'", b->set->peer) : 0;
}

void beside_print(const struct beside *b, const struct run_repetition *r)
{
    net_sum_print(b->set->peer, r, &b->sum);
}
