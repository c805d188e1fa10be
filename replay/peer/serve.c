/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/opts.h"
#include "formats/base/units.h"
#include "replay/pace.h"
#include "replay/peer/address.h"
#include "replay/peer/door.h"
#include "replay/peer/flow.h"
#include "replay/peer/process.h"
#include "replay/peer/results_wire.h"
#include "replay/peer/talk.h"

#define WAIT_NS            NS_PER_S
#define CONTROL_TIMEOUT_NS (30 * NS_PER_S)
#define WINDOW_MIN         4096u
#define WINDOW_MAX         65536u
#define EVENT_COST_BYTES   512  /* of an event that is not done, in all its forms */
#define OPEN_COST_BYTES    2048 /* of a conversation that is open */
#define TAKEN_EVERY        256
#define MESSAGES_AT_ONCE   64 /* before what is due is looked after */

struct server {
    const struct serve_options *o;
    struct talk talk;
    struct address address;
    uint64_t began_ns, bytes_left;
    uint32_t window;
    uint64_t open_max;
    /* of the repetition */
    struct flow *flow;
    struct door *door;
    struct tokens *tokens;
    struct ledger *ledger;
    uint64_t received, told_received, told_done;
    bool failed_told, over;
    struct process_usage before;
    struct peer_event *batch; /* EVENTS_BATCH_MAX */
};

/* ---- a repetition ---- */

static void close_repetition(struct server *s)
{
    door_close(s->door);
    flow_close(s->flow);
    tokens_close(s->tokens);
    ledger_close(s->ledger);
    s->door = NULL;
    s->flow = NULL;
    s->tokens = NULL;
    s->ledger = NULL;
}

static int open_repetition(struct server *s, const struct message *m, struct err *e)
{
    struct flow_options o = {.side = NET_RESPONDER,
            .threads = (unsigned)m->n[BEGIN_THREADS],
            .timing = (enum replay_timing)m->n[BEGIN_TIMING],
            .speed = (double)m->n[BEGIN_SPEED_PPM] / 1e6,
            .stall_timeout_ns = m->n[BEGIN_STALL_TIMEOUT_NS],
            .errors_max = UINT64_MAX}; /* the client counts, and decides */
    struct ledger_limits limits = {s->open_max, s->bytes_left};
    if (m->n[BEGIN_THREADS] < 1 || m->n[BEGIN_THREADS] > FLOW_THREADS_MAX ||
            m->n[BEGIN_TIMING] > TIMING_ASAP || m->n[BEGIN_SPEED_PPM] < 1 ||
            m->n[BEGIN_SPEED_PPM] > UINT64_C(1000000000000) || m->n[BEGIN_STALL_TIMEOUT_NS] > INT64_MAX)
        return err_set(e, EPROTO, "'begin' asks for what there is not");
    int r = ledger_open(&s->ledger, &limits, e);
    if (r == 0)
        r = tokens_open(&s->tokens, e);
    if (r == 0)
        r = flow_open(&s->flow, &o, e);
    if (r == 0)
        r = door_open(&s->door, (struct sockaddr *)&s->address.at, s->address.len, s->tokens, s->flow, e);
    s->received = s->told_received = s->told_done = 0;
    s->failed_told = false;
    return r;
}

static int begin(struct server *s, const struct message *m, struct err *e)
{
    struct message ready = {.type = MESSAGE_READY};
    uint16_t tcp[FLOW_PORTS_MAX], udp;
    int r = open_repetition(s, m, e);
    if (r < 0)
        return r;
    ready.n[READY_TCP_PORTS] = door_ports(s->door, tcp, &udp);
    for (unsigned i = 0; i < ready.n[READY_TCP_PORTS]; i++)
        ready.n[READY_TCP_PORT + i] = tcp[i];
    ready.n[READY_UDP_PORT] = udp;
    ready.n[READY_WINDOW] = s->window;
    process_usage(&s->before);
    return talk_send(&s->talk, &ready, e);
}

static int take_events(struct server *s, const struct message *m, struct err *e)
{
    uint32_t count = (uint32_t)m->n[EVENTS_COUNT];
    if (m->n[EVENTS_FIRST] != s->received || m->n[EVENTS_COUNT] > EVENTS_BATCH_MAX)
        return err_set(e, EPROTO, "events from number %llu on, instead of %llu",
                (unsigned long long)m->n[EVENTS_FIRST], (unsigned long long)s->received);
    if (s->received + count - flow_done(s->flow) > s->window)
        return err_set(e, EPROTO, "more events than there is room for");
    int r = events_unpack(
            s->batch, s->received, count, m->bin[0], m->bin_len[0], m->bin[1], m->bin_len[1], e);
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        const struct peer_event *ev = &s->batch[i];
        r = ledger_add(s->ledger, ev, e);
        if (r == 0 && ev->ev.kind == NET_CONNECT)
            r = tokens_expect(s->tokens, ev->token, ev->ev.conversation, ev->protocol, e);
    }
    if (r == 0)
        r = flow_add(s->flow, s->batch, count, e);
    s->received += count;
    return r;
}

static int send_results(struct server *s, struct err *e)
{
    CLEANUP(bytes_release) struct bytes lateness = {0};
    struct message m = {.type = MESSAGE_RESULTS};
    struct flow_counts *c = calloc(1, sizeof *c);
    if (!c)
        return err_sys(e, ENOMEM, "cannot sum up");
    flow_stop(s->flow, c);
    struct process_usage after;
    process_usage(&after);
    results_wire_counts(&m, c);
    results_wire_usage(&m, &s->before, &after);
    m.n[RESULTS_STRANGERS] = door_close(s->door);
    s->door = NULL;
    uint64_t bytes = ledger_bytes(s->ledger);
    s->bytes_left = s->bytes_left > bytes ? s->bytes_left - bytes : 0;
    int r = results_wire_lateness(&m, &c->lateness, &lateness, e);
    free(c);
    if (r == 0)
        r = talk_send(&s->talk, &m, e);
    close_repetition(s);
    return r;
}

/* ---- what comes, and what is due ---- */

static int take_absent(struct server *s, const struct message *m, struct err *e)
{
    if (m->n[ABSENT_CONVERSATION] >= ledger_conversations(s->ledger) || m->n[ABSENT_CODE] > INT16_MAX)
        return err_set(e, EPROTO, "a conversation is said to be absent that there is not");
    return flow_absent(s->flow, (uint32_t)m->n[ABSENT_CONVERSATION], (int)m->n[ABSENT_CODE], e);
}

static int handle(struct server *s, const struct message *m, struct err *e)
{
    switch (m->type) {
    case MESSAGE_BEGIN:
        return begin(s, m, e);
    case MESSAGE_EVENTS:
        return take_events(s, m, e);
    case MESSAGE_END:
        if (m->n[END_EVENTS] != s->received)
            return err_set(e, EPROTO, "an end after %llu events, of which %llu came",
                    (unsigned long long)m->n[END_EVENTS], (unsigned long long)s->received);
        flow_end(s->flow);
        return 0;
    case MESSAGE_GO:
        process_usage(&s->before);
        flow_go(s->flow, pace_now_ns());
        return 0;
    case MESSAGE_ABSENT:
        return s->flow ? take_absent(s, m, e) : 0;
    case MESSAGE_STOP:
        return s->flow ? send_results(s, e) : 0; /* or it crossed the results */
    default:                                     /* goodbye; all others would have been out of turn */
        s->over = true;
        return 0;
    }
}

static int tell_progress(struct server *s, struct err *e)
{
    uint64_t done = flow_done(s->flow);
    if (s->received == s->told_received && done < s->told_done + TAKEN_EVERY)
        return 0;
    struct message m = {.type = MESSAGE_TAKEN, .n = {[TAKEN_RECEIVED] = s->received, [TAKEN_DONE] = done}};
    s->told_received = s->received;
    s->told_done = done;
    return talk_send(&s->talk, &m, e);
}

static int look_after(struct server *s, struct err *e)
{
    struct err failure;
    int r = talk_tick(&s->talk, e);
    if (r < 0)
        return r;
    if (pace_now_ns() - s->began_ns > s->o->duration_max_ns) {
        char text[UNITS_TEXT_BYTES];
        return err_set(e, EDQUOT, "it has lasted longer than %s (--serve-max-duration)",
                units_duration(s->o->duration_max_ns, text));
    }
    if (!s->flow)
        return 0;
    flow_noticed(s->flow);
    flow_tick(s->flow);
    if (!s->failed_told && flow_failure(s->flow, &failure) < 0) {
        s->failed_told = true;
        r = talk_tell(&s->talk, MESSAGE_FAILED, failure.text, e);
    }
    if (r == 0)
        r = tell_progress(s, e);
    if (r == 0 && flow_finished(s->flow))
        r = send_results(s, e);
    return r;
}

static int wait_for_work(struct server *s, struct err *e)
{
    struct pollfd p[2] = {{s->talk.channel.in_fd, POLLIN, 0}, {s->flow ? flow_fd(s->flow) : -1, POLLIN, 0}};
    struct timespec t = {.tv_nsec = WAIT_NS / 4};
    return ppoll(p, 2, &t, NULL) < 0 && errno != EINTR ? err_sys(e, errno, "cannot wait for the client") : 0;
}

static int converse(struct server *s, struct err *e)
{
    struct message *m = calloc(1, sizeof *m);
    int r = m ? 0 : err_sys(e, ENOMEM, "cannot serve");
    while (r == 0 && !s->over) {
        int n = 0;
        while (n < MESSAGES_AT_ONCE && !s->over && (r = talk_receive(&s->talk, 0, m, e)) == 1 &&
                (r = handle(s, m, e)) == 0)
            n++;
        if (r == 0 && !s->over)
            r = look_after(s, e);
        if (r == 0 && !s->over && n < MESSAGES_AT_ONCE)
            r = wait_for_work(s, e);
    }
    free(m);
    return r;
}

/* ---- the beginning ---- */

static int meet(struct server *s, struct err *e)
{
    struct message m;
    int r = talk_receive(&s->talk, pace_now_ns() + CONTROL_TIMEOUT_NS, &m, e);
    if (r < 0)
        return r;
    if (r == 0)
        return err_set(e, ETIMEDOUT, "no client says hello");
    if (strncmp(m.text, MESSAGE_MAGIC, strlen(MESSAGE_MAGIC)) != 0)
        return err_set(e, EPROTO, "the client is no iotape-replay");
    if (m.n[HELLO_VERSION] != MESSAGE_VERSION)
        return err_set(e, EPROTO,
                "the client speaks version %llu of the protocol, this end (iotape-replay %s) %d",
                (unsigned long long)m.n[HELLO_VERSION], IOTAPE_VERSION, MESSAGE_VERSION);
    m.type = MESSAGE_HELLO;
    snprintf(m.text, sizeof m.text, "%s %s", MESSAGE_MAGIC, IOTAPE_VERSION);
    return talk_send(&s->talk, &m, e);
}

/* Where data are listened for: as told, else where the remote shell was reached (sshd's SSH_CONNECTION:
 * client, port, server, port), else anywhere. */
static int choose_address(struct server *s, struct err *e)
{
    char there[128];
    const char *ssh = getenv("SSH_CONNECTION");
    if (s->o->listen)
        return address_parse(&s->address, s->o->listen, e);
    if (ssh && sscanf(ssh, "%*s %*s %127s", there) == 1 && address_parse(&s->address, there, NULL) == 0)
        return 0;
    address_any(&s->address);
    return 0;
}

/* What fits: memory bounds the window and the open conversations, files these, too. */
static int choose_bounds(struct server *s, struct err *e)
{
    uint64_t window = s->o->memory_max_bytes / 4 / EVENT_COST_BYTES;
    uint64_t open_max = s->o->memory_max_bytes / 2 / OPEN_COST_BYTES, files = process_files();
    if (window < WINDOW_MIN)
        return err_set(e, EDQUOT, "--serve-max-memory leaves no room for events");
    s->window = window > WINDOW_MAX ? WINDOW_MAX : (uint32_t)window;
    if (files < DOOR_STRANGERS_MAX + 64)
        return err_set(e, EMFILE, "the limit of open files, %llu, is too low", (unsigned long long)files);
    s->open_max = s->o->conversations_max;
    if (s->open_max > open_max)
        s->open_max = open_max;
    if (s->open_max > files - DOOR_STRANGERS_MAX - 32)
        s->open_max = files - DOOR_STRANGERS_MAX - 32;
    s->bytes_left = s->o->bytes_max;
    return 0;
}

/* What is printed by mistake must not get into the channel. */
static int take_stdio(int *in_fd, int *out_fd, struct err *e)
{
    *in_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    *out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (*in_fd < 0 || *out_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_sys(e, errno, "cannot use standard input and output");
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    return 0;
}

int serve_stdio(const struct serve_options *o, struct err *e)
{
    struct server s = {.o = o, .began_ns = pace_now_ns()};
    int in_fd = -1, out_fd = -1;
    struct err reason = {0};
    signal(SIGINT, SIG_IGN); /* the client decides, and the channel's end */
    signal(SIGTERM, SIG_DFL);
    int r = take_stdio(&in_fd, &out_fd, &reason);
    if (r == 0) {
        talk_init(&s.talk, MESSAGE_SERVER, in_fd, out_fd, CONTROL_TIMEOUT_NS);
        s.batch = calloc(EVENTS_BATCH_MAX, sizeof *s.batch);
        r = s.batch ? meet(&s, &reason) : err_sys(&reason, ENOMEM, "cannot serve");
        if (r == 0)
            r = choose_address(&s, &reason);
        if (r == 0)
            r = choose_bounds(&s, &reason);
        if (r == 0)
            r = converse(&s, &reason);
        if (r < 0 && r != -EPIPE)
            talk_tell(&s.talk, MESSAGE_REFUSED, reason.text, NULL);
    }
    close_repetition(&s);
    talk_release(&s.talk);
    free(s.batch);
    close(in_fd);
    close(out_fd);
    if (r < 0 && e)
        *e = reason;
    return r;
}
