/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Live capture, from the checks before it to the finished tape.
 */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/progress.h"
#include "formats/base/units.h"
#include "formats/host.h"
#include "record/command.h"
#include "record/options.h"
#include "record/privileges.h"
#include "record/recorder.h"
#include "record/rotation.h"
#include "record/sandbox.h"
#include "record/source/net.h"
#include "record/streams.h"
#include "record/wanted.h"
#include "record/whose.h"

#define OPEN_MAX_DEFAULT 65536

struct live {
    const struct options *o;
    const struct source_ops *ops;
    struct source *source;
    struct whose whose;
    struct source_config config;
    struct tape_info info;
    struct streams *streams;
    struct wanted wanted;
    struct tape_writer *w;
    struct recorder *recorder; /* NULL: no disks */
    struct net_assembler_options net_options;
    struct net_source *net; /* NULL: no interfaces */
    struct command command;
    struct rotation rotation; /* where --rotate was given */
    uint64_t start_ns;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t elapsed_ns(const struct live *l)
{
    return clock_ns(CLOCK_MONOTONIC) - l->start_ns;
}

/* ---- before ---- */

static int find_whose(struct live *l, struct err *e)
{
    const struct options *o = l->o;
    int status = whose_init(
            &l->whose, o->cgroups.list, o->cgroups.count, o->pids.list, o->pids.count, o->children, e);
    if (status == 0 && l->whose.by_task)
        fprintf(stderr,
                "iotape-record: the io controller is not enabled for the --cgroup: only what its processes "
                "queue themselves is recorded\n");
    return status;
}

static int find_streams(struct live *l, struct err *e)
{
    int status = streams_open(&l->streams, l->info.salt, l->o->output, e);
    return status ? status : wanted_make(&l->wanted, l->o, l->streams, e);
}

static bool any_disks(const struct live *l)
{
    return streams_count(l->streams) > 0;
}

static int describe_options(struct live *l, struct err *e)
{
    const struct options *o = l->o;
    struct facts *f = &l->info.options;
    int status = facts_set(f, e, "source", "%s%s", any_disks(l) ? l->ops->name : "",
            !l->wanted.net_count ? ""
            : any_disks(l)       ? " and packets"
                                 : "packets");
    if (status == 0 && l->wanted.net_count)
        status = net_assembler_describe(&l->net_options, f, e);
    if (status == 0 && o->for_ns)
        status = facts_set(f, e, "for_ns", "%" PRIu64, o->for_ns);
    if (status == 0 && o->max_bytes)
        status = facts_set(f, e, "max_size_bytes", "%" PRIu64, o->max_bytes);
    if (status == 0 && o->rotate)
        status = facts_set(f, e, "rotate", "%" PRIu64, o->rotate);
    if (status == 0 && o->keep_names)
        status = facts_set(f, e, "keep_names", "yes");
    if (status == 0 && o->cgroups.count)
        status = facts_set(f, e, "cgroups", "%zu", o->cgroups.count);
    if (status == 0 && o->pids.count)
        status = facts_set(
                f, e, "processes", "%zu%s", o->pids.count, o->children ? " and their children" : "");
    if (status == 0)
        status = facts_merge(f, &l->wanted.notes, "", e);
    if (status == 0 && o->command && o->keep_names)
        status = facts_set(f, e, "command", "%s", o->command[0]);
    return status;
}

/* What the tape will say about host and disks. Done before capture begins, since it reads files. */
static int describe(struct live *l, struct err *e)
{
    l->info.label = options_label(l->o);
    if (!l->info.label)
        return err_sys(e, ENOMEM, "cannot begin to record");
    if (getrandom(l->info.salt, sizeof l->info.salt, 0) != sizeof l->info.salt)
        return err_sys(e, errno, "cannot get random bytes");
    int status = find_streams(l, e);
    if (status == 0)
        status = host_describe(&l->info.host, e);
    return status ? status : describe_options(l, e);
}

static int open_source(struct live *l, struct err *e)
{
    const struct options *o = l->o;
    l->config = (struct source_config){.open_max = o->open_max ? (uint32_t)o->open_max : OPEN_MAX_DEFAULT,
            .filter = &l->whose.filter,
            .memory_bytes = o->memory_bytes,
            .growing = o->vms.count > 0 && o->keep_privileges,
            .keep_names = o->keep_names,
            .verbose = o->verbose};
    l->config.targets = streams_targets(l->streams, &l->config.target_count);
    l->start_ns = clock_ns(CLOCK_MONOTONIC);
    int status = l->wanted.net_count
                         ? net_source_open(&l->net, l->wanted.nets, l->wanted.net_count, &l->net_options, e)
                         : 0;
    if (status == 0 && any_disks(l))
        status = l->ops->open(&l->source, &l->config, &l->start_ns, e);
    if (status < 0)
        return status;
    l->info.started_unix_ns = clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC) - l->start_ns);
    return 0;
}

/* What was needed to attach is not needed any more. Not for tracefs, which is cleaned up at the end. */
static int give_up(struct live *l, struct err *e)
{
    const struct options *o = l->o;
    if (o->keep_privileges || (any_disks(l) && l->ops != &source_bpf))
        return 0;
    CLEANUP_FREE char *copy = strdup(o->output);
    if (!copy)
        return err_sys(e, ENOMEM, "cannot begin to record");
    const char *directory = dirname(copy);
    int status = privileges_drop(directory, o->user, o->command != NULL, e);
    return status < 0 ? status : sandbox_enter(directory, l->command.pid, streams_any_files(l->streams), e);
}

static struct rotation_tape tape_of(struct live *l)
{
    return (struct rotation_tape){&l->info, l->streams, l->start_ns, &l->w, l->recorder, l->net};
}

static int open_whole(struct live *l, struct err *e)
{
    int status = tape_writer_open(&l->w, l->o->output, &l->info, e);
    return status < 0 ? status : streams_begin(l->streams, l->start_ns, l->w, e);
}

static int open_part(struct live *l, struct err *e)
{
    const struct rotation_tape t = tape_of(l);
    int status = rotation_init(&l->rotation, l->o->output, l->o->rotate, l->o->save_ns, e);
    l->rotation.start_unix_ns = l->info.started_unix_ns;
    return status < 0 ? status : rotation_open(&l->rotation, &t, &l->w, e);
}

/* After the source, so that t = 0 is known; what is captured meanwhile waits in the kernel. */
static int open_tape(struct live *l, struct err *e)
{
    int status = l->o->rotate ? open_part(l, e) : open_whole(l, e);
    if (status == 0 && l->net)
        status = net_source_begin(l->net, l->start_ns, l->w, e);
    if (status == 0 && l->source)
        status = recorder_open(&l->recorder, l->ops, l->source, &l->config, l->start_ns, l->streams, l->w, e);
    return status;
}

/* ---- while ---- */

/* Of the disks where there are any; else all is zero but the time and the tape. */
static struct recorder_status status_of(const struct live *l)
{
    if (l->recorder)
        return recorder_status(l->recorder);
    uint64_t bytes = tape_writer_bytes(l->w);
    return (struct recorder_status){
            .elapsed_ns = elapsed_ns(l), .tape_bytes = bytes, .finished_bytes = bytes};
}

static void show_status(struct live *l, struct progress *p)
{
    struct recorder_status s = status_of(l);
    if (!progress_due(p, s.elapsed_ns))
        return;
    double seconds = (double)s.elapsed_ns / (double)NS_PER_S;
    char elapsed[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES], disks[96] = "", net[96] = "";
    if (l->recorder)
        snprintf(disks, sizeof disks, "  %.0f IOPS  %.1f MB/s", (double)s.records / seconds,
                (double)s.bytes / seconds / 1e6);
    if (l->net)
        snprintf(net, sizeof net, "  %.0f packets/s  %" PRIu32 " conversations",
                (double)net_source_packets(l->net) / seconds, tape_writer_conversations(l->w));
    progress_show(p, "%s%s%s  lost %" PRIu64 "  tape %s", units_duration(s.elapsed_ns, elapsed), disks, net,
            s.lost + (l->net ? net_source_dropped(l->net) : 0), units_size(s.tape_bytes, size));
}

/* Why to end now, or NULL. */
static const char *ended(struct live *l)
{
    const struct options *o = l->o;
    struct recorder_status s = status_of(l);
    if (*o->stop)
        return "signal";
    if (o->command && command_ended(&l->command, false))
        return "command";
    if (o->for_ns && s.elapsed_ns >= o->for_ns)
        return "duration";
    if (o->max_bytes && !o->rotate && s.finished_bytes >= o->max_bytes)
        return "size";
    if (wanted_left(&l->wanted))
        return "guest left";
    if (l->net && !l->recorder && net_source_left(l->net))
        return "interface left";
    return NULL;
}

static int follow_guests(struct live *l, struct err *e)
{
    const struct wanted_recording r = {l->ops, l->source, &l->config, l->net, l->w, l->start_ns};
    return wanted_follow(&l->wanted, &r, e);
}

/* Sleeps, or until a signal. */
static void sleep_ns(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    sigset_t none;
    sigemptyset(&none);
    sigaddset(&none, SIGUSR1);
    ppoll(NULL, 0, &t, &none);
}

/* Not beyond the end of the recording. */
static void pause_step(const struct live *l, uint64_t ns)
{
    uint64_t now = elapsed_ns(l);
    if (l->o->for_ns && l->o->for_ns < now + ns)
        ns = l->o->for_ns > now ? l->o->for_ns - now : 0;
    sleep_ns(ns);
}

/* A part that is full is ended, and one that is to be saved. */
static int rotate(struct live *l, struct err *e)
{
    const struct rotation_tape t = tape_of(l);
    struct recorder_status s = status_of(l);
    if (!l->o->rotate)
        return 0;
    int status = s.finished_bytes >= l->o->max_bytes ? rotation_next(&l->rotation, &t, s.elapsed_ns, e) : 0;
    return status < 0 ? status : rotation_save(&l->rotation, &t, s.elapsed_ns, e);
}

static int capture(struct live *l, const char **why, struct err *e)
{
    struct progress p;
    progress_init(&p);
    int status = 0;
    uint64_t pause_ns = 0;
    while (status == 0 && !(*why = ended(l))) {
        pause_step(l, pause_ns);
        pause_ns = NET_SOURCE_STEP_NS;
        if (l->recorder)
            status = recorder_step(l->recorder, &pause_ns, e);
        if (status == 0 && l->net)
            status = net_source_step(l->net, e);
        if (status == 0)
            status = follow_guests(l, e);
        if (status == 0)
            status = rotate(l, e);
        if (l->net && pause_ns > NET_SOURCE_STEP_NS)
            pause_ns = NET_SOURCE_STEP_NS;
        show_status(l, &p);
    }
    progress_clear(&p);
    return status;
}

/* ---- after ---- */

static void summarise(const struct live *l, uint64_t length_ns)
{
    struct recorder_status s = status_of(l);
    char length[UNITS_TEXT_BYTES], bytes[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];
    char disks[128] = "", net[128] = "", open[64] = "";
    if (s.open)
        snprintf(open, sizeof open, " %" PRIu64 " without a latency,", s.open);
    if (l->recorder)
        snprintf(disks, sizeof disks, "%" PRIu64 " I/Os of %s%s", s.records, units_size(s.bytes, bytes),
                l->net ? ", " : "");
    if (l->net)
        snprintf(net, sizeof net, "%" PRIu32 " conversations of %" PRIu64 " packets",
                tape_writer_conversations(l->w), net_source_packets(l->net));
    fprintf(stderr, "%s: %s%s in %s, %" PRIu64 " lost,%s %s%s\n", l->o->output, disks, net,
            units_duration(length_ns, length), s.lost + (l->net ? net_source_dropped(l->net) : 0), open,
            l->o->rotate ? "the last part has " : "", units_size(s.tape_bytes, size));
    if (s.unattributed)
        fprintf(stderr,
                "%s: %" PRIu64 " I/Os of kernel threads belong to nobody known and are not recorded\n",
                l->o->output, s.unattributed);
}

static int finish(struct live *l, const char *why, struct err *e)
{
    uint64_t length_ns = elapsed_ns(l);
    int status = l->net ? net_source_finish(l->net, length_ns, e) : 0;
    if (status == 0 && l->recorder)
        status = recorder_finish(l->recorder, &length_ns, e);
    if (status == 0)
        status = tape_writer_finish(l->w, why, length_ns - l->rotation.part_ns, e);
    if (status == 0 && l->o->rotate)
        status = rotation_ended(&l->rotation, e);
    if (status < 0)
        return status;
    summarise(l, length_ns);
    return 0;
}

/* The command outlives a recording that ends first; its exit status is ours. A signal that only we got is
 * passed on: one from the terminal went to both. */
static void await_command(struct live *l)
{
    int passed_on = 0;
    while (!command_ended(&l->command, false)) {
        int number = *l->o->stop;
        if (number > 0 && number != passed_on)
            command_signal(&l->command, passed_on = number);
        sleep_ns(NS_PER_S);
    }
}

static void live_release(struct live *l, bool discard)
{
    recorder_close(l->recorder);
    l->ops->close(l->source);
    net_source_close(l->net);
    tape_writer_close(l->w, discard);
    command_release(&l->command);
    wanted_release(&l->wanted);
    streams_close(l->streams);
    tape_info_release(&l->info);
    whose_release(&l->whose);
    rotation_release(&l->rotation);
}

static int begin(struct live *l, struct err *e)
{
    const struct options *o = l->o;
    int status = find_whose(l, e);
    if (status == 0)
        status = describe(l, e);
    if (status == 0)
        status = privileges_check(any_disks(l) && l->ops == &source_bpf, l->wanted.net_count > 0, e);
    if (status == 0 && o->command) /* before the source: a fork with mapped rings costs more */
        status = command_start(&l->command, o->command, e);
    if (status == 0)
        status = open_source(l, e);
    if (status == 0) /* before privileges are given up: a thread cannot be made then */
        status = wanted_watch(&l->wanted, e);
    if (status == 0)
        status = give_up(l, e);
    if (status == 0)
        status = open_tape(l, e);
    return status;
}

int live_record(const struct options *o, int *exit_status, struct err *e)
{
    struct live l = {.o = o, .ops = o->source};
    l.net_options = (struct net_assembler_options){.pause_ns = o->pause_ns ? o->pause_ns : NET_PAUSE_NS,
            .size_bucket_bytes = o->size_bucket_bytes,
            .keep_names = o->keep_names};
    const char *why = NULL;
    int status = begin(&l, e);
    if (status == 0 && o->command && (status = command_go(&l.command, o->command, e)) < 0)
        *exit_status = l.command.status;
    if (status < 0) {
        live_release(&l, true);
        return status;
    }
    status = capture(&l, &why, e);
    if (status == 0)
        status = finish(&l, why, e);
    if (o->command) {
        await_command(&l);
        *exit_status = l.command.status;
    }
    live_release(&l, false);
    return status;
}
