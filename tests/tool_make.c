/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes small tapes and runs with known contents for the command-line tests:
 *
 *     tool_make tape|run PATH [KEY=VALUE]...
 *
 * Record i (from 0) arrives at 200 us * i, is a flush where i % 10 == 9, else a read (even i) or write (odd)
 * of 4096 bytes at 4096 * i, and takes, in repetition r (from 1; a tape is r = 0), latency_us * (1 + step /
 * 100 * (r - 1)) us, and 1 us more for each i % 10. `closed` issues each at its arrival; `recorded` issues 10
 * us late. elapsed is the last completion, the zero-latency time the last arrival.
 *
 * Keys: records (1000), latency_us (100), noise_us (0: what is added at random, at most), step (1), reps (5),
 * label, target, stream, streams (1: how many disks the records go round, NAME, NAME1, ...), issuer, lost,
 * working_set; exchanges=N (0: of a run's conversations, as many in each repetition, at 200 us * i, each
 * tenth a connect, else 100 bytes sent and 900 received; they take as long as I/Os do); seed or
 * from_tape=PATH (the identity of a run); warmup, cut, errors = N (the first N repetitions are so; three I/Os
 * fail); unknown = N (the last N records of a tape have no latency); unfinished=1; set.FIELD=N of each
 * repetition's summary; option.KEY, host.KEY, target.KEY, device.KEY of all streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/run.h"
#include "formats/tape.h"

static int argc_;
static char **argv_;

static const char *text(const char *key, const char *otherwise)
{
    size_t n = strlen(key);
    for (int i = 3; i < argc_; i++)
        if (strncmp(argv_[i], key, n) == 0 && argv_[i][n] == '=')
            return argv_[i] + n + 1;
    return otherwise;
}
static double number(const char *key, double otherwise)
{
    const char *t = text(key, NULL);
    return t ? strtod(t, NULL) : otherwise;
}
static void need(int rc, const struct err *e)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "tool_make: %s\n", e->text);
    exit(1);
}
static void facts_from(struct facts *f, const char *prefix)
{
    struct err e = {0};
    size_t n = strlen(prefix);
    for (int i = 3; i < argc_; i++) {
        char *equals = strchr(argv_[i], '=');
        if (strncmp(argv_[i], prefix, n) == 0 && argv_[i][n] == '.' && equals) {
            char key[256];
            snprintf(key, sizeof key, "%.*s", (int)(equals - argv_[i] - (int)n - 1), argv_[i] + n + 1);
            need(facts_set(f, &e, key, "%s", equals + 1), &e);
        }
    }
}

static unsigned op_of(uint64_t i)
{
    return i % 10 == 9 ? BLOCK_FLUSH : i % 2 ? BLOCK_WRITE : BLOCK_READ;
}
static uint64_t latency_ns(uint64_t i, uint64_t r)
{
    double us = number("latency_us", 100);
    if (r)
        us *= 1 + number("step", 1) / 100 * (double)(r - 1);
    uint64_t noise_ns = (uint64_t)(number("noise_us", 0) * 1000),
             hash = (i * 64 + r + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)(us * 1000) + 1000 * (i % 10) + (noise_ns ? (hash >> 33) % noise_ns : 0);
}

#define STREAMS_MAX 64
static uint32_t stream_count(void)
{
    return (uint32_t)number("streams", 1);
}
static void streams_init(struct tape_stream s[STREAMS_MAX])
{
    if (stream_count() < 1 || stream_count() > STREAMS_MAX)
        exit(2);
    for (uint32_t i = 0; i < stream_count(); i++) {
        char name[512];
        snprintf(name, sizeof name, i ? "%s%u" : "%s", text("stream", "vda"), i);
        s[i] = (struct tape_stream){.name = strdup(name), .capacity_bytes = 1 << 30, .sector_bytes = 512};
        facts_from(&s[i].device, "device");
    }
}
static void streams_release(struct tape_stream s[STREAMS_MAX])
{
    for (uint32_t i = 0; i < stream_count(); i++)
        tape_stream_release(&s[i]);
}

static void make_tape(const char *path)
{
    struct err e = {0};
    struct tape_writer *w;
    struct tape_info info = {.label = strdup(text("label", "")), .started_unix_ns = 1262304000000000000};
    struct tape_stream s[STREAMS_MAX];
    uint32_t stream, issuer;
    uint64_t records = (uint64_t)number("records", 1000), unknown = (uint64_t)number("unknown", 0);
    facts_from(&info.host, "host");
    facts_from(&info.options, "option");
    streams_init(s);
    need(tape_writer_open(&w, path, &info, &e), &e);
    for (uint32_t i = 0; i < stream_count(); i++)
        need(tape_writer_stream(w, &s[i], &stream, &e), &e);
    need(tape_writer_issuer(w, text("issuer", "fio"), &issuer, &e), &e);
    for (uint64_t i = 0; i < records; i++) {
        unsigned op = op_of(i);
        struct block_record r = {.t_ns = 200000 * i,
                .op = (uint8_t)op,
                .stream = (uint32_t)(i % stream_count()),
                .issuer = issuer,
                .offset_bytes = op == BLOCK_FLUSH ? 0 : 4096 * i,
                .len_bytes = op == BLOCK_FLUSH ? 0 : 4096,
                .latency_ns = i + unknown < records ? latency_ns(i, 0) : TAPE_UNKNOWN,
                .flags = op == BLOCK_FLUSH   ? BLOCK_PREFLUSH
                         : op == BLOCK_WRITE ? BLOCK_SYNC | BLOCK_FUA
                                             : 0};
        need(tape_writer_add(w, &r, NULL, &e), &e);
    }
    if (number("lost", 0) > 0)
        tape_writer_lost(w, 0, (uint64_t)number("lost", 0));
    if (number("unfinished", 0) == 0)
        need(tape_writer_finish(w, "duration", 200000 * records, &e), &e);
    tape_writer_close(w, false);
    streams_release(s);
    tape_info_release(&info);
}

static void make_exchanges(struct run_writer *w, struct run_repetition *sum)
{
    struct err e = {0};
    static uint64_t event[RUN_CHUNK_RECORDS], issued[RUN_CHUNK_RECORDS], latency[RUN_CHUNK_RECORDS],
            sent[RUN_CHUNK_RECORDS], received[RUN_CHUNK_RECORDS];
    static uint32_t conversation[RUN_CHUNK_RECORDS];
    static uint16_t error[RUN_CHUNK_RECORDS];
    static uint8_t kind[RUN_CHUNK_RECORDS];
    struct run_exchanges c = {(uint32_t)sum->repetition, (uint32_t)number("exchanges", 0), event, issued,
            issued, latency, sent, received, conversation, error, kind};
    if (c.count > RUN_CHUNK_RECORDS)
        exit(2);
    for (uint32_t i = 0; i < c.count; i++) {
        event[i] = i;
        issued[i] = 200000 * (uint64_t)i;
        latency[i] = latency_ns(i, sum->repetition);
        kind[i] = i % 10 == 9 ? RUN_CONNECT : RUN_EXCHANGE;
        sent[i] = kind[i] == RUN_CONNECT ? 0 : 100;
        received[i] = 9 * sent[i];
        if (issued[i] + latency[i] > sum->net_elapsed_ns)
            sum->net_elapsed_ns = issued[i] + latency[i];
    }
    if (c.count)
        need(run_writer_add_exchanges(w, &c, &e), &e);
}

static void make_repetition(struct run_writer *w, uint32_t r, uint64_t records, bool recorded)
{
    struct err e = {0};
    struct run_repetition sum = {.repetition = r,
            .order = r,
            .complete = r > number("cut", 0),
            .warmup = r <= number("warmup", 0),
            .cpu_busy_ns = records * 5000,
            .depth_max = 1,
            .depth_recorded = 1};
    static uint64_t record[RUN_CHUNK_RECORDS], offset[RUN_CHUNK_RECORDS], len[RUN_CHUNK_RECORDS],
            scheduled[RUN_CHUNK_RECORDS], issued[RUN_CHUNK_RECORDS], latency[RUN_CHUNK_RECORDS];
    static uint32_t stream[RUN_CHUNK_RECORDS];
    static uint16_t error[RUN_CHUNK_RECORDS];
    static uint8_t op[RUN_CHUNK_RECORDS];
    struct run_chunk c = {r, 0, record, offset, len, scheduled, issued, latency, stream, error, op};
    uint64_t failed = r <= number("errors", 0) ? 3 : 0;
    for (uint64_t i = 0; i < records; i++) {
        uint32_t k = c.count++;
        record[k] = i;
        stream[k] = (uint32_t)(i % stream_count());
        op[k] = (uint8_t)op_of(i);
        offset[k] = op[k] == BLOCK_FLUSH ? 0 : 4096 * i;
        len[k] = op[k] == BLOCK_FLUSH ? 0 : 4096;
        scheduled[k] = 200000 * i;
        issued[k] = scheduled[k] + (recorded ? 10000 : 0);
        latency[k] = latency_ns(i, r);
        error[k] = failed && i < failed ? 5 : 0;
        if (issued[k] + latency[k] > sum.elapsed_ns)
            sum.elapsed_ns = issued[k] + latency[k];
        sum.read_bytes += op[k] == BLOCK_READ ? len[k] : 0;
        sum.written_bytes += op[k] == BLOCK_WRITE ? len[k] : 0;
        if (c.count == RUN_CHUNK_RECORDS || i + 1 == records) {
            need(run_writer_add(w, &c, &e), &e);
            c.count = 0;
        }
    }
    make_exchanges(w, &sum);
    sum.records = records;
    sum.errors = failed;
    sum.zero_latency_ns = records ? 200000 * (records - 1) : 0;
#define FIELD(name) sum.name = (uint64_t)number("set." #name, (double)sum.name);
    RUN_REPETITION_FIELDS(FIELD)
#undef FIELD
    need(run_writer_repetition(w, &sum, &e), &e);
}

static void make_run(const char *path)
{
    struct err e = {0};
    struct run_writer *w;
    struct run_info info = {.tape.label = strdup(text("label", "")),
            .target_name = strdup(text("target", "null:")),
            .tape_records = (uint64_t)number("records", 1000),
            .tape_lost = (uint64_t)number("lost", 0),
            .started_unix_ns = 1262304000000000000,
            .working_set_bytes = (uint64_t)number("working_set", 0)};
    struct tape_stream s[STREAMS_MAX];
    info.identity.work[0] = (uint64_t)number("seed", 1);
    if (text("from_tape", NULL)) {
        struct tape_reader *t;
        need(tape_reader_open(&t, text("from_tape", NULL), &e), &e);
        info.identity = tape_reader_totals(t)->identity;
        tape_reader_close(t);
    }
    need(facts_set(&info.options, &e, "timing", "closed"), &e);
    facts_from(&info.options, "option");
    facts_from(&info.host, "host");
    facts_from(&info.target, "target");
    streams_init(s);
    need(run_writer_open(&w, path, &info, s, stream_count(), &e), &e);
    bool recorded = strcmp(facts_get(&info.options, "timing"), "recorded") == 0;
    for (uint32_t r = 1; r <= (uint32_t)number("reps", 5); r++)
        make_repetition(w, r, info.tape_records, recorded);
    if (number("unfinished", 0) == 0)
        need(run_writer_finish(w, "done", &e), &e);
    run_writer_close(w, false);
    streams_release(s);
    run_info_release(&info);
}

int main(int argc, char **argv)
{
    argc_ = argc;
    argv_ = argv;
    if (argc < 3 || (strcmp(argv[1], "tape") != 0 && strcmp(argv[1], "run") != 0)) {
        fprintf(stderr, "usage: tool_make tape|run PATH [KEY=VALUE]...\n");
        return 2;
    }
    (argv[1][0] == 't' ? make_tape : make_run)(argv[2]);
    return 0;
}
