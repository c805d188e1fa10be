/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/net_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/units.h"
#include "formats/host.h"
#include "replay/hoststat.h"
#include "replay/net.h"
#include "replay/outputs.h"
#include "replay/pace.h"
#include "replay/session.h"

struct command {
    struct settings settings; /* with the timing decided */
    struct tape_reader *tape;
    struct net *net;
    struct run_writer *run;
    bool measured; /* a repetition is in the run */
};

static int open_tape(struct command *c, struct err *e)
{
    int r = tape_reader_open(&c->tape, c->settings.tape, e);
    if (r < 0)
        return r;
    const struct tape_totals *totals = tape_reader_totals(c->tape);
    if (totals->net.conversations == 0)
        return err_set(e, ENODATA, "nothing to replay: '%s' has no conversations", c->settings.tape);
    if (!totals->finished)
        fprintf(stderr, "iotape-replay: warning: '%s' is unfinished: it ends after %llu events\n",
                c->settings.tape, (unsigned long long)totals->net.events);
    if (totals->lost)
        fprintf(stderr, "iotape-replay: warning: '%s' has lost %llu events\n", c->settings.tape,
                (unsigned long long)totals->lost);
    return 0;
}

/* ---- the run ---- */

static int fill_info(const struct command *c, struct run_info *info, struct err *e)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct tape_totals *totals = tape_reader_totals(c->tape);
    info->tape = *tape_reader_info(c->tape); /* borrowed: the writer copies */
    info->identity = totals->identity;
    info->tape_records = totals->records;
    info->tape_lost = totals->lost;
    info->target_name = (char *)c->settings.peer;
    info->started_unix_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    int r = host_describe(&info->host, e);
    if (r == 0)
        r = settings_describe_net(&c->settings, &info->options, e);
    return r < 0 ? r : net_describe(c->net, &info->target, e);
}

static int begin_run(struct command *c, struct err *e)
{
    struct run_info info = {0};
    size_t streams = tape_reader_stream_count(c->tape);
    struct tape_stream *list = calloc(streams + 1, sizeof *list);
    if (!list)
        return err_sys(e, ENOMEM, "cannot begin '%s'", c->settings.out[0]);
    for (size_t i = 0; i < streams; i++)
        list[i] = *tape_reader_stream(c->tape, (uint32_t)i);
    int r = fill_info(c, &info, e);
    if (r == 0)
        r = run_writer_open(&c->run, c->settings.out[0], &info, list, streams, e);
    facts_release(&info.host);
    facts_release(&info.options);
    facts_release(&info.target);
    free(list);
    return r;
}

/* ---- repetitions ---- */

static void summarise(const struct net_sum *sum, struct run_repetition *r)
{
    const struct hoststat *a = &sum->before.host, *b = &sum->after.host;
    net_sum_store(sum, r);
    r->complete = sum->complete;
    r->elapsed_ns = r->net_elapsed_ns;
    r->cpu_busy_ns = b->busy_ns - a->busy_ns;
    r->cpu_spun_ns = sum->here.spun_ns;
    r->steal_ns = b->steal_ns - a->steal_ns;
    r->pressure_cpu_us = b->pressure_cpu_us - a->pressure_cpu_us;
    r->pressure_io_us = b->pressure_io_us - a->pressure_io_us;
    r->pressure_memory_us = b->pressure_memory_us - a->pressure_memory_us;
    r->lateness_p50_ns = lateness_percentile_ns(&sum->here.lateness, 0.5);
    r->lateness_p99_ns = lateness_percentile_ns(&sum->here.lateness, 0.99);
    r->lateness_max_ns = sum->here.lateness.max_ns;
    r->behind = sum->here.behind + sum->there[RESULTS_BEHIND];
    r->errors = sum->errors;
}

static int repeat_once(struct command *c, uint32_t number, const volatile sig_atomic_t *stop, struct err *e)
{
    struct net_sum *sum = calloc(1, sizeof *sum);
    struct run_repetition rep = {
            .repetition = number, .order = number, .warmup = number <= c->settings.warmup};
    if (!sum)
        return err_sys(e, ENOMEM, "cannot begin a repetition");
    int r = net_prepare(c->net, c->run, number, stop, e);
    if (r == 0)
        r = net_go(c->net, pace_now_ns(), e);
    if (r == 0) {
        r = net_run(c->net, stop, sum, e);
        summarise(sum, &rep);
        int stored = run_writer_repetition(c->run, &rep, r < 0 ? NULL : e);
        c->measured = true;
        net_sum_print(c->settings.peer, &rep, sum);
        r = r < 0 ? r : stored;
    }
    free(sum);
    if (r < 0 && r != -EINTR)
        err_prefix(e, "repetition %u with '%s'", number, c->settings.peer);
    return r;
}

static int repeat_all(struct command *c, const volatile sig_atomic_t *stop, struct err *e)
{
    int r = 0;
    for (uint32_t i = 1; r == 0 && i <= c->settings.warmup + c->settings.runs; i++)
        r = repeat_once(c, i, stop, e);
    return r;
}

static int run_all(struct command *c, const volatile sig_atomic_t *stop, struct err *e)
{
    char ended[ERR_TEXT_BYTES + 16] = "done";
    int r = begin_run(c, e);
    if (r < 0)
        return r;
    r = repeat_all(c, stop, e);
    if (r == -EINTR && *stop)
        strcpy(ended, "signal");
    else if (r < 0)
        snprintf(ended, sizeof ended, "error: %s", e->text);
    int finished = c->measured ? run_writer_finish(c->run, ended, r < 0 ? NULL : e) : 0;
    return r < 0 ? r : finished;
}

void net_preview(struct tape_reader *tape, const struct settings *s)
{
    const struct net_totals *t = &tape_reader_totals(tape)->net;
    printf("%s: %llu conversations, %llu events, %llu bytes to '%s' and %llu from there\n", s->tape,
            (unsigned long long)t->conversations, (unsigned long long)t->events,
            (unsigned long long)t->sent_bytes[NET_INITIATOR], s->peer,
            (unsigned long long)t->sent_bytes[NET_RESPONDER]);
}

int net_command(const struct settings *settings, const volatile sig_atomic_t *stop, struct err *e)
{
    struct command c = {.settings = *settings};
    if (c.settings.timing == TIMING_DEFAULT)
        c.settings.timing = TIMING_CLOSED;
    int r = open_tape(&c, e);
    if (r == 0 && c.settings.out_count)
        r = outputs_check_one(c.settings.out[0], c.settings.tape, e);
    if (r == 0 && c.settings.dry_run) {
        net_preview(c.tape, &c.settings);
    } else if (r == 0) {
        r = net_open(&c.net, &c.settings, c.tape, e);
        if (r == 0)
            r = run_all(&c, stop, e);
        int closed = net_close(c.net, r < 0 ? NULL : e);
        r = r < 0 ? r : closed;
    }
    run_writer_close(c.run, !c.measured);
    tape_reader_close(c.tape);
    return r;
}
