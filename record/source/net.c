/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/source/net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/host_sys.h"
#include "formats/import/sorter.h"
#include "formats/net_packet.h"
#include "formats/net_pcap.h"

/* Packets of several interfaces, and of several queues of one, are sorted as far as they are apart. */
#define MARGIN_NS (100 * NS_PER_MS)
#define WINDOW    65536
#define READINGS  5

struct interface {
    char *name, *filter, *stream_name; /* owned; filter NULL: none */
    struct net_pcap *pcap;
    struct tape_stream described;
    uint32_t stream;
    uint64_t dropped;
    bool left;
};

struct net_source {
    struct interface *list;
    size_t count;
    const struct net_assembler_options *options;
    struct tape_writer *w;
    struct net_assembler *assembler;
    struct sorter *sorter;
    uint64_t start_ns, packets, dropped, late;
    uint64_t base_ns;  /* t at which the tape begins that is written */
    uint64_t taken_ns; /* all up to this t has left the sorter */
    int64_t ahead_ns;  /* CLOCK_MONOTONIC less CLOCK_REALTIME */
    uint64_t error_ns; /* largest of the conversions so far */
    bool measured;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
}

/* The tightest of a few readings. */
static void measure(struct net_source *s)
{
    int64_t ahead = 0, least = INT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        int64_t before = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME);
        int64_t after = clock_ns(CLOCK_MONOTONIC);
        if (after - before < least) {
            least = after - before;
            ahead = before + least / 2 - real;
        }
    }
    uint64_t error = (uint64_t)(least / 2) + (s->measured ? (uint64_t)llabs(ahead - s->ahead_ns) : 0);
    s->error_ns = error > s->error_ns ? error : s->error_ns;
    s->ahead_ns = ahead;
    s->measured = true;
}

/* ---- opening ---- */

static int interface_open(struct interface *f, const struct net_spec *named, struct err *e)
{
    const char *spec = named->interface;
    const char *colon = strchr(spec, ':');
    f->name = strndup(spec, colon ? (size_t)(colon - spec) : strlen(spec));
    f->filter = colon && colon[1] ? strdup(colon + 1) : NULL;
    f->stream_name = f->name ? strdup(named->name ? named->name : f->name) : NULL;
    if (!f->stream_name || (colon && colon[1] && !f->filter))
        return err_sys(e, ENOMEM, "cannot record '%s'", spec);
    return net_pcap_open_interface(&f->pcap, f->name, f->filter, e);
}

/* Filters name addresses: a tape tells them with the other names only. */
static int describe(struct interface *f, bool keep_names, struct err *e)
{
    struct tape_stream *t = &f->described;
    char text[64];
    static const char *const files[] = {"mtu", "speed", "operstate"};
    t->kind = TAPE_STREAM_NET;
    t->name = strdup(f->stream_name);
    int r = t->name ? 0 : err_sys(e, ENOMEM, "cannot begin to record");
    for (size_t i = 0; !r && i < sizeof files / sizeof *files; i++)
        if (sys_text(text, sizeof text, "/sys/class/net/%s/%s", f->name, files[i]))
            r = facts_set(&t->device, e, files[i], "%s", text);
    if (!r && f->filter)
        r = facts_set(&t->device, e, "filter", "%s", keep_names ? f->filter : "yes");
    return r;
}

int net_source_open(struct net_source **out, const struct net_spec *specs, size_t count,
        const struct net_assembler_options *options, struct err *e)
{
    struct net_source *s = calloc(1, sizeof *s);
    if (s)
        s->list = calloc(count, sizeof *s->list);
    int r = s && s->list ? sorter_open(&s->sorter, sizeof(struct net_packet), WINDOW, e)
                         : err_sys(e, ENOMEM, "cannot begin to record");
    for (size_t i = 0; !r && i < count; i++) {
        s->count = i + 1;
        r = interface_open(&s->list[i], &specs[i], e);
        if (!r)
            r = describe(&s->list[i], options->keep_names, e);
        for (size_t k = 0; !r && k < i; k++)
            if (strcmp(s->list[k].name, s->list[i].name) == 0)
                r = err_set(e, EINVAL, "interface '%s' is named twice", s->list[i].name);
    }
    if (r < 0) {
        net_source_close(s);
        return r;
    }
    s->options = options;
    measure(s);
    *out = s;
    return 0;
}

static void interface_release(struct interface *f)
{
    net_pcap_close(f->pcap);
    tape_stream_release(&f->described);
    free(f->name);
    free(f->filter);
    free(f->stream_name);
}

void net_source_close(struct net_source *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->list && i < s->count; i++)
        interface_release(&s->list[i]);
    free(s->list);
    sorter_close(s->sorter);
    net_assembler_close(s->assembler);
    free(s);
}

static int begin_tape(struct net_source *s, struct tape_writer *w, struct err *e)
{
    int r = net_assembler_open(&s->assembler, s->options, w, e);
    s->w = w;
    for (size_t i = 0; !r && i < s->count; i++)
        r = tape_writer_stream(w, &s->list[i].described, &s->list[i].stream, e);
    return r;
}

int net_source_begin(struct net_source *s, uint64_t start_ns, struct tape_writer *w, struct err *e)
{
    s->start_ns = start_ns;
    return begin_tape(s, w, e);
}

/* ---- packets ---- */

static int leave(struct net_source *s, struct err *e)
{
    const struct net_packet *p = sorter_pop(s->sorter);
    if (!p)
        return 0;
    s->taken_ns = p->t_ns;
    struct net_packet mine = *p;
    mine.t_ns -= s->base_ns;
    mine.stream = s->list[p->stream].stream; /* of this tape: another one may number them otherwise */
    int r = net_assembler_take(s->assembler, &mine, e);
    return r < 0 ? r : 1;
}

static int take(struct net_source *s, const struct interface *f, const struct net_frame *frame, struct err *e)
{
    struct net_packet p;
    int64_t t = (int64_t)frame->unix_ns + s->ahead_ns - (int64_t)s->start_ns;
    if (t < 0)
        return 0;
    enum net_verdict v =
            net_packet_parse(net_pcap_link(f->pcap), frame->data, frame->captured, frame->wire_bytes, &p);
    if (v != NET_PACKET_TAKEN) {
        net_assembler_skip(s->assembler, v);
        return 0;
    }
    s->packets++;
    p.stream = (uint32_t)(f - s->list); /* leave() has its number in the tape */
    p.t_ns = (uint64_t)t;
    if (p.t_ns < s->taken_ns) { /* later than the margin: the clock was set, or we were not run for long */
        p.t_ns = s->taken_ns;
        s->late++;
    }
    int r = sorter_full(s->sorter) ? leave(s, e) : 0;
    if (r > 0 && p.t_ns < s->taken_ns)
        p.t_ns = s->taken_ns;
    return r < 0 ? r : sorter_push(s->sorter, p.t_ns, &p, e);
}

static void count_dropped(struct net_source *s, struct interface *f)
{
    uint64_t dropped = net_pcap_dropped(f->pcap);
    if (dropped > f->dropped)
        tape_writer_lost(s->w, f->stream, dropped - f->dropped);
    s->dropped += dropped - f->dropped;
    f->dropped = dropped;
}

static void leave_interface(struct net_source *s, struct interface *f, uint64_t t_ns)
{
    char key[176];
    count_dropped(s, f);
    net_pcap_close(take_ptr(f->pcap));
    f->left = true;
    snprintf(key, sizeof key, "left_ns.%.160s", f->stream_name);
    tape_writer_count(s->w, key, t_ns);
}

/* The host has it no more. */
static void interface_gone(struct net_source *s, struct interface *f)
{
    char time[UNITS_TEXT_BYTES];
    uint64_t t_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC) - s->start_ns;
    leave_interface(s, f, t_ns);
    fprintf(stderr, "iotape-record: interface %s left after %s\n", f->stream_name,
            units_duration(t_ns, time));
}

/* At most WINDOW packets of one before the next one's turn: none starves. */
static int drain_interface(struct net_source *s, struct interface *f, struct err *e)
{
    struct net_frame frame;
    struct err why = {0};
    int more = 1;
    for (unsigned n = 0; n < WINDOW && (more = net_pcap_next(f->pcap, &frame, &why)) == 1; n++) {
        int r = take(s, f, &frame, e);
        if (r < 0)
            return r;
    }
    if (more == -ENODEV)
        interface_gone(s, f);
    else if (more < 0)
        return err_set(e, -more, "%s", why.text);
    else
        count_dropped(s, f);
    return 0;
}

static int drain(struct net_source *s, struct err *e)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < s->count; i++)
        if (!s->list[i].left)
            r = drain_interface(s, &s->list[i], e);
    return r;
}

static int release(struct net_source *s, uint64_t until_ns, struct err *e)
{
    uint64_t next_ns;
    int r = 0;
    while (!r && sorter_earliest(s->sorter, &next_ns) && next_ns < until_ns)
        r = leave(s, e) < 0 ? -1 : 0;
    s->taken_ns = until_ns > s->taken_ns ? until_ns : s->taken_ns;
    return r < 0 ? -e->code
                 : net_assembler_advance(s->assembler, until_ns > s->base_ns ? until_ns - s->base_ns : 0, e);
}

int net_source_step(struct net_source *s, struct err *e)
{
    measure(s);
    uint64_t now_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC) - s->start_ns;
    int r = drain(s, e);
    return r < 0 ? r : release(s, now_ns > MARGIN_NS ? now_ns - MARGIN_NS : 0, e);
}

/* What is written of this tape is all of it. */
static int end_tape(struct net_source *s, uint64_t end_ns, struct err *e)
{
    int r = net_assembler_finish(s->assembler, (end_ns > s->taken_ns ? end_ns : s->taken_ns) - s->base_ns, e);
    if (!r)
        tape_writer_count(s->w, "net_clock_error_ns", s->error_ns);
    if (!r && s->late)
        tape_writer_count(s->w, "late_packets", s->late);
    s->late = 0;
    return r;
}

/* A packet is in the ring a little after it was stamped. */
int net_source_finish(struct net_source *s, uint64_t end_ns, struct err *e)
{
    const struct timespec little = {0, NS_PER_MS};
    nanosleep(&little, NULL);
    measure(s);
    int r = drain(s, e);
    if (!r)
        r = release(s, end_ns, e);
    return r ? r : end_tape(s, end_ns, e);
}

int net_source_cut(
        struct net_source *s, uint64_t *cut_ns, uint64_t *end_ns, struct tape_writer *next, struct err *e)
{
    if (!*cut_ns)
        *cut_ns = s->taken_ns;
    int r = release(s, *cut_ns, e);
    if (!r)
        r = end_tape(s, *cut_ns, e);
    if (r < 0)
        return r;
    *end_ns = s->taken_ns;
    net_assembler_close(take_ptr(s->assembler));
    s->base_ns = *cut_ns;
    return begin_tape(s, next, e);
}

/* ---- those that come and go ---- */

static bool has_stream(const struct net_source *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].stream_name, name) == 0)
            return true;
    return false;
}

/* Another stream where one of that name was before. */
static int name_again(const struct net_source *s, struct interface *f, struct err *e)
{
    char text[160];
    snprintf(text, sizeof text, "%s", f->stream_name);
    for (size_t n = 2; has_stream(s, text); n++)
        snprintf(text, sizeof text, "%.120s%zu", f->stream_name, n);
    free(f->stream_name);
    f->stream_name = strdup(text);
    return f->stream_name ? 0 : err_sys(e, ENOMEM, "cannot record '%s'", f->name);
}

int net_source_join(struct net_source *s, const struct net_spec *spec, struct err *e)
{
    struct interface *more = reallocarray(s->list, s->count + 1, sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot record '%s'", spec->interface);
    s->list = more;
    struct interface *f = &more[s->count];
    *f = (struct interface){0};
    int r = interface_open(f, spec, e);
    if (!r)
        r = name_again(s, f, e);
    if (!r)
        r = describe(f, s->options->keep_names, e);
    if (!r)
        r = tape_writer_stream(s->w, &f->described, &f->stream, e);
    if (r < 0)
        interface_release(f);
    else
        s->count++;
    return r;
}

bool net_source_leave(struct net_source *s, const char *interface, uint64_t t_ns)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].left && strcmp(s->list[i].name, interface) == 0) {
            leave_interface(s, &s->list[i], t_ns);
            return true;
        }
    return false;
}

bool net_source_left(const struct net_source *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].left)
            return false;
    return true;
}

uint64_t net_source_packets(const struct net_source *s)
{
    return s->packets;
}

uint64_t net_source_dropped(const struct net_source *s)
{
    return s->dropped;
}
