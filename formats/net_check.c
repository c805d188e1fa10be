/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "formats/base/random.h"
#include "formats/identity.h"

/* A conversation that is open. `got` is what the peer may wait for: bytes and FIN, or datagrams. */
struct talk {
    uint64_t got[NET_SIDES];
    uint64_t answered; /* watermark of the responder's latest data */
    uint32_t number, client, stream;
    uint8_t protocol;
    bool used, left; /* left: it has ended for its client */
    bool fin[NET_SIDES];
};

/* A hash table with open addressing, never more than half full. */
struct net_check {
    struct talk *slots;
    size_t room, count;
    uint64_t *ended; /* conversations that have ended for a client, by host */
    size_t ended_count;
    uint64_t last_ns;
    uint64_t key; /* of the table: a tape shall not choose its places */
};

int net_check_open(struct net_check **k, struct err *e)
{
    *k = calloc(1, sizeof **k);
    if (!*k)
        return err_sys(e, ENOMEM, "cannot follow conversations");
    if (getrandom(&(*k)->key, sizeof(*k)->key, 0) != sizeof(*k)->key)
        (*k)->key = (uintptr_t)*k;
    return 0;
}

void net_check_close(struct net_check *k)
{
    if (!k)
        return;
    free(k->slots);
    free(k->ended);
    free(k);
}

size_t net_check_open_count(const struct net_check *k)
{
    return k->count;
}

static size_t home(const struct net_check *k, uint32_t number)
{
    return (size_t)random_mix(number ^ k->key) & (k->room - 1);
}

static struct talk *find(const struct net_check *k, uint32_t number)
{
    if (!k->room)
        return NULL;
    size_t i = home(k, number);
    while (k->slots[i].used && k->slots[i].number != number)
        i = (i + 1) & (k->room - 1);
    return k->slots[i].used ? &k->slots[i] : NULL;
}

static void put(struct net_check *k, const struct talk *t)
{
    size_t i = home(k, t->number);
    while (k->slots[i].used)
        i = (i + 1) & (k->room - 1);
    k->slots[i] = *t;
    k->count++;
}

/* What stood behind it in its run moves up, so that no search ends early. */
static void drop(struct net_check *k, struct talk *t)
{
    size_t gap = (size_t)(t - k->slots), i = gap;
    for (;;) {
        i = (i + 1) & (k->room - 1);
        if (!k->slots[i].used)
            break;
        size_t want = home(k, k->slots[i].number);
        if (((i - want) & (k->room - 1)) >= ((i - gap) & (k->room - 1))) {
            k->slots[gap] = k->slots[i];
            gap = i;
        }
    }
    k->slots[gap].used = false;
    k->count--;
}

static int grow(struct net_check *k, struct err *e)
{
    struct net_check larger = {.room = k->room ? k->room * 2 : 256, .key = k->key};
    if (k->count * 2 < k->room)
        return 0;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return err_sys(e, ENOMEM, "cannot follow conversations");
    for (size_t i = 0; i < k->room; i++)
        if (k->slots[i].used)
            put(&larger, &k->slots[i]);
    free(k->slots);
    k->slots = larger.slots;
    k->room = larger.room;
    return 0;
}

static int grow_hosts(struct net_check *k, size_t count, struct err *e)
{
    if (count <= k->ended_count)
        return 0;
    size_t room = count < 2 * k->ended_count ? 2 * k->ended_count : count;
    uint64_t *ended = reallocarray(k->ended, room, sizeof *ended);
    if (!ended)
        return err_sys(e, ENOMEM, "cannot follow conversations");
    memset(ended + k->ended_count, 0, (room - k->ended_count) * sizeof *ended);
    k->ended = ended;
    k->ended_count = room;
    return 0;
}

static int refuse(struct err *e, const struct net_event *ev, const char *why)
{
    return err_set(e, EINVAL, "an event ('%s' of conversation %" PRIu32 " at %" PRIu64 " ns) %s",
            ev->kind < NET_KINDS ? net_kind_name(ev->kind) : "?", ev->conversation, ev->t_ns, why);
}

static int check_values(const struct net_check *k, const struct net_event *ev, struct err *e)
{
    if (ev->kind >= NET_KINDS || ev->side >= NET_SIDES || ev->flags >> NET_FLAGS)
        return refuse(e, ev, "has an unknown kind, side or flag");
    if (ev->t_ns < k->last_ns)
        return refuse(e, ev, "stands behind a later one");
    if (ev->think_ns > ev->t_ns)
        return refuse(e, ev, "has a think time that begins before the tape");
    if (ev->bytes && ev->kind != NET_DATA)
        return refuse(e, ev, "has bytes, but is no data");
    return 0;
}

static int connect(struct net_check *k, const struct net_event *ev, const struct net_conversation *c,
        size_t host_count, struct tape_totals *t, struct err *e)
{
    if (!c || ev->side != NET_INITIATOR || ev->conversation != t->net.conversations ||
            ev->conversation >= NET_CONVERSATIONS_MAX)
        return refuse(e, ev, "does not begin the next conversation");
    if (c->client >= host_count || c->server >= host_count || c->stream >= t->stream_count ||
            c->protocol >= NET_PROTOCOLS || c->marks >> NET_MARKS)
        return refuse(e, ev, "is of an unknown host, stream, protocol or mark");
    if (k->count == NET_OPEN_MAX)
        return refuse(e, ev, "is one of too many that are open at once");
    int r = grow_hosts(k, host_count, e);
    if (!r)
        r = grow(k, e);
    if (r < 0)
        return r;
    if (ev->watermark > (c->marks & NET_BEGAN_BEFORE ? 0 : k->ended[c->client]))
        return refuse(e, ev, "waits for more ended conversations than there are");
    struct talk talk = {.number = ev->conversation,
            .client = c->client,
            .stream = c->stream,
            .protocol = c->protocol,
            .used = true};
    put(k, &talk);
    identity_add_conversation(&t->identity, t->net.conversations++, c);
    t->net.open++;
    t->streams[c->stream].open++;
    return 0;
}

static const char *why_not(const struct talk *t, const struct net_event *ev)
{
    bool own = t->fin[ev->side], others = t->fin[1 - ev->side], tcp = t->protocol == NET_TCP;
    if (ev->watermark > t->got[1 - ev->side])
        return "waits for more than its peer has sent";
    switch (ev->kind) {
    case NET_ACCEPT:
        return tcp && ev->side == NET_RESPONDER ? NULL : "accepts what it cannot";
    case NET_DATA:
        if (own || (tcp && !ev->bytes) || ev->bytes > NET_SIDE_BYTES_MAX - t->got[ev->side])
            return "has no bytes, too many, or comes after its side's end";
        return NULL;
    case NET_HALF_CLOSE:
        return tcp && !own && !others ? NULL : "is not the first end of a side";
    case NET_CLOSE:
        return tcp && !own && others ? NULL : "is not the second end of a side";
    case NET_RESET:
        return tcp ? NULL : "resets what is no TCP";
    default:
        return ev->side == NET_INITIATOR ? NULL : "cuts for the responder";
    }
}

static void leave(struct net_check *k, struct talk *t, const struct net_event *ev)
{
    bool leaves = ev->kind == NET_RESET ||
                  (ev->side == NET_INITIATOR && (ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE));
    if (leaves && !t->left) {
        t->left = true;
        k->ended[t->client]++;
    }
}

static void count_data(struct talk *talk, const struct net_event *ev, struct tape_totals *t)
{
    struct tape_stream_totals *s = &t->streams[talk->stream];
    talk->got[ev->side] += talk->protocol == NET_UDP ? 1 : ev->bytes;
    t->net.sent_bytes[ev->side] += ev->bytes;
    *(ev->side == NET_INITIATOR ? &s->written_bytes : &s->read_bytes) += ev->bytes;
    if (ev->side == NET_RESPONDER && ev->watermark > talk->answered) {
        talk->answered = ev->watermark;
        t->net.exchanges++;
    }
}

static void count_end(
        struct net_check *k, struct talk *talk, const struct net_event *ev, struct tape_totals *t)
{
    if (ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE) {
        talk->fin[ev->side] = true;
        talk->got[ev->side]++;
    }
    leave(k, talk, ev);
    if (ev->kind == NET_CLOSE || ev->kind == NET_RESET) {
        t->net.open--;
        t->streams[talk->stream].open--;
    }
}

/* Any event but a connect. */
static int go_on(struct net_check *k, const struct net_event *ev, struct tape_totals *t, struct err *e)
{
    struct talk *talk = find(k, ev->conversation);
    const char *why = !talk ? "belongs to no open conversation" : why_not(talk, ev);
    if (why)
        return refuse(e, ev, why);
    if (ev->kind == NET_DATA)
        count_data(talk, ev, t);
    count_end(k, talk, ev, t);
    t->streams[talk->stream].records++;
    if (net_kind_ends(ev->kind))
        drop(k, talk);
    return 0;
}

int net_check_event(struct net_check *k, const struct net_event *ev, const struct net_conversation *c,
        size_t host_count, struct tape_totals *t, struct err *e)
{
    int r = check_values(k, ev, e);
    if (!r)
        r = ev->kind == NET_CONNECT ? connect(k, ev, c, host_count, t, e) : go_on(k, ev, t, e);
    if (r < 0)
        return r;
    if (ev->kind == NET_CONNECT)
        t->streams[c->stream].records++;
    identity_add_event(&t->identity, t->net.events++, ev);
    if (ev->t_ns > t->elapsed_ns)
        t->elapsed_ns = ev->t_ns;
    k->last_ns = ev->t_ns;
    return 0;
}
