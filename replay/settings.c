/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/opts.h"
#include "formats/base/units.h"
#include "replay/target.h"

#define DEPTH_MAX     65536
#define DEPTH_DEFAULT 32
#define NOT_GIVEN     UINT64_MAX

static const char *const timing_names[] = {"closed", "recorded", "asap", NULL};
static const char *const group_names[] = {"stream", "issuer", NULL};

static int append(const char **list, size_t *count, const char *text, const char *what, struct err *e)
{
    if (*count == SETTINGS_PAIRS_MAX)
        return err_set(e, E2BIG, "more than %d %s", SETTINGS_PAIRS_MAX, what);
    if (!*text)
        return err_set(e, EINVAL, "empty");
    list[(*count)++] = text;
    return 0;
}

static int add_to(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return append(s->to, &s->to_count, text, "targets", e);
}

static int add_out(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return append(s->out, &s->out_count, text, "run files", e);
}

static int add_map(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return append(s->map, &s->map_count, text, "maps", e);
}

static int set_tape(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    if (s->tape)
        return err_set(e, EINVAL, "unexpected word '%s': the tape is '%s'", text, s->tape);
    s->tape = text;
    return 0;
}

/* 0 would be the same as not given: all of the tape, a file as large as needed. */
static int not_zero(int r, const uint64_t *value, struct err *e)
{
    return r < 0 || *value ? r : err_set(e, EINVAL, "0 leaves nothing");
}

static int set_for(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return not_zero(units_parse_duration(text, &s->for_ns, e), &s->for_ns, e);
}

static int set_size(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return not_zero(units_parse_size(text, &s->size_bytes, e), &s->size_bytes, e);
}

static int parse_percent(const char *text, uint8_t *percent, struct err *e)
{
    uint64_t value;
    int r = units_parse_u64(text, &value, e);
    if (r == 0 && value > 100)
        return err_set(e, EINVAL, "'%s' is no share of 0 to 100 per cent", text);
    if (r == 0)
        *percent = (uint8_t)value;
    return r;
}

static int set_compressible(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return parse_percent(text, &s->recipe.compressible, e);
}

static int set_dedupe(void *values, const char *text, struct err *e)
{
    struct settings *s = values;
    return parse_percent(text, &s->recipe.dedupe, e);
}

#define AT(field) offsetof(struct settings, field)

static const struct opt options[] = {
        {"to", 't', OPT_CALL, 0, "TARGET", "replay to this target; may repeat (see Targets, Several targets)",
                NULL, add_to},
        {"output", 'o', OPT_CALL, 0, "FILE.run", "write what was measured to this file; one for each --to",
                NULL, add_out},
        {"map", 0, OPT_CALL, 0, "STREAM=TARGET",
                "replay one stream of the tape, by name or number from 1, to a target of its own; may repeat",
                NULL, add_map},
        {"runs", 'n', OPT_U64, AT(runs), "N", "repetitions that count, for each --to (default 1)", NULL,
                NULL},
        {"warmup", 0, OPT_U64, AT(warmup), "N", "repetitions before these that do not count (default 0)",
                NULL, NULL},
        {"timing", 0, OPT_CHOICE, AT(timing), "closed|recorded|asap",
                "when an I/O is issued (default closed where latencies were recorded, else recorded; see "
                "Timing)",
                timing_names, NULL},
        {"speed", 0, OPT_DOUBLE, AT(speed), "FACTOR",
                "divide recorded times (recorded) or think times (closed) by this (default 1)", NULL, NULL},
        {"depth", 0, OPT_U64, AT(depth), "N", "I/Os in flight with asap (default 32)", NULL, NULL},
        {"group", 0, OPT_CHOICE, AT(group), "stream|issuer",
                "what belongs together with closed: all of a disk, or all of a process (default stream)",
                group_names, NULL},
        {"from", 0, OPT_DURATION, AT(from_ns), "TIME",
                "begin with what was recorded at this time (default 0); conversations that were open then go "
                "on from "
                "there",
                NULL, NULL},
        {"for", 0, OPT_CALL, 0, "TIME",
                "replay only so much recorded time; conversations that are open at its end are cut", NULL,
                set_for},
        {"fit", 0, OPT_CHOICE, AT(fit), "refuse|wrap|skip|widen",
                "what to do with I/O beyond the target's end or not aligned to its sectors (default refuse; "
                "see Fit)",
                fit_names, NULL},
        {"size", 0, OPT_CALL, 0, "SIZE", "of a file that is created (default: as large as needed)", NULL,
                set_size},
        {"seed", 0, OPT_U64, AT(seed), "N", "of generated data and of the order of targets (default 1)", NULL,
                NULL},
        {"compressible", 0, OPT_CALL, 0, "PCT",
                "share of each 4 KiB block of generated data that a good compressor removes (default 0)",
                NULL, set_compressible},
        {"dedupe", 0, OPT_CALL, 0, "PCT",
                "share of 4 KiB blocks of generated data that are duplicates of others (default 0)", NULL,
                set_dedupe},
        {"verify", 0, OPT_FLAG, AT(recipe.verify), NULL,
                "check what is read, and read back all that was touched after each repetition (see "
                "Verifying)",
                NULL, NULL},
        {"verify-only", 0, OPT_STR, AT(verify_only), "FILE.run",
                "replay nothing: check that the target holds what this verified run of the tape wrote", NULL,
                NULL},
        {"max-errors", 0, OPT_U64, AT(max_errors), "N",
                "go on until more than N I/Os have failed (default 0)", NULL, NULL},
        {"stall-timeout", 0, OPT_DURATION, AT(stall_timeout_ns), "TIME",
                "a server that answers nothing for so long is gone (default 30s)", NULL, NULL},
        {"read-only", 0, OPT_FLAG, AT(read_only), NULL,
                "open targets for reading, write and fill nothing, leave out all but reads", NULL, NULL},
        {"dry-run", 0, OPT_FLAG, AT(dry_run), NULL,
                "say what would be written where and how long it takes; change nothing", NULL, NULL},
        {"overwrite-data", 0, OPT_FLAG, AT(overwrite_data), NULL,
                "replay even where the target holds data that iotape did not write: IT IS DESTROYED", NULL,
                NULL},
        {"overwrite-recorded-disk", 0, OPT_FLAG, AT(overwrite_recorded_disk), NULL,
                "replay even onto the disk that the tape was recorded from", NULL, NULL},
        {"peer", 0, OPT_STR, AT(peer), "[USER@]HOST",
                "replay conversations with this host (see Conversations)", NULL, NULL},
        {"rsh", 0, OPT_STR, AT(rsh), "COMMAND", "reaches it: a remote shell (default ssh)", NULL, NULL},
        {"listen", 0, OPT_STR, AT(listen), "ADDRESS[:PORT]",
                "where the other end listens for data, and data go to", NULL, NULL},
        {"threads", 0, OPT_U64, AT(threads), "N", "of each end, for conversations (default 1)", NULL, NULL},
        {"peer-program", 0, OPT_STR, AT(peer_program), "PATH",
                "what iotape-replay is called there (default iotape-replay)", NULL, NULL},
        {"serve", 0, OPT_FLAG, AT(serve), NULL, "be the other end: what --peer starts", NULL, NULL},
        {"stdio", 0, OPT_FLAG, AT(stdio), NULL, "serve the client at standard input and output", NULL, NULL},
        {"serve-max-conversations", 0, OPT_U64, AT(serve_max_conversations), "N",
                "open at once (default 65536)", NULL, NULL},
        {"serve-max-bytes", 0, OPT_SIZE, AT(serve_max_bytes), "SIZE",
                "sent and received in all (default 1Ti)", NULL, NULL},
        {"serve-max-duration", 0, OPT_DURATION, AT(serve_max_duration_ns), "TIME",
                "of the whole replay (default 24h)", NULL, NULL},
        {"serve-max-memory", 0, OPT_SIZE, AT(serve_max_memory_bytes), "SIZE",
                "for events and conversations (default 256Mi)", NULL, NULL},
        {.name = NULL},
};

/* After the section on targets, which targets' own tables make. */
static const char *const sections[] = {"Storage across the network",
        "nfs://, iscsi:// and nbd:// talk to the server from user space: no mount, no login of the kernel's, "
        "no "
        "root, no page cache. They measure the network, the server and its storage, the same way for each, "
        "and are "
        "for choosing between servers or protocols. A file on a mounted NFS export and a disk that the "
        "host's "
        "initiator is logged in to are ordinary paths, opened with O_DIRECT: take these where guests will go "
        "through the kernel's client, since its mount options, multipath and caches of attributes are then "
        "part of "
        "what is measured. Both may be compared with each other.",
        "Several targets",
        "With one -o for each --to, every --to is replayed to on its own, all repetitions interleaved in a "
        "seeded "
        "order that favours none, and -o files belong to --to in the order given. A tape of several streams "
        "(disks) "
        "needs to be told where each one goes: with one -o, either as many --to as streams, in the tape's "
        "order, or "
        "--map for each stream; a single --to then takes the streams without --map.",
        "Timing",
        "closed: an I/O is issued when as many I/Os of its group have completed as at the recording, and "
        "then as long after as at the recording. A faster target finishes sooner. Where a target's "
        "latencies vary, some I/Os may be issued ahead of that, so that as many are in flight on average "
        "as at the recording, and never more than were at its peak. A recorded think time holds the whole "
        "way from the disk's completion to the next I/O's arrival, so the replay's own way is taken off: "
        "for block devices what the kernel's statistics say, else the median of a wake-up. Up to 200 us "
        "that an I/O was issued late since the replay was busy come off what waits for it, too; lateness "
        "is reported all the same.\n\n"
        "recorded: every I/O at its recorded time. Response times count from there, so that a stall is not "
        "forgiven.\n\n"
        "asap: in order, --depth in flight.",
        "Fit",
        "refuse: nothing is replayed; the error names the first record that does not fit. wrap: the offset "
        "modulo the "
        "target's size, aligned outwards. skip: left out. widen: aligned outwards; beyond the end it is "
        "refused. "
        "All are counted.",
        "Data",
        "A target is written to only where it is empty (zeros in every 4 KiB block that would be touched and "
        "at both "
        "ends, no known signature) or holds what iotape wrote before. Anything else is refused with what was "
        "found; "
        "--overwrite-data overrides that. A target that is mounted, or held by another program, is always "
        "refused; the "
        "disk that the tape was recorded from needs --overwrite-recorded-disk as well. Before the first "
        "repetition all "
        "blocks that will be touched are filled with incompressible data, and what was discarded is filled "
        "again "
        "before the next one.",
        "Verifying",
        "With --verify every sector of 512 bytes that is written says where it belongs, which record of "
        "which "
        "repetition wrote it, and has a CRC32C. All blocks that will be touched are filled first, whatever "
        "they "
        "hold. Every read is checked; after each whole repetition the target is flushed and all blocks that "
        "the "
        "replay touches are read back. A lost, stale, torn or misplaced write is reported with its offset, "
        "what was "
        "expected and what was found; the replay ends after that repetition, with exit status 1. An I/O that "
        "overlaps one in flight waits for it, which is counted, unless both are reads. After a failed write "
        "the "
        "old and the new data are right; after a discard zeros and the old data are. Memory: 36 bytes for "
        "each "
        "4 KiB block that the tape touches, and 144 more where parts of it differ. A verified run is not "
        "compared "
        "with one that is not.\n\n"
        "--verify-only checks a target again later, after a power cut or a failover, and changes nothing: "
        "give "
        "the tape, the run (also one that was cut short, FILE.run.partial) and where the target is now. What "
        "was flushed, or written with FUA, must be there; what was written after the last flush, or failed, "
        "may "
        "be old or new. Each whole repetition ends with a flush.",
        "Conversations", settings_conversations_text, "Exit status",
        "0: all was replayed. 1: it failed, I/O failed more often than --max-errors, or a signal (Ctrl-C) "
        "cut it short; "
        "what was measured is kept in the run, which says so. 2: usage.",
        NULL};

static const struct opt_spec spec = {
        .name = "iotape-replay",
        .usage = "TAPE --to TARGET -o FILE.run [OPTION...]\n"
                 "TAPE --to TARGET -o A.run --to TARGET -o B.run [OPTION...]\n"
                 "TAPE --map STREAM=TARGET --map STREAM=TARGET -o FILE.run [OPTION...]\n"
                 "TAPE --to TARGET --verify-only FILE.run\n"
                 "TAPE --peer [USER@]HOST -o FILE.run [OPTION...]\n"
                 "TAPE --to TARGET --peer [USER@]HOST -o FILE.run [OPTION...]\n"
                 "--serve --stdio [--listen ADDRESS] [--serve-max-...]",
        .summary = "replay recorded block I/O and conversations elsewhere and measure them",
        .opts = options,
        .word = set_tape,
        .sections = sections,
};

void settings_report(const struct err *e)
{
    opts_report(&spec, e);
}

static int check(const struct settings *s, struct err *e)
{
    int r = settings_check_net(s, e);
    if (r < 0 || s->serve)
        return r;
    if (!s->tape)
        return err_set(e, EINVAL, "no tape is given");
    if (s->to_count + s->map_count == 0 && !s->peer)
        return err_set(e, EINVAL, "no target is given (--to; --peer for conversations)");
    if (s->verify_only && (s->out_count || s->recipe.verify || s->dry_run || s->read_only))
        return err_set(e, EINVAL, "--verify-only goes without -o, --verify, --dry-run and --read-only");
    if (s->recipe.verify && (s->recipe.dedupe || s->read_only))
        return err_set(e, EINVAL, "--verify goes without --dedupe and --read-only");
    if (s->out_count == 0 && !s->dry_run && !s->verify_only)
        return err_set(e, EINVAL, "no output is given (-o)");
    if (s->out_count > 1 && s->out_count != s->to_count)
        return err_set(e, EINVAL, "%zu outputs (-o) for %zu targets (--to)", s->out_count, s->to_count);
    if (s->out_count > 1 && s->map_count)
        return err_set(e, EINVAL, "--map goes with one output (-o) only");
    if (s->runs == 0 || s->runs > 1000000 || s->warmup > 1000000)
        return err_set(e, EINVAL, "--runs must be 1 to 1000000, --warmup at most that");
    if (s->depth != NOT_GIVEN && s->timing != TIMING_ASAP)
        return err_set(e, EINVAL, "--depth means nothing without --timing asap");
    if (s->depth == 0 || (s->depth > DEPTH_MAX && s->depth != NOT_GIVEN))
        return err_set(e, EINVAL, "--depth must be 1 to %d", DEPTH_MAX);
    if (!(s->speed >= 1e-6 && s->speed <= 1e6))
        return err_set(e, EINVAL, "--speed must be 0.000001 to 1000000");
    if (s->speed != 1 && s->timing == TIMING_ASAP)
        return err_set(e, EINVAL, "--speed means nothing with --timing asap");
    if (s->overwrite_recorded_disk && s->read_only)
        return err_set(e, EINVAL, "--overwrite-recorded-disk and --read-only exclude each other");
    return 0;
}

/* One line a target, from its own table. */
static void list_targets(char *text, size_t text_bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (const struct target_ops *const *t = target_list; *t && used < text_bytes; t++)
        used += (size_t)snprintf(text + used, text_bytes - used, "  %s\n", (*t)->help);
}

int settings_parse(struct settings *s, int argc, char **argv)
{
    *s = (struct settings){.runs = 1,
            .timing = TIMING_DEFAULT,
            .speed = 1,
            .depth = NOT_GIVEN,
            .seed = 1,
            .group = DEPEND_STREAM,
            .stall_timeout_ns = 30 * NS_PER_S,
            .rsh = "ssh",
            .peer_program = "iotape-replay",
            .threads = 1,
            .serve_max_conversations = 65536,
            .serve_max_bytes = UINT64_C(1) << 40,
            .serve_max_duration_ns = 24 * 3600 * NS_PER_S,
            .serve_max_memory_bytes = UINT64_C(256) << 20};
    char targets[4096];
    const char *all[2 + sizeof sections / sizeof *sections] = {"Targets", targets};
    memcpy(all + 2, sections, sizeof sections);
    list_targets(targets, sizeof targets);
    struct opt_spec with_targets = spec;
    with_targets.sections = all;
    enum opts_outcome outcome = opts_parse(&with_targets, argc, argv, s, NULL);
    if (outcome != OPTS_RUN)
        return outcome;
    struct err e = {0};
    if (check(s, &e) < 0) {
        fprintf(stderr, "iotape-replay: error: %s (see --help)\n", e.text);
        return OPTS_USAGE;
    }
    if (s->depth == NOT_GIVEN)
        s->depth = DEPTH_DEFAULT;
    return OPTS_RUN;
}

int settings_describe(const struct settings *s, struct facts *f, struct err *e)
{
    int r = facts_set(f, e, "timing", "%s", timing_names[s->timing]);
    if (r == 0 && s->timing == TIMING_ASAP)
        r = facts_set(f, e, "depth", "%llu", (unsigned long long)s->depth);
    if (r == 0 && s->timing != TIMING_ASAP)
        r = facts_set(f, e, "speed", "%.15g", s->speed);
    if (r == 0 && s->timing == TIMING_CLOSED)
        r = facts_set(f, e, "group", "%s", group_names[s->group]);
    if (r == 0)
        r = facts_set(f, e, "fit", "%s", fit_names[s->fit]);
    if (r == 0)
        r = facts_set(f, e, "from_ns", "%llu", (unsigned long long)s->from_ns);
    if (r == 0)
        r = facts_set(f, e, "for_ns", "%llu", (unsigned long long)s->for_ns);
    if (r == 0)
        r = facts_set(f, e, "read_only", "%s", s->read_only ? "yes" : "no");
    if (r == 0)
        r = facts_set(f, e, "seed", "%llu", (unsigned long long)s->seed);
    /* Only where they are not as they always were, so that older runs compare. */
    if (r == 0 && s->recipe.compressible)
        r = facts_set(f, e, "compressible", "%u", s->recipe.compressible);
    if (r == 0 && s->recipe.dedupe)
        r = facts_set(f, e, "dedupe", "%u", s->recipe.dedupe);
    if (r == 0 && s->recipe.verify)
        r = facts_set(f, e, "verify", "yes");
    return r;
}
