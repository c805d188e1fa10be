/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/show.h"

#include <stdbool.h>

/* The object, or NULL where any part of it could not be made. */
static struct json *whole(struct json *j, int bad)
{
    if (!bad)
        return j;
    json_free(j);
    return NULL;
}

static struct json *facts_json(const struct facts *f)
{
    struct json *j = json_new_object();
    int bad = !j;
    for (size_t i = 0; i < f->count; i++)
        bad |= json_put_text(j, f->list[i].key, f->list[i].value);
    return whole(j, bad);
}

/* `totals` NULL: not known. */
static struct json *stream_json(
        uint64_t id, const struct tape_stream *s, const struct tape_stream_totals *totals)
{
    struct json *j = json_new_object();
    int bad = !j;
    bad |= json_put_u64(j, "id", id);
    bad |= json_put_text(j, "name", s->name);
    bad |= json_put_text(j, "kind", s->kind == TAPE_STREAM_NET ? "net" : "disk");
    bad |= json_put_u64(j, "capacity_bytes", s->capacity_bytes);
    bad |= json_put_u64(j, "sector_bytes", s->sector_bytes);
    bad |= json_put_text(j, "disk_hash", s->disk_hash);
    bad |= json_put_u64(j, "disk_start_bytes", s->disk_start_bytes);
    bad |= json_put(j, "device", facts_json(&s->device));
    if (totals) {
        bad |= json_put_u64(j, "records", totals->records);
        bad |= json_put_u64(j, "read_bytes", totals->read_bytes);
        bad |= json_put_u64(j, "written_bytes", totals->written_bytes);
        bad |= json_put_u64(j, "lost", totals->lost);
        bad |= json_put_u64(j, "open", totals->open);
    }
    return whole(j, bad);
}

static int put_head(struct json *j, const char *path, const char *kind, const char *label,
        const struct tape_identity *identity, bool finished, const char *ended)
{
    char text[TAPE_IDENTITY_TEXT_BYTES];
    int bad = !j;
    bad |= json_put_text(j, "file", path);
    bad |= json_put_text(j, "kind", kind);
    bad |= json_put_text(j, "label", label ? label : "");
    bad |= json_put_text(j, "identity", tape_identity_name(identity, text));
    bad |= json_put_bool(j, "finished", finished);
    bad |= json_put_text(j, "ended", finished ? ended : NULL);
    return bad;
}

static struct json *net_json(const struct tape_reader *r)
{
    const struct net_totals *n = &tape_reader_totals(r)->net;
    struct json *j = json_new_object();
    int bad = !j;
    bad |= json_put_u64(j, "conversations", n->conversations);
    bad |= json_put_u64(j, "events", n->events);
    bad |= json_put_u64(j, "initiator_bytes", n->sent_bytes[NET_INITIATOR]);
    bad |= json_put_u64(j, "responder_bytes", n->sent_bytes[NET_RESPONDER]);
    bad |= json_put_u64(j, "exchanges", n->exchanges);
    bad |= json_put_u64(j, "open", n->open);
    bad |= json_put_u64(j, "hosts", tape_reader_host_count(r));
    return whole(j, bad);
}

struct json *show_tape_json(const char *path, const struct tape_reader *r)
{
    const struct tape_info *info = tape_reader_info(r);
    const struct tape_totals *totals = tape_reader_totals(r);
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = put_head(j, path, "recording", info->label, &totals->identity, totals->finished, totals->ended);
    bad |= json_put_u64(j, "started_unix_ns", info->started_unix_ns);
    bad |= json_put_u64(j, "records", totals->records);
    bad |= json_put_u64(j, "lost", totals->lost);
    bad |= json_put_u64(j, "elapsed_ns", totals->elapsed_ns);
    bad |= json_put_u64(j, "issuers", tape_reader_issuer_count(r));
    for (uint32_t i = 0; i < tape_reader_stream_count(r); i++)
        bad |= json_add(streams, stream_json(i, tape_reader_stream(r, i),
                                         i < totals->stream_count ? &totals->streams[i] : NULL));
    bad |= json_put(j, "streams", streams);
    bad |= json_put(j, "net", net_json(r));
    bad |= json_put(j, "host", facts_json(&info->host));
    bad |= json_put(j, "options", facts_json(&info->options));
    bad |= json_put(j, "counts", facts_json(&totals->counts));
    return whole(j, bad);
}

static struct json *repetition_json(const struct run_repetition *r)
{
    struct json *j = json_new_object();
    int bad = !j;
#define PUT_FIELD(name) bad |= json_put_u64(j, #name, r->name);
    RUN_REPETITION_FIELDS(PUT_FIELD)
#undef PUT_FIELD
    return whole(j, bad);
}

static struct json *fidelity_json(const struct run_reader *r)
{
    const struct show_fidelity f = show_fidelity_of(r);
    struct json *j = json_new_object();
    int bad = !j;
#define PUT_FIELD(name) bad |= json_put_u64(j, #name, f.name);
    SHOW_FIDELITY(PUT_FIELD)
#undef PUT_FIELD
    return whole(j, bad);
}

static struct json *replayed_json(const struct run_info *info)
{
    struct json *j = json_new_object();
    int bad = !j;
    bad |= json_put_u64(j, "records", info->tape_records);
    bad |= json_put_u64(j, "lost", info->tape_lost);
    bad |= json_put_u64(j, "started_unix_ns", info->tape.started_unix_ns);
    bad |= json_put(j, "host", facts_json(&info->tape.host));
    bad |= json_put(j, "options", facts_json(&info->tape.options));
    return whole(j, bad);
}

struct json *show_run_json(const char *path, const struct run_reader *r)
{
    const struct run_info *info = run_reader_info(r);
    struct json *j = json_new_object(), *streams = json_new_array(), *repetitions = json_new_array();
    int bad = put_head(
            j, path, "run", info->tape.label, &info->identity, run_reader_finished(r), run_reader_ended(r));
    bad |= json_put_u64(j, "started_unix_ns", info->started_unix_ns);
    bad |= json_put_u64(j, "records", show_run_records(r));
    bad |= json_put_u64(j, "lost", info->tape_lost);
    bad |= json_put_u64(j, "elapsed_ns", show_run_elapsed_ns(r));
    bad |= json_put_text(j, "target_name", info->target_name);
    bad |= json_put(j, "target", facts_json(&info->target));
    bad |= json_put_u64(j, "working_set_bytes", info->working_set_bytes);
    for (uint32_t i = 0; i < run_reader_stream_count(r); i++)
        bad |= json_add(streams, stream_json(i, run_reader_stream(r, i), NULL));
    bad |= json_put(j, "streams", streams);
    bad |= json_put(j, "host", facts_json(&info->host));
    bad |= json_put(j, "options", facts_json(&info->options));
    for (size_t i = 0; i < run_reader_repetition_count(r); i++)
        bad |= json_add(repetitions, repetition_json(run_reader_repetition(r, i)));
    bad |= json_put(j, "repetitions", repetitions);
    bad |= json_put(j, "fidelity", fidelity_json(r));
    bad |= json_put(j, "tape", replayed_json(info));
    return whole(j, bad);
}
