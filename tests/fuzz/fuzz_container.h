/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the fuzz targets of the container: a file in memory, and all that a program may do with a tape or
 * run.
 */
#ifndef IOTAPE_FUZZ_CONTAINER_H
#define IOTAPE_FUZZ_CONTAINER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/run.h"
#include "formats/tape.h"

/* A memory file and its path. */
static inline int fuzz_file(char *path, size_t len)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, len, "/proc/self/fd/%d", fd);
    return fd;
}

/* What a reader promises of a chunk. */
static inline void fuzz_check_chunk(const struct tape_reader *r, const struct block_chunk *c)
{
    if (!c->count || c->count > TAPE_CHUNK_RECORDS)
        abort();
    for (uint32_t i = 0; i < c->count; i++)
        if (c->stream[i] >= tape_reader_stream_count(r) || c->issuer[i] >= tape_reader_issuer_count(r) ||
                c->op[i] >= BLOCK_OPS || (i && c->t_ns[i] < c->t_ns[i - 1]))
            abort();
}

static inline void fuzz_read_tape(const char *path)
{
    struct err e;
    struct tape_reader *r;
    const struct block_chunk *c;
    uint64_t records = 0;
    int more;
    if (tape_reader_open(&r, path, &e) < 0)
        return;
    while ((more = tape_reader_next(r, &c, &e)) == 1) {
        if (c->first != records)
            abort();
        records += c->count;
        fuzz_check_chunk(r, c);
    }
    if (more == 0 && records != tape_reader_totals(r)->records)
        abort();
    uint64_t events = 0;
    const struct net_chunk *n;
    while ((more = tape_reader_net_next(r, &n, &e)) == 1) {
        if (n->first != events || !n->count || n->conversation_count > n->count)
            abort();
        events += n->count;
        for (uint32_t i = 0; i < n->conversation_count; i++)
            if (n->conversations[i].client >= tape_reader_host_count(r) ||
                    n->conversations[i].stream >= tape_reader_stream_count(r))
                abort();
    }
    if (more == 0 && events != tape_reader_totals(r)->net.events)
        abort();
    tape_reader_seek(r, UINT64_C(15000000000), &e);
    tape_reader_next(r, &c, &e);
    tape_reader_verify(r, &e);
    tape_reader_close(r);
}

static inline void fuzz_read_run(const char *path)
{
    struct err e;
    struct run_reader *r;
    const struct run_chunk *c;
    if (run_reader_open(&r, path, &e) < 0)
        return;
    while (run_reader_next(r, &c, &e) == 1)
        for (uint32_t i = 0; i < c->count; i++)
            if (c->stream[i] >= run_reader_stream_count(r) || c->op[i] >= BLOCK_OPS)
                abort();
    run_reader_verify(r, &e);
    run_reader_close(r);
}

static inline void fuzz_read(const char *path)
{
    enum tape_kind kind;
    tape_file_kind(path, &kind, NULL);
    fuzz_read_tape(path);
    fuzz_read_run(path);
}

#endif
