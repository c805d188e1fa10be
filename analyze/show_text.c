/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/show.h"

#include <inttypes.h>
#include <stdbool.h>
#include <time.h>

#include "analyze/fidelity.h"
#include "formats/base/units.h"

/* Names come from strangers' files: no control characters to terminals (C1 included, which UTF-8 writes as
 * 0xc2 0x80..0x9f). */
void show_clean(struct out *o, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++) {
        bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;
        char c = *p < 0x20 || *p == 0x7f || c1 ? '?' : (char)*p;
        out_bytes(o, &c, 1);
        p += c1;
    }
}

static void put_name(struct out *o, const char *name)
{
    out_printf(o, "  %-12s", name);
}

static void put_text(struct out *o, const char *name, const char *text)
{
    put_name(o, name);
    show_clean(o, text && *text ? text : "-");
    out_text(o, "\n");
}

static void put_facts(struct out *o, const char *title, const struct facts *f, const char *indent)
{
    if (!f->count)
        return;
    if (title)
        out_printf(o, "  %s\n", title);
    for (size_t i = 0; i < f->count; i++) {
        out_text(o, indent);
        show_clean(o, f->list[i].key);
        out_text(o, ": ");
        show_clean(o, f->list[i].value);
        out_text(o, "\n");
    }
}

static void put_time(struct out *o, const char *name, uint64_t unix_ns)
{
    char text[64];
    time_t t = (time_t)(unix_ns / NS_PER_S);
    struct tm tm;
    if (!unix_ns || !gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm))
        return;
    put_text(o, name, text);
}

static void put_interface(
        struct out *o, uint32_t id, const struct tape_stream *s, const struct tape_stream_totals *t)
{
    char sent[UNITS_TEXT_BYTES], answered[UNITS_TEXT_BYTES];
    out_printf(o, "  stream %-4" PRIu32 " ", id + 1);
    show_clean(o, s->name);
    out_text(o, ", interface");
    if (t)
        out_printf(o,
                ": %" PRIu64 " events, %s sent by initiators, %s by responders, %" PRIu64
                " packets lost, %" PRIu64 " conversations without an end",
                t->records, units_size(t->written_bytes, sent), units_size(t->read_bytes, answered), t->lost,
                t->open);
    out_text(o, "\n");
    put_facts(o, NULL, &s->device, "      ");
}

static void put_net(struct out *o, const struct tape_reader *r)
{
    const struct net_totals *n = &tape_reader_totals(r)->net;
    if (!n->events)
        return;
    put_name(o, "network");
    out_printf(o, "%" PRIu64 " conversations of %zu hosts, %" PRIu64 " events, %" PRIu64 " exchanges\n",
            n->conversations, tape_reader_host_count(r), n->events, n->exchanges);
}

static void put_stream(
        struct out *o, uint32_t id, const struct tape_stream *s, const struct tape_stream_totals *t)
{
    char size[UNITS_TEXT_BYTES], read[UNITS_TEXT_BYTES], written[UNITS_TEXT_BYTES];
    out_printf(o, "  stream %-4" PRIu32 " ", id + 1); /* as --map counts them */
    show_clean(o, s->name);
    out_printf(o, ", %s", s->capacity_bytes ? units_size(s->capacity_bytes, size) : "size not known");
    if (s->sector_bytes)
        out_printf(o, ", sectors of %" PRIu32 " B", s->sector_bytes);
    if (t)
        out_printf(o, ": %" PRIu64 " records, %s read, %s written, %" PRIu64 " lost, %" PRIu64 " open",
                t->records, units_size(t->read_bytes, read), units_size(t->written_bytes, written), t->lost,
                t->open);
    out_text(o, "\n");
    put_facts(o, NULL, &s->device, "      ");
}

static void put_head(struct out *o, const char *path, const char *kind, bool finished, const char *ended,
        const char *label, const struct tape_identity *identity)
{
    char text[TAPE_IDENTITY_TEXT_BYTES];
    show_clean(o, path);
    if (finished) {
        out_printf(o, ": %s, finished (", kind);
        show_clean(o, ended && *ended ? ended : "no reason given");
        out_text(o, ")\n");
    } else {
        out_printf(o, ": %s, unfinished: it was cut off, and this is what can be read of it\n", kind);
    }
    put_text(o, "label", label);
    put_text(o, "identity", tape_identity_name(identity, text));
}

void show_tape_text(const char *path, const struct tape_reader *r, struct out *o)
{
    const struct tape_info *info = tape_reader_info(r);
    const struct tape_totals *t = tape_reader_totals(r);
    char text[UNITS_TEXT_BYTES];
    put_head(o, path, "a recording", t->finished, t->ended, info->label, &t->identity);
    put_time(o, "recorded", info->started_unix_ns);
    put_text(o, "elapsed", units_duration(t->elapsed_ns, text));
    put_name(o, "records");
    out_printf(o, "%" PRIu64 ", %" PRIu64 " lost, of %zu issuers\n", t->records, t->lost,
            tape_reader_issuer_count(r));
    put_net(o, r);
    for (uint32_t i = 0; i < tape_reader_stream_count(r); i++) {
        const struct tape_stream *s = tape_reader_stream(r, i);
        const struct tape_stream_totals *of = i < t->stream_count ? &t->streams[i] : NULL;
        if (s->kind == TAPE_STREAM_NET)
            put_interface(o, i, s, of);
        else
            put_stream(o, i, s, of);
    }
    put_facts(o, "host", &info->host, "    ");
    put_facts(o, "options", &info->options, "    ");
    put_facts(o, "counts", &t->counts, "    ");
}

static void put_conversations(struct out *o, const struct run_repetition *s)
{
    char elapsed[UNITS_TEXT_BYTES], there[UNITS_TEXT_BYTES], here[UNITS_TEXT_BYTES];
    if (!s->net_conversations && !s->net_errors)
        return;
    out_printf(o, "    %" PRIu64 " conversations in %s, %" PRIu64 " messages, %s to there, %s to here",
            s->net_conversations, units_duration(s->net_elapsed_ns, elapsed), s->net_messages,
            units_size(s->net_there_bytes, there), units_size(s->net_here_bytes, here));
    out_printf(o,
            ", %" PRIu64 " at once, %" PRIu64 " segments sent again, %" PRIu64 " datagrams lost, %" PRIu64
            " failed, %" PRIu64 " strangers\n",
            s->net_open_max, s->net_retransmits, s->net_datagrams_lost, s->net_errors, s->net_strangers);
}

static void put_repetition(struct out *o, const struct run_repetition *s)
{
    char elapsed[UNITS_TEXT_BYTES], read[UNITS_TEXT_BYTES], written[UNITS_TEXT_BYTES], late[UNITS_TEXT_BYTES];
    struct result result = {.summary = *s};
    const char *why = left_out(&result, TAPE_KIND_RUN);
    out_printf(o, "  repetition %" PRIu64 ": %s, %" PRIu64 " records, %s read, %s written, lateness p99 %s",
            s->repetition, units_duration(s->elapsed_ns, elapsed), s->records,
            units_size(s->read_bytes, read), units_size(s->written_bytes, written),
            units_duration(s->lateness_p99_ns, late));
    if (s->errors || s->short_io)
        out_printf(o, ", %" PRIu64 " errors, %" PRIu64 " short", s->errors, s->short_io);
    if (why)
        out_printf(o, "; not counted (%s)", why);
    out_text(o, "\n");
    put_conversations(o, s);
}

static void put_fidelity(struct out *o, const struct run_reader *r)
{
    const struct show_fidelity f = show_fidelity_of(r);
    char p50[UNITS_TEXT_BYTES], p99[UNITS_TEXT_BYTES], max[UNITS_TEXT_BYTES], steal[UNITS_TEXT_BYTES];
    put_name(o, "fidelity");
    out_printf(o,
            "lateness p50 %s, p99 %s, max %s; %" PRIu64 " records behind; depth %" PRIu64 " of %" PRIu64
            " recorded; %s stolen\n",
            units_duration(f.lateness_p50_ns, p50), units_duration(f.lateness_p99_ns, p99),
            units_duration(f.lateness_max_ns, max), f.behind, f.depth_reached, f.depth_recorded,
            units_duration(f.steal_ns, steal));
}

void show_run_text(const char *path, const struct run_reader *r, struct out *o)
{
    const struct run_info *info = run_reader_info(r);
    char text[UNITS_TEXT_BYTES];
    put_head(
            o, path, "a run", run_reader_finished(r), run_reader_ended(r), info->tape.label, &info->identity);
    put_time(o, "replayed", info->started_unix_ns);
    put_text(o, "target", info->target_name);
    put_facts(o, NULL, &info->target, "      ");
    put_text(o, "elapsed", units_duration(show_run_elapsed_ns(r), text));
    put_name(o, "records");
    out_printf(o, "%" PRIu64 " results of a tape of %" PRIu64 " records, %" PRIu64 " lost\n",
            show_run_records(r), info->tape_records, info->tape_lost);
    if (info->working_set_bytes)
        put_text(o, "working set", units_size(info->working_set_bytes, text));
    for (size_t i = 0; i < run_reader_repetition_count(r); i++)
        put_repetition(o, run_reader_repetition(r, i));
    put_fidelity(o, r);
    for (uint32_t i = 0; i < run_reader_stream_count(r); i++)
        put_stream(o, i, run_reader_stream(r, i), NULL);
    put_facts(o, "host", &info->host, "    ");
    put_facts(o, "options", &info->options, "    ");
}
