/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/opts.h"
#include "formats/base/units.h"
#include "formats/chunk.h"
#include "replay/net_parts.h"
#include "replay/pace.h"

#define HELLO_TIMEOUT_NS (120 * NS_PER_S) /* somebody may have to type a password */
#define GOODBYE_NS       (5 * NS_PER_S)
#define LISTEN_BYTES     300

int net_blame(struct net *n, int code, struct err *e)
{
    struct err inner = {0};
    if (e)
        inner = *e;
    n->broken = true;
    if (code == -EPIPE || code == -EPROTO || code == -ECONNRESET)
        rsh_blame(&n->rsh, &inner);
    if (e)
        *e = inner;
    return code;
}

/* ---- the other end ---- */

/* A remote shell joins words and splits them again: only such as it cannot take for anything else. */
static int check_program(const char *program, struct err *e)
{
    if (*program == '-' || !*program ||
            strspn(program, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-") !=
                    strlen(program))
        return err_set(e, EINVAL, "--peer-program '%s' is no plain path", program);
    return 0;
}

/* Brackets mean something to a shell there: "[A]:P" as "A,P". */
static void without_brackets(const char *listen, char out[LISTEN_BYTES])
{
    const char *end = *listen == '[' ? strchr(listen, ']') : NULL;
    if (end)
        snprintf(out, LISTEN_BYTES, "%.*s%s%s", (int)(end - listen - 1), listen + 1, end[1] ? "," : "",
                end[1] ? end + 2 : "");
    else
        snprintf(out, LISTEN_BYTES, "%s", listen);
}

static int start_other_end(struct net *n, struct err *e)
{
    const struct settings *s = n->settings;
    char listen[LISTEN_BYTES] = "";
    if (s->listen)
        without_brackets(s->listen, listen);
    char **argv = NULL;
    const char *tail[] = {s->peer_program, "--serve", "--stdio", s->listen ? "--listen" : NULL, listen, NULL};
    int r = check_program(s->peer_program, e);
    if (r == 0) {
        r = rsh_words(&argv, s->rsh, s->peer, tail, e);
        if (r < 0)
            err_prefix(e, "--rsh, --peer");
    }
    if (r == 0)
        r = rsh_start(&n->rsh, argv, s->peer, e);
    rsh_words_free(argv);
    return r;
}

static int hello(struct net *n, struct err *e)
{
    struct message m = {.type = MESSAGE_HELLO, .n = {[HELLO_VERSION] = MESSAGE_VERSION}};
    snprintf(m.text, sizeof m.text, "%s %s", MESSAGE_MAGIC, IOTAPE_VERSION);
    int r = talk_send(&n->talk, &m, e);
    if (r == 0)
        r = talk_receive(&n->talk, pace_now_ns() + HELLO_TIMEOUT_NS, n->message, e);
    if (r == 0)
        return err_set(e, ETIMEDOUT, "the other end ('%s') does not answer", n->rsh.name);
    if (r < 0)
        return net_blame(n, r, e);
    if (n->message->type == MESSAGE_REFUSED)
        return err_set(e, EPROTO, "the other end ('%s') refuses: %s", n->rsh.name, n->message->text);
    if (strncmp(n->message->text, MESSAGE_MAGIC, strlen(MESSAGE_MAGIC)) != 0 ||
            n->message->n[HELLO_VERSION] != MESSAGE_VERSION)
        return err_set(e, EPROTO,
                "the other end ('%s', '%.40s') speaks version %llu of the protocol, this one %d", n->rsh.name,
                n->message->text, (unsigned long long)n->message->n[HELLO_VERSION], MESSAGE_VERSION);
    return 0;
}

/* Where data go: --listen, if it names a place, else the host. */
static int find_address(struct net *n, struct err *e)
{
    const struct settings *s = n->settings;
    if (s->listen) {
        int r = address_parse(&n->address, s->listen, e);
        if (r < 0 || !address_is_any(&n->address))
            return r < 0 ? err_prefix(e, "--listen") : 0;
    }
    return address_resolve(&n->address, s->peer, e);
}

int net_open(struct net **out, const struct settings *s, struct tape_reader *tape, struct err *e)
{
    struct net *n = calloc(1, sizeof *n);
    if (!n)
        return err_sys(e, ENOMEM, "cannot replay conversations");
    n->settings = s;
    n->tape = tape;
    n->rsh.in_fd = n->rsh.out_fd = -1;
    n->batch = calloc(EVENTS_BATCH_MAX, sizeof *n->batch);
    n->message = calloc(1, sizeof *n->message);
    int r = n->batch && n->message ? find_address(n, e) : err_sys(e, ENOMEM, "cannot replay conversations");
    if (r == 0)
        r = start_other_end(n, e);
    if (r == 0) {
        talk_init(&n->talk, MESSAGE_CLIENT, n->rsh.in_fd, n->rsh.out_fd, s->stall_timeout_ns);
        r = hello(n, e);
        n->broken = r < 0;
    }
    if (r < 0) {
        n->broken = true;
        net_close(n, NULL);
        return r;
    }
    process_files();
    *out = n;
    return 0;
}

static void close_repetition(struct net *n)
{
    flow_close(n->flow);
    net_feed_close(n->feed);
    n->flow = NULL;
    n->feed = NULL;
}

int net_close(struct net *n, struct err *e)
{
    if (!n)
        return 0;
    close_repetition(n);
    int r = n->broken ? 0 : talk_say(&n->talk, MESSAGE_BYE, e);
    int ended = rsh_end(&n->rsh, n->broken ? NS_PER_S : GOODBYE_NS, n->broken, n->broken || r < 0 ? NULL : e);
    if (n->broken)
        ended = 0;
    talk_release(&n->talk);
    bytes_release(&n->records);
    bytes_release(&n->tokens);
    chunk_exchange_release(&n->exchanges);
    free(n->batch);
    free(n->message);
    free(n);
    return r < 0 ? r : ended;
}

/* ---- the beginning of a repetition ---- */

static int begin(struct net *n, struct err *e)
{
    const struct settings *s = n->settings;
    struct message m = {.type = MESSAGE_BEGIN,
            .n = {[BEGIN_THREADS] = s->threads,
                    [BEGIN_TIMING] = (uint64_t)s->timing,
                    [BEGIN_SPEED_PPM] = (uint64_t)(s->speed * 1e6 + 0.5),
                    [BEGIN_STALL_TIMEOUT_NS] = s->stall_timeout_ns}};
    int r = talk_send(&n->talk, &m, e);
    if (r == 0)
        r = talk_receive(&n->talk, pace_now_ns() + s->stall_timeout_ns, n->message, e);
    else
        return net_blame(n, r, e);
    if (r == 0)
        return err_set(e, ETIMEDOUT, "the other end ('%s') does not get ready", n->rsh.name);
    if (r < 0)
        return net_blame(n, r, e);
    if (n->message->type == MESSAGE_REFUSED) {
        n->broken = true;
        return err_set(e, EPROTO, "the other end ('%s') refuses: %s", n->rsh.name, n->message->text);
    }
    return 0;
}

static int open_flow(struct net *n, struct err *e)
{
    const struct settings *s = n->settings;
    const uint64_t *ready = n->message->n;
    struct flow_options o = {.side = NET_INITIATOR,
            .threads = (unsigned)s->threads,
            .timing = (enum replay_timing)s->timing,
            .speed = s->speed,
            .stall_timeout_ns = s->stall_timeout_ns,
            .errors_max = s->max_errors,
            .address = n->address.at,
            .address_len = n->address.len,
            .tcp_ports = (unsigned)ready[READY_TCP_PORTS],
            .udp_port = (uint16_t)ready[READY_UDP_PORT],
            .results = net_store,
            .context = n};
    if (ready[READY_TCP_PORTS] < 1 || ready[READY_TCP_PORTS] > FLOW_PORTS_MAX ||
            ready[READY_UDP_PORT] > UINT16_MAX || ready[READY_WINDOW] < EVENTS_BATCH_MAX ||
            ready[READY_WINDOW] > UINT32_MAX)
        return err_set(e, EPROTO, "the other end offers what there is not");
    for (unsigned i = 0; i < o.tcp_ports; i++)
        o.tcp_port[i] = (uint16_t)ready[READY_TCP_PORT + i];
    n->window = ready[READY_WINDOW];
    return flow_open(&n->flow, &o, e);
}

/* Until there is no room, or nothing more, and the other end has all of it. */
static int fill(struct net *n, const volatile sig_atomic_t *stop, struct err *e)
{
    uint64_t moved_ns = pace_now_ns();
    for (;;) {
        uint64_t before = net_feed_events(n->feed), known = n->known;
        int r = net_step(n, e);
        if (r < 0)
            return r;
        uint64_t events = net_feed_events(n->feed), now_ns = pace_now_ns();
        if (events == before && n->known == events && flow_settled(n->flow))
            return 0;
        if (*stop)
            return err_set(e, EINTR, "cut short by a signal");
        if (events != before || n->known != known)
            moved_ns = now_ns;
        if (now_ns > moved_ns + n->settings->stall_timeout_ns)
            return err_set(e, ETIMEDOUT, "stalled before the start: %s",
                    n->known != events ? "the other end does not take the events"
                                       : "conversations that began before the recording do not open");
    }
}

int net_prepare(struct net *n, struct run_writer *run, uint32_t repetition, const volatile sig_atomic_t *stop,
        struct err *e)
{
    close_repetition(n);
    n->run = run;
    n->repetition = repetition;
    n->known = n->done_there = n->took_ns = 0;
    n->ended = n->have_results = false;
    n->lateness_there = (struct lateness){0};
    memset(n->there, 0, sizeof n->there);
    uint64_t until_ns = settings_until_ns(n->settings);
    int r = net_feed_open(&n->feed, n->tape, n->settings->from_ns, until_ns, e);
    if (r == 0)
        r = begin(n, e);
    if (r == 0)
        r = open_flow(n, e);
    return r < 0 ? r : fill(n, stop, e);
}

int net_describe(const struct net *n, struct facts *f, struct err *e)
{
    int r = facts_set(f, e, "kind", "peer");
    return r < 0 ? r : facts_set(f, e, "family", n->address.at.ss_family == AF_INET6 ? "IPv6" : "IPv4");
}
