/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"
#include "analyze/show.h"
#include "analyze/verb.h"

struct profile_options {
    bool json;
    const char *file, *output;
};

static int take_word(void *values, const char *text, struct err *e)
{
    struct profile_options *o = values;
    if (o->file)
        return err_set(e, EINVAL, "one tape at a time: '%s' and '%s'", o->file, text);
    o->file = text;
    return 0;
}

static const struct opt opts[] = {{"json", 'j', OPT_FLAG, offsetof(struct profile_options, json), NULL,
                                          "write one JSON object", NULL, NULL},
        {"output", 'o', OPT_STR, offsetof(struct profile_options, output), "FILE",
                "write to FILE, which appears when it is whole, instead of standard output", NULL, NULL},
        {.name = NULL}};

static const char *const sections[] = {"What is said",
        "The tape is read a few times, as a rule two or three, so that all figures are exact in 64 MiB of "
        "memory. Reads and writes are what \"places\" and \"working set\" are about: flushes have no place, "
        "discards and write-zeroes move no data. An I/O whose completion was not recorded has no latency "
        "and counts in no queue depth. A percentile is the nearest-rank one, and left out where too few "
        "I/Os stand behind it (p99: fewer than 299).\n\n"
        "The working set is counted in blocks of 4 KiB, or of 512 bytes where a disk's I/O is not on whole "
        "4 KiB. Its hottest parts are ranges of 64 blocks, by the number of I/Os that touched them; "
        "neighbours are joined.\n\n"
        "A message of a socket is one data event of the tape: what one side sent without a pause, or one "
        "datagram. Its think time is counted from when what it waited for had come. A conversation is open "
        "from its connect to its end; initiators are those that connected.",
        "JSON",
        "Times are ns, sizes and places bytes. What is not known is null.\n"
        "  file, label, identity, finished, records, lost, elapsed_ns, streams [{id, name, capacity_bytes, "
        "sector_bytes}]\n"
        "  mix          operations and flags; and, as in those that follow, streams [...] in the tape's "
        "order\n"
        "  sizes        of reads and of writes: the most frequent ones, how many others\n"
        "  places       sequential, distances between one and the next, alignment\n"
        "  arrivals     gap: time from one to the next\n"
        "  depth        time and arrivals by I/Os in flight (256: or more); idle: periods with none\n"
        "  latency      by operation\n"
        "  working_set  distinct bytes; bytes read that had been read or written before; hot ranges; how "
        "many of all\n"
        "               touches fall to the hottest per cents of the ranges\n"
        "  timeline     slots of slot_ns: counts, bytes, latencies by operation, depth, growth of the "
        "working set\n"
        "  sockets      conversations; messages, bytes, size and think time by initiator and responder; how "
        "many were\n"
        "               open at once (open_max, open_mean over time); length from begin to end\n"
        "\n"
        "A distribution is a list of {from, count}: count values lie from `from` to below twice that.",
        NULL};

static const struct opt_spec spec = {.name = "iotape-analyze profile",
        .usage = "[--json] [-o FILE] TAPE",
        .summary = "say what the workload in a tape is like",
        .opts = opts,
        .word = take_word,
        .sections = sections};

static struct json *head_json(const char *file, const struct profile *p)
{
    struct json *j = json_new_object(), *streams = json_new_array();
    int bad = json_put_text(j, "file", file);
    bad |= json_put_text(j, "label", p->label);
    bad |= json_put_text(j, "identity", p->identity);
    bad |= json_put_bool(j, "finished", p->finished);
    bad |= json_put_u64(j, "records", p->records);
    bad |= json_put_u64(j, "lost", p->lost);
    bad |= json_put_u64(j, "elapsed_ns", p->elapsed_ns);
    for (size_t i = 0; i < p->stream_count; i++) {
        struct json *s = json_new_object();
        bad |= json_put_u64(s, "id", i);
        bad |= json_put_text(s, "name", p->streams[i].name);
        bad |= json_put_u64(s, "capacity_bytes", p->streams[i].capacity_bytes);
        bad |= json_put_u64(s, "sector_bytes", p->streams[i].sector_bytes);
        bad |= json_add(streams, s);
    }
    bad |= json_put(j, "streams", streams);
    return words_whole(j, bad);
}

static int write_json(const char *file, const struct profile *p, struct out *o, struct err *e)
{
    struct json *j = head_json(file, p);
    int bad = !j;
    for (size_t i = 0; profile_aspects[i]; i++)
        if (profile_aspects[i]->json)
            bad |= json_put(j, profile_aspects[i]->name, profile_aspects[i]->json(p));
    int rc = bad ? err_sys(e, ENOMEM, "cannot write JSON") : json_write(j, o, e);
    json_free(j);
    return rc;
}

/* What there is of I/Os, conversations, processes and disks. */
static void write_head(const char *file, const struct profile *p, struct out *o)
{
    char elapsed[UNITS_TEXT_BYTES];
    show_clean(o, file);
    out_text(o, ": ");
    if (p->records || !p->net.conversations)
        words_count(o, p->records, "I/O", "s");
    if (p->records && p->net.conversations)
        out_text(o, " and ");
    if (p->net.conversations)
        words_count(o, p->net.conversations, "conversation", "s");
    out_printf(o, " in %s", units_duration(p->elapsed_ns, elapsed));
    if (p->mix.issuers) {
        out_text(o, ", of ");
        words_count(o, p->mix.issuers, "process", "es");
    }
    if (p->stream_count == 1) {
        out_text(o, ", on ");
        show_clean(o, p->streams[0].name);
    } else if (p->disks) {
        out_text(o, ", on ");
        words_count(o, p->disks, "disk", "s");
    }
    out_text(o, "\n");
}

static void write_text(const char *file, const struct profile *p, struct out *o)
{
    write_head(file, p, o);
    if (!p->finished)
        out_text(o, "The recording was cut off: this is what can be read of it.\n");
    if (p->lost) {
        out_text(o, "The recorder lost ");
        words_count(o, p->lost, "event", "s");
        out_text(o, ": what follows lacks them.\n");
    }
    for (size_t i = 0; profile_aspects[i]; i++)
        if (profile_aspects[i]->text)
            profile_aspects[i]->text(p, o);
}

static int profile_file(const struct profile_options *x, struct err *e)
{
    struct profile *p;
    struct out o;
    int rc = verb_check_output(x->file, x->output, e);
    if (rc == 0)
        rc = profile_make(&p, x->file, e);
    if (rc < 0)
        return rc;
    rc = out_open(&o, x->output, e);
    if (rc == 0) {
        if (x->json)
            rc = write_json(x->file, p, &o, e);
        else
            write_text(x->file, p, &o);
        int closed = out_close(&o, rc == 0, rc == 0 ? e : NULL);
        rc = rc < 0 ? rc : closed;
    }
    profile_free(p);
    return rc;
}

static int run(int argc, char **argv)
{
    struct profile_options x = {0};
    struct err e = {0};
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, &x, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    if (!x.file)
        return verb_usage(&spec, "no tape given");
    return verb_exit(&spec, profile_file(&x, &e), &e);
}

const struct verb verb_profile = {.name = "profile", .spec = &spec, .run = run};
