/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Imports bytes as a file of one format. In place of the library's tape writer stands one that writes
 * nothing and checks what an import must keep (tape.h): order of time, known streams and issuers, sound
 * records, late ends only for records that have none, the rules of conversations. That is much faster than
 * tapes.
 */
#ifndef IOTAPE_FUZZ_IMPORT_H
#define IOTAPE_FUZZ_IMPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/import.h"
#include "formats/net_check.h"
#include "formats/tape.h"
#include "formats/totals.h"

#define FUZZ_RECORDS 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tape_writer {
    uint64_t last_ns, records;
    uint32_t streams, issuers, hosts;
    struct net_check *check;
    struct tape_totals totals;
    uint64_t open_ns[FUZZ_RECORDS]; /* arrival of a record that has no end yet; else UINT64_MAX */
    uint32_t stream[FUZZ_RECORDS];
};

static inline void fuzz_want(bool held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

int tape_writer_stream(struct tape_writer *w, const struct tape_stream *s, uint32_t *id, struct err *e)
{
    (void)e;
    fuzz_want(s->name && s->name[0] && w->streams < TAPE_STREAMS_MAX, "a stream has a name");
    *id = w->streams++;
    return 0;
}

int tape_writer_issuer(struct tape_writer *w, const char *name, uint32_t *id, struct err *e)
{
    (void)e;
    fuzz_want(name[0] && w->issuers < TAPE_ISSUERS_MAX, "an issuer has a name");
    *id = w->issuers++;
    return 0;
}

int tape_writer_host(struct tape_writer *w, const char *name, uint32_t *id, struct err *e)
{
    (void)e;
    fuzz_want(name[0] && w->hosts < NET_HOSTS_MAX, "a host has a name");
    *id = w->hosts++;
    return 0;
}

int tape_writer_net(
        struct tape_writer *w, const struct net_event *ev, const struct net_conversation *c, struct err *e)
{
    struct err why = {0};
    (void)e;
    fuzz_want(totals_streams(&w->totals, w->streams, &why) == 0, "memory");
    int rc = net_check_event(w->check, ev, c, w->hosts, &w->totals, &why);
    fuzz_want(rc == 0, why.text);
    w->last_ns = ev->t_ns;
    w->records++;
    return 0;
}

uint32_t tape_writer_conversations(const struct tape_writer *w)
{
    return (uint32_t)w->totals.net.conversations;
}

int tape_writer_add(struct tape_writer *w, const struct block_record *r, uint64_t *ordinal, struct err *e)
{
    (void)e;
    fuzz_want(r->t_ns >= w->last_ns, "order of time");
    fuzz_want(r->stream < w->streams && r->issuer < w->issuers, "known stream and issuer");
    fuzz_want(r->op < BLOCK_OPS && r->flags < 1 << BLOCK_FLAGS, "known operation and flags");
    fuzz_want(r->op != BLOCK_FLUSH || (!r->len_bytes && !r->offset_bytes), "a flush has no place");
    fuzz_want(!r->len_bytes || r->offset_bytes + (r->len_bytes - 1) >= r->offset_bytes,
            "the last byte is within 64 bits");
    fuzz_want(w->records < FUZZ_RECORDS, "no more records than bytes");
    w->last_ns = r->t_ns;
    w->open_ns[w->records] = r->latency_ns == TAPE_UNKNOWN ? r->t_ns : UINT64_MAX;
    w->stream[w->records] = r->stream;
    if (ordinal)
        *ordinal = w->records;
    w->records++;
    return 0;
}

int tape_writer_late(struct tape_writer *w, uint64_t ordinal, uint32_t stream, uint64_t t_ns,
        uint64_t latency_ns, uint16_t error, struct err *e)
{
    (void)error, (void)e;
    fuzz_want(ordinal < w->records && w->open_ns[ordinal] == t_ns && w->stream[ordinal] == stream,
            "a late end is that of an open record");
    fuzz_want(latency_ns != TAPE_UNKNOWN, "a late end is known");
    w->open_ns[ordinal] = UINT64_MAX;
    return 0;
}

void tape_writer_lost(struct tape_writer *w, uint32_t stream, uint64_t count)
{
    fuzz_want(count && (stream < w->streams || stream == UINT32_MAX), "losses of a known stream");
}

void tape_writer_count(struct tape_writer *w, const char *name, uint64_t count)
{
    (void)w;
    fuzz_want(name[0] && count, "a count has a name");
}

/* ---- the tape that is not written ---- */

static struct tape_writer fuzz_writer;

int tape_writer_open(struct tape_writer **w, const char *path, const struct tape_info *info, struct err *e)
{
    (void)path, (void)info;
    fuzz_writer.last_ns = fuzz_writer.records = 0;
    fuzz_writer.streams = fuzz_writer.issuers = fuzz_writer.hosts = 0;
    fuzz_want(net_check_open(&fuzz_writer.check, e) == 0, "memory");
    *w = &fuzz_writer;
    return 0;
}

uint64_t tape_writer_records(const struct tape_writer *w)
{
    return w->records;
}

uint64_t tape_writer_bytes(const struct tape_writer *w)
{
    return w->records;
}

int tape_writer_finish(struct tape_writer *w, const char *ended, uint64_t elapsed_ns, struct err *e)
{
    (void)e;
    fuzz_want(ended[0] && w->records && elapsed_ns >= w->last_ns, "there are records within the length");
    return 0;
}

void tape_writer_close(struct tape_writer *w, bool discard)
{
    (void)discard;
    if (!w)
        return;
    net_check_close(w->check);
    w->check = NULL;
    tape_totals_release(&w->totals);
}

static inline void fuzz_write(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "we");

    fuzz_want(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, "the input can be written");
}

static inline void fuzz_path(char path[64], int number)
{
    snprintf(path, 64, "%s/iotape-fuzz-%d.%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
            (int)getpid(), number);
}

/* Reads files of a format as an import does. */
static inline void fuzz_read(
        const char *format, const char *const *paths, size_t count, const struct import_options *opts)
{
    struct tape_info info = {0};
    const struct import_ops *ops;
    struct import_summary sum;
    struct import_out *out;
    struct err e = {0};

    fuzz_want(import_find(paths[0], format, NULL, &ops, &e) == 0, "the format is known");
    fuzz_want(import_out_open(&out, "none", &info, &opts->part, &e) == 0, "memory");
    int rc = ops->read(paths, count, opts, out, &e);
    if (rc == 0)
        rc = import_out_finish(out, "import", &sum, &e);
    fuzz_want(rc == 0 || (e.text[0] && rc == -e.code && !strchr(e.text, '\n')), "an error has one line");
    import_out_close(out);
}

/* The first byte of `data` chooses the options, the rest is the file. */
static inline int fuzz_import(const char *format, const uint8_t *data, size_t size)
{
    struct import_options opts = {0};
    char path[64];
    const char *const paths[] = {path};

    if (size == 0 || size > FUZZ_RECORDS)
        return 0;
    opts.skip_bad = data[0] & 1;
    opts.keep_names = data[0] & 2;
    opts.part.from_ns = data[0] & 4 ? 1000 : 0;
    opts.part.for_ns = data[0] & 8 ? 1000000 : 0;
    opts.pause_ns = NET_PAUSE_NS;
    opts.size_bucket_bytes = data[0] & 32 ? 100 : 0;
    opts.window = data[0] & 16 ? 4 : 0;
    fuzz_path(path, 0);
    fuzz_write(path, data + 1, size - 1);
    fuzz_read(format, paths, 1, &opts);
    unlink(path);
    return 0;
}

#endif
