/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Conversations of sockets: who sent how much in what sizes, what a message waited for, how many were open at
 * once. Messages are data events, one each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/underway.h"
#include "analyze/profile/values.h"
#include "analyze/profile/words.h"
#include "analyze/show.h"

#define VALUES (2 * NET_SIDES + 1)

/* How many are open, of a stream or of all. */
struct open_count {
    uint64_t open, now_ns;
    unsigned __int128 sum; /* of `open` times time, until now_ns */
};

struct sockets_state {
    struct values values[VALUES]; /* as values_of */
    bool opened[VALUES], again;
    struct underway underway;
    struct open_count all, *streams;
};

static struct profile_values *values_of(struct profile_sockets *s, unsigned i)
{
    return i < NET_SIDES ? &s->size[i] : i < 2 * NET_SIDES ? &s->think[i - NET_SIDES] : &s->length;
}

static void sockets_close(void *state)
{
    struct sockets_state *s = state;
    if (!s)
        return;
    for (unsigned i = 0; i < VALUES; i++)
        if (s->opened[i])
            values_close(&s->values[i]);
    underway_release(&s->underway);
    free(s->streams);
    free(s);
}

static int open_values(struct sockets_state *s, struct err *e)
{
    for (unsigned i = 0; i < VALUES; i++) {
        int rc = values_open(&s->values[i], e);
        if (rc < 0)
            return rc;
        s->opened[i] = true;
    }
    return 0;
}

static int sockets_open(void **state, struct profile *p, struct err *e)
{
    if (!p->net.conversations) /* a tape of disks spends nothing on this */
        return 0;
    struct sockets_state *s = calloc(1, sizeof *s);
    if (s)
        s->streams = calloc(p->stream_count + 1, sizeof *s->streams);
    int rc = s && s->streams ? open_values(s, e) : err_sys(e, ENOMEM, "cannot profile the tape");
    if (rc < 0)
        sockets_close(s);
    else
        *state = s;
    return rc;
}

/* ---- first pass: sums, and how many are open ---- */

static void account(struct open_count *c, uint64_t to_ns)
{
    if (to_ns <= c->now_ns)
        return;
    c->sum += (unsigned __int128)c->open * (to_ns - c->now_ns);
    c->now_ns = to_ns;
}

static void count_open(struct open_count *c, struct profile_sockets_sum *sum, uint64_t t_ns, bool begins)
{
    account(c, t_ns);
    c->open += begins ? 1 : UINT64_MAX;
    sum->conversations += begins;
    sum->open_max = sum->open_max > c->open ? sum->open_max : c->open;
}

static void count_message(struct profile_sockets_sum *sum, const struct net_event *ev)
{
    sum->messages[ev->side]++;
    sum->bytes[ev->side] = profile_add(sum->bytes[ev->side], ev->bytes);
}

static void first_pass(
        struct sockets_state *s, struct profile *p, const struct net_event *ev, uint32_t stream)
{
    bool begins = ev->kind == NET_CONNECT;
    if (ev->kind == NET_DATA) {
        count_message(&p->sockets.all, ev);
        count_message(&p->streams[stream].sockets, ev);
    } else if (begins || net_kind_ends(ev->kind)) {
        count_open(&s->all, &p->sockets.all, ev->t_ns, begins);
        count_open(&s->streams[stream], &p->streams[stream].sockets, ev->t_ns, begins);
    }
}

static double mean_open(struct open_count *c, uint64_t elapsed_ns)
{
    account(c, elapsed_ns);
    return elapsed_ns ? (double)c->sum / (double)elapsed_ns : 0;
}

/* ---- each pass ---- */

static void show_values(struct sockets_state *s, struct profile *p, const struct net_event *ev,
        const struct underway_one *one)
{
    struct profile_sockets *out = &p->sockets;
    if (ev->kind == NET_DATA) {
        values_add(&s->values[ev->side], &out->size[ev->side], ev->bytes);
        values_add(&s->values[NET_SIDES + ev->side], &out->think[ev->side], ev->think_ns);
    } else if (one->begin_known && (ev->kind == NET_CLOSE || ev->kind == NET_RESET)) {
        values_add(&s->values[2 * NET_SIDES], &out->length, ev->t_ns - one->begin_ns);
    }
}

static int begin(
        struct sockets_state *s, const struct net_event *ev, const struct net_conversation *c, struct err *e)
{
    struct underway_one one = {.begin_ns = ev->t_ns,
            .key = ev->conversation + UINT64_C(1),
            .stream = c->stream,
            .begin_known = !(c->marks & NET_BEGAN_BEFORE)};
    return underway_add(&s->underway, one, e);
}

static int sockets_feed_net(void *state, struct profile *p, const struct net_chunk *c, struct err *e)
{
    struct sockets_state *s = state;
    const struct net_conversation *next = c->conversations;
    if (!s)
        return err_set(e, EBADMSG, "the tape holds events, but says that it has no conversations");
    for (uint32_t i = 0; i < c->count; i++) {
        struct net_event ev = net_chunk_get(c, i);
        int rc = ev.kind == NET_CONNECT ? begin(s, &ev, next++, e) : 0;
        if (rc < 0)
            return rc;
        struct underway_one *one = underway_find(&s->underway, ev.conversation);
        if (!one)
            return err_set(e, EBADMSG, "conversation %" PRIu32 " goes on, but is not open", ev.conversation);
        if (!s->again)
            first_pass(s, p, &ev, one->stream);
        show_values(s, p, &ev, one);
        if (net_kind_ends(ev.kind))
            underway_remove(&s->underway, one);
    }
    return 0;
}

static int sockets_next(void *state, struct profile *p, struct err *e)
{
    struct sockets_state *s = state;
    int more = 0;
    (void)e;
    if (!s)
        return 0;
    for (size_t i = 0; !s->again && i < p->stream_count; i++)
        p->streams[i].sockets.open_mean = mean_open(&s->streams[i], p->elapsed_ns);
    if (!s->again)
        p->sockets.all.open_mean = mean_open(&s->all, p->elapsed_ns);
    s->again = true;
    underway_reset(&s->underway);
    for (unsigned i = 0; i < VALUES; i++)
        more |= values_next(&s->values[i], values_of(&p->sockets, i));
    return more;
}

/* ---- as text ---- */

static const char *const senders[NET_SIDES] = {"initiators", "responders"};

static void direction_lines(const struct profile_sockets *s, struct out *o)
{
    const struct profile_sockets_sum *a = &s->all;
    char bytes[UNITS_TEXT_BYTES], share[UNITS_TEXT_BYTES];
    uint64_t messages = profile_add(a->messages[0], a->messages[1]);
    uint64_t all_bytes = profile_add(a->bytes[0], a->bytes[1]);
    out_printf(o, "  %-13s%12s%12s%12s%12s\n", "sent by", "messages", "share", "bytes", "share");
    for (unsigned side = 0; side < NET_SIDES; side++) {
        out_printf(o, "  %-13s%12" PRIu64 "%12s", senders[side], a->messages[side],
                words_share(a->messages[side], messages, share));
        out_printf(o, "%12s%12s\n", units_size(a->bytes[side], bytes),
                words_share(a->bytes[side], all_bytes, share));
    }
}

static void values_lines(const struct profile_sockets *s, struct out *o)
{
    words_title(o, "Message sizes", "bytes of one send, of UDP of one datagram");
    words_values_head(o);
    for (unsigned side = 0; side < NET_SIDES; side++)
        if (s->size[side].count)
            words_values(o, senders[side], &s->size[side], units_size);
    words_title(o, "Think times", "between what a message waited for and the message");
    words_values_head(o);
    for (unsigned side = 0; side < NET_SIDES; side++)
        if (s->think[side].count)
            words_values(o, senders[side], &s->think[side], units_duration);
    if (!s->length.count)
        return;
    words_title(o, "Length of conversations", "those whose begin and end were seen");
    words_values_head(o);
    words_values(o, "all", &s->length, units_duration);
}

static void interface_lines(const struct profile *p, struct out *o)
{
    size_t listed = 0, more = 0;
    words_title(o, "Interfaces", "");
    for (size_t i = 0; i < p->stream_count; i++) {
        const struct profile_sockets_sum *s = &p->streams[i].sockets;
        char there[UNITS_TEXT_BYTES], back[UNITS_TEXT_BYTES], mean[UNITS_TEXT_BYTES];
        if (!s->conversations || listed == WORDS_STREAMS_MAX) {
            more += s->conversations > 0;
            continue;
        }
        listed++;
        out_text(o, "  ");
        show_clean(o, p->streams[i].name);
        out_text(o, ": ");
        words_count(o, s->conversations, "conversation", "s");
        out_printf(o, ", open at once %s on average, %" PRIu64 " at most; ", words_number(s->open_mean, mean),
                s->open_max);
        words_count(o, s->messages[0], "message", "s");
        out_printf(o, " of %s by initiators, %" PRIu64 " of %s by responders\n",
                units_size(s->bytes[0], there), s->messages[1], units_size(s->bytes[1], back));
    }
    if (more) {
        out_text(o, "  and ");
        words_count(o, more, "interface", "s");
        out_text(o, " more (--json has all)\n");
    }
}

static void sockets_text(const struct profile *p, struct out *o)
{
    char mean[UNITS_TEXT_BYTES];
    const struct net_totals *n = &p->net;
    if (!n->conversations)
        return;
    words_title(o, "Sockets", "conversations, by who began them");
    out_text(o, "  ");
    words_count(o, n->conversations, "conversation", "s");
    out_text(o, ", ");
    words_count(o, n->events, "event", "s");
    out_text(o, "; ");
    words_count(o, n->exchanges, "answer", "s");
    out_text(o, " to requests; ");
    words_count(o, n->open, "conversation", "s");
    out_text(o, " without an end in the tape\n");
    out_printf(o, "  open at once: mean over time %s, greatest %" PRIu64 "\n",
            words_number(p->sockets.all.open_mean, mean), p->sockets.all.open_max);
    direction_lines(&p->sockets, o);
    values_lines(&p->sockets, o);
    interface_lines(p, o);
}

/* ---- as JSON ---- */

static struct json *side_json(const struct profile_sockets_sum *s, unsigned side)
{
    struct json *j = json_new_object();
    int bad = json_put_u64(j, "messages", s->messages[side]);
    bad |= json_put_u64(j, "bytes", s->bytes[side]);
    return words_whole(j, bad);
}

/* Of all conversations with the distributions in `s`, of a stream's (NULL) without. */
static int put_sum(struct json *j, const struct profile *p, const struct profile_sockets_sum *sum,
        const struct profile_sockets *s)
{
    int bad = json_put_u64(j, "conversations", sum->conversations);
    for (unsigned side = 0; side < NET_SIDES; side++) {
        struct json *part = side_json(sum, side);
        if (s) {
            bad |= json_put(part, "size", words_values_json(&s->size[side], "bytes"));
            bad |= json_put(part, "think", words_values_json(&s->think[side], "ns"));
        }
        bad |= json_put(j, net_side_name(side), part);
    }
    bad |= json_put_u64(j, "open_max", sum->open_max);
    bad |= p->elapsed_ns ? json_put_double(j, "open_mean", sum->open_mean)
                         : json_put_text(j, "open_mean", NULL);
    return bad;
}

static struct json *sockets_json(const struct profile *p)
{
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = put_sum(j, p, &p->sockets.all, &p->sockets);
    bad |= json_put(j, "length", words_values_json(&p->sockets.length, "ns"));
    bad |= json_put_u64(j, "events", p->net.events);
    bad |= json_put_u64(j, "exchanges", p->net.exchanges);
    bad |= json_put_u64(j, "open", p->net.open);
    for (size_t i = 0; i < p->stream_count; i++) {
        struct json *stream = json_new_object();
        bad |= put_sum(stream, p, &p->streams[i].sockets, NULL);
        bad |= json_add(streams, stream);
    }
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

const struct profile_aspect profile_sockets = {
        .name = "sockets",
        .open = sockets_open,
        .feed_net = sockets_feed_net,
        .next = sockets_next,
        .close = sockets_close,
        .text = sockets_text,
        .json = sockets_json,
};
