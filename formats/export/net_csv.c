/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Events of conversations as CSV, one line each:
 *
 *     t_ns,conversation,side,event,bytes,watermark,think_ns,flags,stream,protocol,client,client_port,server,server_port,marks
 *
 * Conversations are counted from 1. What follows flags is told by the connect of a conversation and empty in
 * the lines of its other events.
 */
#include <inttypes.h>

#include "formats/base/csv_text.h"
#include "formats/export.h"

#define HEADER                                                                                               \
    "t_ns,conversation,side,event,bytes,watermark,think_ns,flags,stream,protocol,client,client_port,"        \
    "server,server_port,marks\n"

/* Longest of a line up to flags: five numbers of 20 digits, names. */
#define LINE_BYTES 256

static char *put_number(char *p, uint64_t value)
{
    p = out_u64(p, value);
    *p++ = ',';
    return p;
}

static char *put_name(char *p, const char *name)
{
    p = stpcpy(p, name);
    *p++ = ',';
    return p;
}

static void put_event(struct out *o, const struct net_event *ev)
{
    char flags[NET_TEXT_BYTES], *p = out_room(o, LINE_BYTES);
    p = put_number(p, ev->t_ns);
    p = put_number(p, ev->conversation + UINT64_C(1));
    p = put_name(p, net_side_name(ev->side));
    p = put_name(p, net_kind_name(ev->kind));
    p = put_number(p, ev->bytes);
    p = put_number(p, ev->watermark);
    p = put_number(p, ev->think_ns);
    p = put_name(p, net_flags_name(ev->flags, flags));
    if (ev->kind != NET_CONNECT)
        p = stpcpy(p, ",,,,,,\n");
    out_advance(o, p);
}

static int put_conversation(
        struct out *o, const struct tape_reader *r, const struct net_conversation *c, struct err *e)
{
    char marks[NET_TEXT_BYTES];
    int rc = csv_text_write(o, tape_reader_stream(r, c->stream)->name, e);
    out_printf(o, ",%s,", net_protocol_name(c->protocol));
    if (!rc)
        rc = csv_text_write(o, tape_reader_host(r, c->client), e);
    out_printf(o, ",%u,", c->client_port);
    if (!rc)
        rc = csv_text_write(o, tape_reader_host(r, c->server), e);
    out_printf(o, ",%u,%s\n", c->server_port, net_marks_name(c->marks, marks));
    return rc;
}

static int export_tape(struct tape_reader *r, struct out *o, struct err *e)
{
    const struct net_chunk *c;
    int rc = 0;
    out_text(o, HEADER);
    while (!o->failed && (rc = tape_reader_net_next(r, &c, e)) > 0) {
        uint32_t begun = 0;
        for (uint32_t i = 0; i < c->count; i++) {
            struct net_event ev = net_chunk_get(c, i);
            put_event(o, &ev);
            if (ev.kind == NET_CONNECT && (rc = put_conversation(o, r, &c->conversations[begun++], e)) < 0)
                return rc;
        }
    }
    return rc < 0 ? rc : 0;
}

const struct export_ops export_net_csv = {
        .name = "net_csv",
        .help = "one line for each event of conversations, RFC 4180 with LF",
        .tape = export_tape,
};
