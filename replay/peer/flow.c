/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/random.h"
#include "replay/peer/flow_conv.h"

#define BUCKETS_FIRST 256

/* ---- opening ---- */

static int open_thread(struct flow_thread *t, struct flow *f, unsigned index, struct err *e)
{
    *t = (struct flow_thread){.flow = f, .index = index, .buckets = BUCKETS_FIRST, .epoll_fd = -1};
    pthread_mutex_init(&t->lock, NULL);
    t->inbox_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->bucket = calloc(t->buckets, sizeof *t->bucket);
    t->sink = malloc(FLOW_BUFFER_BYTES);
    if (f->o.results)
        t->result = calloc(FLOW_RESULTS_MAX, sizeof *t->result);
    if (t->inbox_fd < 0 || t->epoll_fd < 0 || !t->bucket || !t->sink || (f->o.results && !t->result))
        return err_sys(e, errno ? errno : ENOMEM, "cannot set up a thread");
    int failed = pthread_create(&t->thread, NULL, flow_thread_main, t);
    t->running = failed == 0;
    return failed ? err_sys(e, failed, "cannot start a thread") : 0;
}

static void close_thread(struct flow_thread *t)
{
    conv_free_all(t);
    /* Connections that were handed over and never taken. */
    for (size_t i = 0; i < t->inbox.count; i++)
        if (t->inbox.list[i].type == NOTE_ACCEPT)
            close(t->inbox.list[i].fd);
    free(t->inbox.list);
    free(t->taken.list);
    free(t->held);
    free(t->sink);
    free(t->result);
    if (t->inbox_fd >= 0)
        close(t->inbox_fd);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    pthread_mutex_destroy(&t->lock);
}

static void release_conversation(void *context, uint32_t conversation, uint64_t at_ns)
{
    struct flow *f = context;
    struct flow_thread *t = &f->thread[conversation % f->o.threads];
    struct note n = {.type = NOTE_RELEASE, .conversation = conversation, .at_ns = at_ns};
    struct err e = {0};
    if (flow_note(t, &n, &e) < 0)
        flow_fail(f, &e);
    flow_wake(t);
}

/* Data that no link compresses; of no meaning, so that a weak generator does. */
static int make_payload(struct flow *f, struct err *e)
{
    size_t words = 2 * FLOW_BUFFER_BYTES / sizeof(uint64_t);
    uint64_t state = 1, *to = malloc(words * sizeof *to);
    if (!to)
        return err_sys(e, ENOMEM, "cannot make data");
    for (size_t i = 0; i < words; i++)
        to[i] = random_next(&state);
    f->payload = (uint8_t *)to;
    return 0;
}

int flow_open(struct flow **out, const struct flow_options *o, struct err *e)
{
    struct flow *f = calloc(1, sizeof *f);
    if (!f)
        return err_sys(e, ENOMEM, "cannot replay conversations");
    f->o = *o;
    f->allowed = o->side == NET_RESPONDER ? UINT64_MAX : 0;
    pthread_mutex_init(&f->lock, NULL);
    f->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = f->event_fd < 0 ? err_sys(e, errno, "cannot replay conversations") : make_payload(f, e);
    if (r == 0)
        r = clients_open(&f->clients, release_conversation, f, e);
    if (r == 0) {
        f->thread = calloc(o->threads, sizeof *f->thread);
        r = f->thread ? 0 : err_sys(e, ENOMEM, "cannot replay conversations");
    }
    for (unsigned i = 0; i < o->threads && f->thread; i++) {
        if (r == 0)
            r = open_thread(&f->thread[i], f, i, e);
        else
            f->thread[i] = (struct flow_thread){.flow = f, .inbox_fd = -1, .epoll_fd = -1};
    }
    if (r < 0) {
        flow_close(f);
        return r;
    }
    *out = f;
    return 0;
}

static void stop_threads(struct flow *f)
{
    atomic_store(&f->stop, true);
    for (unsigned i = 0; f->thread && i < f->o.threads; i++) {
        struct flow_thread *t = &f->thread[i];
        if (!t->running)
            continue;
        flow_wake(t);
        pthread_join(t->thread, NULL);
        t->running = false;
    }
}

void flow_close(struct flow *f)
{
    if (!f)
        return;
    stop_threads(f);
    for (unsigned i = 0; f->thread && i < f->o.threads; i++)
        close_thread(&f->thread[i]);
    clients_close(f->clients);
    if (f->event_fd >= 0)
        close(f->event_fd);
    pthread_mutex_destroy(&f->lock);
    free(f->thread);
    free(f->absent);
    free(f->payload);
    free(f);
}

/* ---- what the caller says ---- */

static void wake_all(struct flow *f)
{
    for (unsigned i = 0; i < f->o.threads; i++)
        flow_wake(&f->thread[i]);
}

int flow_add(struct flow *f, const struct peer_event *list, size_t count, struct err *e)
{
    int r = 0;
    bool gone = atomic_load(&f->start_ns);
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct peer_event *ev = &list[i];
        struct note n = {.type = NOTE_EVENT, .event = *ev};
        n.event.early =
                is_initiator(f) && !gone && ev->ev.kind == NET_CONNECT && ev->marks & NET_BEGAN_BEFORE;
        if (n.event.early)
            atomic_fetch_add(&f->unsettled, 1);
        if (ev->ev.kind == NET_CONNECT)
            atomic_fetch_add(&f->convs_open, 1);
        r = flow_note(&f->thread[ev->ev.conversation % f->o.threads], &n, e);
    }
    wake_all(f);
    return r;
}

static void tell_all(struct flow *f, enum note_type type)
{
    struct note n = {.type = type};
    struct err e = {0};
    for (unsigned i = 0; i < f->o.threads; i++)
        if (flow_note(&f->thread[i], &n, &e) < 0)
            flow_fail(f, &e);
    wake_all(f);
}

void flow_allow(struct flow *f, uint64_t events)
{
    atomic_store(&f->allowed, events);
    tell_all(f, NOTE_ALLOW);
}

void flow_end(struct flow *f)
{
    atomic_store(&f->ended, true);
    flow_notify(f);
}

void flow_go(struct flow *f, uint64_t start_ns)
{
    atomic_store(&f->start_ns, start_ns);
    tell_all(f, NOTE_GO);
}

int flow_accept(struct flow *f, uint32_t conversation, int fd, uint64_t at_ns, struct err *e)
{
    struct flow_thread *t = &f->thread[conversation % f->o.threads];
    struct note n = {.type = NOTE_ACCEPT, .conversation = conversation, .fd = fd, .at_ns = at_ns};
    int r = flow_note(t, &n, e);
    if (r < 0)
        close(fd);
    flow_wake(t);
    return r;
}

int flow_absent(struct flow *f, uint32_t conversation, int code, struct err *e)
{
    struct flow_thread *t = &f->thread[conversation % f->o.threads];
    struct note n = {.type = NOTE_ABSENT, .conversation = conversation, .code = code};
    int r = flow_note(t, &n, e);
    flow_wake(t);
    return r;
}

/* ---- what it says ---- */

bool flow_take_absent(struct flow *f, uint32_t *conversation, int *code)
{
    pthread_mutex_lock(&f->lock);
    bool any = f->absent_count > 0;
    if (any) {
        const struct absent *a = &f->absent[--f->absent_count];
        *conversation = a->conversation;
        *code = a->code;
    }
    pthread_mutex_unlock(&f->lock);
    return any;
}

int flow_fd(const struct flow *f)
{
    return f->event_fd;
}

void flow_noticed(struct flow *f)
{
    uint64_t ignored;
    eventfd_read(f->event_fd, &ignored);
}

uint64_t flow_done(const struct flow *f)
{
    return atomic_load(&f->done);
}

bool flow_finished(const struct flow *f)
{
    return atomic_load(&f->ended) && atomic_load(&f->start_ns) && atomic_load(&f->convs_open) == 0;
}

void flow_tick(struct flow *f)
{
    uint64_t now_ns = pace_now_ns();
    if (now_ns < f->ticked_ns + FLOW_TICK_NS)
        return;
    f->ticked_ns = now_ns;
    wake_all(f);
}

int flow_failure(struct flow *f, struct err *e)
{
    pthread_mutex_lock(&f->lock);
    int r = f->failed;
    if (r && e)
        *e = f->failure;
    pthread_mutex_unlock(&f->lock);
    return r;
}

bool flow_settled(const struct flow *f)
{
    return atomic_load(&f->unsettled) == 0;
}

/* ---- the end ---- */

static uint64_t since(uint64_t start_ns, uint64_t at_ns)
{
    return start_ns && at_ns > start_ns ? at_ns - start_ns : 0;
}

static void add_lateness(struct lateness *to, const struct lateness *from)
{
    to->count += from->count;
    to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
    for (unsigned i = 0; i < LATENESS_BUCKETS; i++)
        to->bucket[i] += from->bucket[i];
}

static void add_counts(struct flow_counts *to, const struct flow_counts *from, uint64_t start_ns)
{
    uint64_t first_ns = since(start_ns, from->first_byte_ns), last_ns = since(start_ns, from->last_byte_ns);
    uint64_t elapsed_ns = since(start_ns, from->elapsed_ns);
    to->conversations += from->conversations;
    to->received_bytes += from->received_bytes;
    to->sent_bytes += from->sent_bytes;
    to->messages += from->messages;
    to->datagrams_sent += from->datagrams_sent;
    to->datagrams_received += from->datagrams_received;
    to->retransmits += from->retransmits;
    to->errors += from->errors;
    to->behind += from->behind;
    to->connects += from->connects;
    to->open_max += from->open_max; /* an upper bound where threads reached theirs at different times */
    if (from->first_byte_ns && (!to->first_byte_ns || first_ns < to->first_byte_ns))
        to->first_byte_ns = first_ns;
    to->last_byte_ns = last_ns > to->last_byte_ns ? last_ns : to->last_byte_ns;
    to->elapsed_ns = elapsed_ns > to->elapsed_ns ? elapsed_ns : to->elapsed_ns;
    add_lateness(&to->lateness, &from->lateness);
}

void flow_stop(struct flow *f, struct flow_counts *counts)
{
    uint64_t start_ns = atomic_load(&f->start_ns);
    *counts = (struct flow_counts){0};
    stop_threads(f);
    for (unsigned i = 0; i < f->o.threads; i++) {
        struct flow_thread *t = &f->thread[i];
        exchange_flush(t);
        add_counts(counts, &t->counts, start_ns);
        counts->spun_ns += t->pace.spun_ns;
    }
}
