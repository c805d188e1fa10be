/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writing and reading tapes (TAPE.md says how they look on disk). Both ends are bounded in memory
 * whatever the length of the tape. A handle belongs to one thread at a time.
 */
#ifndef IOTAPE_TAPE_H
#define IOTAPE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/facts.h"
#include "formats/net.h"

/* ---- what a tape says about itself ---- */

#define TAPE_CHUNK_RECORDS 65536
#define TAPE_CHUNK_NS UINT64_C(10000000000) /* a chunk also ends when its records span 10 s */
#define TAPE_STREAMS_MAX 4096
#define TAPE_ISSUERS_MAX 1048576

/* Sums modulo 2^128 of record hashes: equal sums, equal work, however a tape was chunked, named or
 * labelled. `work` covers operations, flags, places, sizes, streams and arrival times; `timed` covers latencies
 * and errors of completions. Text form: 32 hex digits each, joined by '-'. */
struct tape_identity {
    uint64_t work[2], timed[2]; /* least significant half first */
};
#define TAPE_IDENTITY_TEXT_BYTES 72
const char *tape_identity_name(const struct tape_identity *id, char buf[TAPE_IDENTITY_TEXT_BYTES]);
bool tape_identity_equal(const struct tape_identity *a, const struct tape_identity *b);

enum tape_stream_kind { TAPE_STREAM_DISK, TAPE_STREAM_NET };

/* One recorded disk or, with a name and a description only, network interface. */
struct tape_stream {
    enum tape_stream_kind kind;
    char *name;              /* "loop0", "vda", ...; owned */
    uint64_t capacity_bytes; /* 0: not known (imports) */
    uint32_t sector_bytes;   /* logical sector size; 0: not known */
    /* The whole disk that the recorded device is or lies on, as disk_id_hash() of host.h gives it with the
     * tape's salt, "" where unknown; and where on it the stream lies. */
    char disk_hash[65];
    uint64_t disk_start_bytes;
    struct facts device; /* model, scheduler, rotational, throttles, file system, ... */
};

struct tape_info {
    char *label;        /* owned; what people call this workload, "" for none */
    uint8_t salt[16];   /* key of disk_hash, random for each tape */
    struct facts host;  /* kernel, CPU, virtualisation, ... */
    struct facts options; /* how the recording was made: source, command line options that matter */
    uint64_t started_unix_ns; /* wall clock at t = 0, or 0 where not known; shown, never computed with */
};

/* Per stream counts, known at the end. */
struct tape_stream_totals {
    uint64_t records, read_bytes, written_bytes;
    uint64_t lost;  /* events that the recorder knows it missed; of an interface: packets */
    uint64_t open;  /* I/O without a completion in the tape */
};

struct tape_totals {
    bool finished;        /* false: cut off; the other fields then count what is readable */
    char *ended;          /* "duration", "signal", "guest left", "import", "error: ...", and others; owned */
    uint64_t records;     /* of block I/O */
    struct net_totals net;
    uint64_t elapsed_ns;  /* length of the recording, not below the last arrival */
    uint64_t lost;        /* all streams, plus what cannot be put to one */
    struct facts counts;  /* other things worth counting: out-of-order records, passthrough, ... */
    struct tape_stream_totals *streams; /* one for each stream; owned */
    size_t stream_count;
    struct tape_identity identity;
};

void tape_stream_release(struct tape_stream *s);
void tape_info_release(struct tape_info *i);
void tape_totals_release(struct tape_totals *t);
/* Deep copies; on failure `to` is left empty. */
int tape_stream_copy(struct tape_stream *to, const struct tape_stream *from, struct err *e);

/* ---- writing ---- */

struct tape_writer;

/* Begins PATH.partial (which must not exist) with a copy of `info`. Nothing is visible under PATH until
 * tape_writer_finish. */
int tape_writer_open(struct tape_writer **w, const char *path, const struct tape_info *info, struct err *e);

/* Adds a stream or an issuer to the dictionary; *id is its index, counted from 0 in order. An issuer's `name` is
 * what is to be stored: the caller makes the pseudonym. */
int tape_writer_stream(struct tape_writer *w, const struct tape_stream *s, uint32_t *id, struct err *e);
int tape_writer_issuer(struct tape_writer *w, const char *name, uint32_t *id, struct err *e);

/* Appends a record; t_ns must not be below that of the one before. Streams and issuers must be known.
 * *ordinal (may be NULL) is the record's number from 0, for tape_writer_late. */
int tape_writer_add(struct tape_writer *w, const struct block_record *r, uint64_t *ordinal, struct err *e);

/* Gives a record that was added with TAPE_UNKNOWN its latency and error. `stream`, `t_ns` are those of
 * the record. May be called at any time before finish, in any order. */
int tape_writer_late(struct tape_writer *w, uint64_t ordinal, uint32_t stream, uint64_t t_ns,
        uint64_t latency_ns, uint16_t error, struct err *e);

/* Adds to the lost events of a stream; stream UINT32_MAX: of none in particular. */
void tape_writer_lost(struct tape_writer *w, uint32_t stream, uint64_t count);
/* Adds to a named count of tape_totals.counts. */
void tape_writer_count(struct tape_writer *w, const char *name, uint64_t count);

uint64_t tape_writer_records(const struct tape_writer *w);
/* Bytes in the file so far. */
uint64_t tape_writer_bytes(const struct tape_writer *w);

/* Writes index and end, syncs, renames to PATH. On failure PATH.partial stays and is readable up to its
 * last whole chunk. The handle stays open: close it. */
int tape_writer_finish(struct tape_writer *w, const char *ended, uint64_t elapsed_ns, struct err *e);

/* Frees the handle (NULL is allowed). An unfinished file stays as PATH.partial; with `discard` it is
 * removed. */
void tape_writer_close(struct tape_writer *w, bool discard);

/* ---- reading ---- */

struct tape_reader;

/* Opens a finished tape, or the readable part of an unfinished one. Structure, dictionaries and index
 * are verified here, each chunk when it is read. Errors name file, member and position. A run is
 * refused with a text that says so. */
int tape_reader_open(struct tape_reader **r, const char *path, struct err *e);
void tape_reader_close(struct tape_reader *r); /* NULL is allowed */

/* All owned by the reader. */
const struct tape_info *tape_reader_info(const struct tape_reader *r);
const struct tape_totals *tape_reader_totals(const struct tape_reader *r);
size_t tape_reader_stream_count(const struct tape_reader *r);
const struct tape_stream *tape_reader_stream(const struct tape_reader *r, uint32_t id);
size_t tape_reader_issuer_count(const struct tape_reader *r);
const char *tape_reader_issuer(const struct tape_reader *r, uint32_t id);

/* The next chunk in *c, owned by the reader and valid until the next call: 1, at the end 0, or -errno.
 * Late completions are already in their records. Streams and issuers are known to be in range, times
 * to be in order. */
int tape_reader_next(struct tape_reader *r, const struct block_chunk **c, struct err *e);

/* Makes tape_reader_next begin with the chunk that holds the first record at or after t_ns. 0 rewinds. */
int tape_reader_seek(struct tape_reader *r, uint64_t t_ns, struct err *e);

/* Reads every byte and checks all digests, paddings and totals, then rewinds. */
int tape_reader_verify(struct tape_reader *r, struct err *e);

#endif
