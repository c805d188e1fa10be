/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/message.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/pack.h"
#include "replay/peer/events.h"

#define CLIENT (1U << MESSAGE_CLIENT)
#define SERVER (1U << MESSAGE_SERVER)

enum state { START, MET, IDLE, BEGUN, FILLING, FILLED, RUNNING, DRAINING, STOPPING, OVER, STATES };

#define IN(state) (1U << (state))
#define MEASURED  (IN(FILLING) | IN(FILLED) | IN(RUNNING) | IN(DRAINING))
#define AFTER_MET (IN(IDLE) | IN(BEGUN) | MEASURED | IN(STOPPING))

static const struct form {
    const char *name;
    unsigned from;   /* who may send it */
    unsigned states; /* and when */
    size_t numbers, bins;
    bool has_text;
    size_t bin_max[MESSAGE_BINS_MAX];
} forms[MESSAGE_TYPES] = {
        [MESSAGE_HELLO] = {"hello", CLIENT | SERVER, IN(START) | IN(MET), HELLO_NUMBERS, 0, true, {0}},
        [MESSAGE_BEGIN] = {"begin", CLIENT, IN(IDLE), BEGIN_NUMBERS, 0, false, {0}},
        [MESSAGE_READY] = {"ready", SERVER, IN(BEGUN), READY_NUMBERS, 0, false, {0}},
        [MESSAGE_EVENTS] = {"events", CLIENT, IN(FILLING) | IN(RUNNING), EVENTS_NUMBERS, 2, false,
                {EVENTS_BATCH_MAX * EVENTS_RECORD_BYTES, EVENTS_BATCH_MAX *EVENTS_TOKEN_BYTES}},
        [MESSAGE_TAKEN] = {"taken", SERVER, MEASURED | IN(STOPPING), TAKEN_NUMBERS, 0, false, {0}},
        [MESSAGE_END] = {"end", CLIENT, IN(FILLING) | IN(RUNNING), END_NUMBERS, 0, false, {0}},
        [MESSAGE_GO] = {"go", CLIENT, IN(FILLING) | IN(FILLED), 0, 0, false, {0}},
        [MESSAGE_FAILED] = {"failed", SERVER, MEASURED | IN(STOPPING), 0, 0, true, {0}},
        /* It may cross the results. */
        [MESSAGE_STOP] = {"stop", CLIENT, MEASURED | IN(IDLE), 0, 0, false, {0}},
        [MESSAGE_RESULTS] = {"results", SERVER, IN(DRAINING) | IN(STOPPING), RESULTS_NUMBERS, 1, false,
                {MESSAGE_LATENESS_MAX * 16, 0}},
        [MESSAGE_REFUSED] = {"refused", SERVER, IN(START) | IN(MET) | AFTER_MET, 0, 0, true, {0}},
        [MESSAGE_ALIVE] = {"alive", CLIENT | SERVER, AFTER_MET, 0, 0, false, {0}},
        /* So may this. */
        [MESSAGE_ABSENT] = {"absent", CLIENT, MEASURED | IN(IDLE), ABSENT_NUMBERS, 0, false, {0}},
        [MESSAGE_BYE] = {"bye", CLIENT, IN(IDLE), 0, 0, false, {0}},
};

_Static_assert(READY_NUMBERS <= MESSAGE_NUMBERS_MAX && RESULTS_NUMBERS <= MESSAGE_NUMBERS_MAX, "room");

const char *message_name(enum message_type type)
{
    return type < MESSAGE_TYPES ? forms[type].name : "unknown";
}

/* ---- order ---- */

/* The state after a message that is allowed in `state`. */
static enum state next_state(enum state state, enum message_type type)
{
    switch (type) {
    case MESSAGE_HELLO:
        return state == START ? MET : IDLE;
    case MESSAGE_BEGIN:
        return BEGUN;
    case MESSAGE_READY:
        return FILLING;
    case MESSAGE_END:
        return state == FILLING ? FILLED : DRAINING;
    case MESSAGE_GO:
        return state == FILLING ? RUNNING : DRAINING;
    case MESSAGE_STOP:
        return state == IDLE ? IDLE : STOPPING;
    case MESSAGE_RESULTS:
        return IDLE;
    case MESSAGE_REFUSED:
    case MESSAGE_BYE:
        return OVER;
    default:
        return state;
    }
}

int message_in_order(struct message_order *o, enum message_end from, enum message_type type, struct err *e)
{
    static const char *const ends[] = {"the client", "the server"};
    enum state state = (enum state)o->state;
    const struct form *f = &forms[type];
    bool turn = type != MESSAGE_HELLO || from == (state == START ? MESSAGE_CLIENT : MESSAGE_SERVER);
    if (!(f->from & (1U << from)) || !(f->states & IN(state)) || !turn)
        return err_set(e, EPROTO, "%s sent '%s' out of turn", ends[from], f->name);
    o->state = (uint8_t)next_state(state, type);
    return 0;
}

/* ---- packing ---- */

int message_pack(const struct message *m, struct bytes *out, struct err *e)
{
    const struct form *f = &forms[m->type];
    struct packer p = {.out = out};
    out->len = 0;
    pack_array(&p, 1 + f->numbers + f->has_text + f->bins);
    pack_uint(&p, m->type);
    for (size_t i = 0; i < f->numbers; i++)
        pack_uint(&p, m->n[i]);
    if (f->has_text)
        pack_str(&p, m->text);
    for (size_t i = 0; i < f->bins; i++)
        pack_bin(&p, m->bin[i], m->bin_len[i]);
    return packer_end(&p, e);
}

/* It may be shown: without what a terminal would obey. */
static bool take_text(struct value v, char text[MESSAGE_TEXT_MAX + 1])
{
    const char *s;
    size_t len;
    if (!value_str(v, &s, &len) || len > MESSAGE_TEXT_MAX || memchr(s, 0, len))
        return false;
    for (size_t i = 0; i < len; i++)
        text[i] = iscntrl((unsigned char)s[i]) ? '?' : s[i];
    text[len] = 0;
    return true;
}

/* The parts of an array that has as many as it must. */
static bool take_parts(struct message *m, const struct form *f, struct value array)
{
    size_t at = 1;
    for (size_t i = 0; i < f->numbers; i++)
        if (!value_uint(value_at(array, at++), &m->n[i]))
            return false;
    m->text[0] = 0;
    if (f->has_text && !take_text(value_at(array, at++), m->text))
        return false;
    for (size_t i = 0; i < f->bins; i++)
        if (!value_bin(value_at(array, at++), &m->bin[i], &m->bin_len[i]) || m->bin_len[i] > f->bin_max[i])
            return false;
    return true;
}

int message_unpack(struct message *m, struct unpacked **u, const uint8_t *data, size_t len, struct err *e)
{
    uint64_t type;
    unpacked_release(u);
    int r = unpack(u, data, len, 2 + MESSAGE_NUMBERS_MAX + MESSAGE_BINS_MAX, e);
    if (r < 0) {
        err_prefix(e, "a control message");
        return r == -ENOMEM ? r : -EPROTO;
    }
    struct value array = unpacked_root(*u);
    if (!value_is_array(array) || !value_uint(value_at(array, 0), &type) || type >= MESSAGE_TYPES)
        return err_set(e, EPROTO, "a control message of unknown type");
    const struct form *f = &forms[type];
    m->type = (enum message_type)type;
    if (value_count(array) != 1 + f->numbers + f->has_text + f->bins || !take_parts(m, f, array))
        return err_set(e, EPROTO, "a malformed control message '%s'", f->name);
    return 0;
}
