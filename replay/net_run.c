/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "formats/base/units.h"
#include "replay/net_parts.h"
#include "replay/pace.h"
#include "replay/peer/results_wire.h"

#define WINDOW_HERE 65536u
#define WAIT_NS     (NS_PER_S / 4)

/* ---- feeding ---- */

static int send_events(struct net *n, uint32_t count, struct err *e)
{
    struct message *m = n->message;
    int r = 0;
    n->records.len = n->tokens.len = 0;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        r = events_pack(&n->batch[i], &n->records, &n->tokens, e);
    if (r < 0)
        return r;
    *m = (struct message){.type = MESSAGE_EVENTS,
            .n = {[EVENTS_FIRST] = n->batch[0].number, [EVENTS_COUNT] = count},
            .bin = {n->records.data, n->tokens.data},
            .bin_len = {n->records.len, n->tokens.len}};
    return talk_send(&n->talk, m, e);
}

static int send_end(struct net *n, struct err *e)
{
    struct message m = {.type = MESSAGE_END, .n = {[END_EVENTS] = net_feed_events(n->feed)}};
    n->ended = true;
    flow_end(n->flow);
    return talk_send(&n->talk, &m, e);
}

static bool has_room(const struct net *n)
{
    uint64_t events = net_feed_events(n->feed);
    return !n->ended && events + EVENTS_BATCH_MAX <= n->done_there + n->window &&
           events + EVENTS_BATCH_MAX <= flow_done(n->flow) + WINDOW_HERE;
}

/* Both ends get the same events; this one first, so that nothing that comes back is a surprise. */
static int feed(struct net *n, struct err *e)
{
    int r = 0;
    for (int i = 0; r == 0 && i < 8 && has_room(n); i++) {
        r = net_feed_next(n->feed, n->batch, EVENTS_BATCH_MAX, e);
        if (r == 0)
            return send_end(n, e);
        if (r < 0)
            return r;
        uint32_t count = (uint32_t)r;
        r = flow_add(n->flow, n->batch, count, e);
        if (r == 0)
            r = send_events(n, count, e);
    }
    return r;
}

/* ---- listening ---- */

static int take_results(struct net *n, const struct message *m, struct err *e)
{
    memcpy(n->there, m->n, sizeof n->there);
    n->have_results = true;
    return results_wire_add_lateness(m, &n->lateness_there, e);
}

static int take_taken(struct net *n, const struct message *m, struct err *e)
{
    uint64_t received = m->n[TAKEN_RECEIVED], done = m->n[TAKEN_DONE];
    if (received < n->known || received > net_feed_events(n->feed) || done < n->done_there || done > received)
        return err_set(e, EPROTO, "the other end has taken what it was not given");
    n->done_there = done;
    if (received > n->known) {
        n->took_ns = pace_now_ns();
        flow_allow(n->flow, received);
    }
    n->known = received;
    return 0;
}

static int handle(struct net *n, const struct message *m, struct err *e)
{
    switch (m->type) {
    case MESSAGE_TAKEN:
        return take_taken(n, m, e);
    case MESSAGE_RESULTS:
        return take_results(n, m, e);
    case MESSAGE_FAILED:
        return err_set(e, EIO, "the other end: %s", m->text);
    case MESSAGE_REFUSED:
        n->broken = true;
        return err_set(e, EPROTO, "the other end ('%s') refuses: %s", n->rsh.name, m->text);
    default:
        return err_set(e, EPROTO, "the other end sent '%s' where it means nothing", message_name(m->type));
    }
}

static int listen_to(struct net *n, struct err *e)
{
    uint64_t until_ns = pace_now_ns() + WAIT_NS; /* a flood shall not keep us from all else */
    int r;
    while ((r = talk_receive(&n->talk, 0, n->message, e)) == 1) {
        if ((r = handle(n, n->message, e)) < 0)
            return r;
        if (pace_now_ns() >= until_ns)
            return 0;
    }
    return r < 0 ? net_blame(n, r, e) : 0;
}

static int tell_absent(struct net *n, struct err *e)
{
    uint32_t conversation;
    int code, r = 0;
    while (r == 0 && flow_take_absent(n->flow, &conversation, &code)) {
        struct message m = {.type = MESSAGE_ABSENT,
                .n = {[ABSENT_CONVERSATION] = conversation, [ABSENT_CODE] = (uint64_t)code}};
        r = talk_send(&n->talk, &m, e);
    }
    return r;
}

/* An end that says no more than that it is alive. */
static int check_taking(struct net *n, struct err *e)
{
    uint64_t now_ns = pace_now_ns();
    if (n->known == net_feed_events(n->feed) || !n->took_ns)
        n->took_ns = now_ns;
    if (now_ns > n->took_ns + n->settings->stall_timeout_ns + 2 * NS_PER_S)
        return err_set(e, ETIMEDOUT, "stalled: the other end does not take the events");
    return 0;
}

int net_step(struct net *n, struct err *e)
{
    struct pollfd p[2] = {{n->talk.channel.in_fd, POLLIN, 0}, {flow_fd(n->flow), POLLIN, 0}};
    struct timespec t = {.tv_nsec = has_room(n) ? 0 : WAIT_NS};
    struct err late = {0};
    if (ppoll(p, 2, &t, NULL) < 0 && errno != EINTR)
        return err_sys(e, errno, "cannot wait for the other end");
    flow_noticed(n->flow);
    flow_tick(n->flow);
    int r = listen_to(n, e);
    if (r == 0)
        r = flow_failure(n->flow, e);
    if (r < 0 || n->have_results)
        return r;
    r = check_taking(n, e);
    if (r == 0)
        r = tell_absent(n, e);
    if (r == 0)
        r = feed(n, e);
    if (r == 0)
        r = talk_tick(&n->talk, e);
    /* Why a write failed is what the other end said last, if anything. */
    if (r < 0 && listen_to(n, &late) < 0) {
        *e = late;
        return -late.code;
    }
    return r < 0 ? net_blame(n, r, e) : 0;
}

/* ---- a repetition ---- */

int net_go(struct net *n, uint64_t start_ns, struct err *e)
{
    process_usage(&n->before);
    int r = talk_say(&n->talk, MESSAGE_GO, e);
    flow_go(n->flow, start_ns);
    return r < 0 ? net_blame(n, r, e) : 0;
}

/* What was measured there is worth having, also where a repetition fails. */
static void fetch_results(struct net *n)
{
    uint64_t deadline_ns = pace_now_ns() + n->settings->stall_timeout_ns + 2 * NS_PER_S;
    struct err ignored = {0};
    if (n->broken || n->have_results || talk_say(&n->talk, MESSAGE_STOP, &ignored) < 0) {
        n->broken = n->broken || !n->have_results;
        return;
    }
    while (!n->have_results) {
        int r = talk_receive(&n->talk, deadline_ns, n->message, &ignored);
        if (r == 1 && n->message->type == MESSAGE_RESULTS)
            r = take_results(n, n->message, &ignored) < 0 ? -EPROTO : 1;
        else if (r == 1 && n->message->type == MESSAGE_REFUSED)
            r = -EPROTO;
        if (r <= 0 || (!n->have_results && pace_now_ns() >= deadline_ns)) {
            n->broken = true;
            return;
        }
    }
}

static int play(struct net *n, const volatile sig_atomic_t *stop, struct err *e)
{
    uint64_t finished_ns = 0;
    for (;;) {
        int r = net_step(n, e);
        if (r < 0)
            return r;
        if (*stop)
            return err_set(e, EINTR, "cut short by a signal");
        if (!flow_finished(n->flow) && !n->have_results)
            continue;
        if (flow_finished(n->flow) && n->have_results)
            return 0;
        uint64_t now_ns = pace_now_ns();
        if (!finished_ns)
            finished_ns = now_ns;
        if (now_ns > finished_ns + n->settings->stall_timeout_ns + 2 * NS_PER_S)
            return err_set(e, ETIMEDOUT, "one end has finished, and the other has not");
    }
}

/* Conversations that failed at the other end: all of the tape's came to an end, and those not to theirs. One
 * that failed at both ends is one. */
static uint64_t failed_there(const struct net *n, const struct flow_counts *here)
{
    uint64_t all = here->conversations + here->errors, well = n->there[RESULTS_CONVERSATIONS];
    return all > well ? all - well : 0;
}

int net_run(struct net *n, const volatile sig_atomic_t *stop, struct net_sum *sum, struct err *e)
{
    int r = play(n, stop, e);
    sum->before = n->before;
    process_usage(&sum->after);
    flow_stop(n->flow, &sum->here);
    if (r < 0)
        fetch_results(n);
    int stored = flow_failure(n->flow, r < 0 ? NULL : e);
    r = r < 0 ? r : stored;
    memcpy(sum->there, n->there, sizeof sum->there);
    const struct lateness *l = &n->lateness_there;
    struct lateness *to = &sum->here.lateness;
    to->count += l->count;
    to->max_ns = l->max_ns > to->max_ns ? l->max_ns : to->max_ns;
    for (unsigned i = 0; i < LATENESS_BUCKETS; i++)
        to->bucket[i] += l->bucket[i];
    uint64_t there = r == 0 ? failed_there(n, &sum->here) : 0;
    sum->errors = sum->here.errors > there ? sum->here.errors : there;
    if (there > n->settings->max_errors)
        r = err_set(e, EIO, "%llu conversations failed at the other end (see --max-errors)",
                (unsigned long long)there);
    sum->complete = r == 0;
    return r;
}
