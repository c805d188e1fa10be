/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writing and reading runs: what a replay measured. The same container as a tape (TAPE.md), with one
 * result for each replayed record and repetition, and one summary for each repetition.
 */
#ifndef IOTAPE_RUN_H
#define IOTAPE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/facts.h"
#include "formats/tape.h"

#define RUN_CHUNK_RECORDS 65536 /* at most; a writer may use smaller chunks */

struct run_info {
    struct tape_info tape;         /* of the replayed tape: label, host, options, salt */
    struct tape_identity identity; /* of the replayed tape */
    uint64_t tape_records, tape_lost;
    struct facts host;    /* where the replay ran */
    struct facts options; /* every option that changes the work: timing, speed, depth, group, fit, from, for,
                             seed, ... */
    struct facts target;  /* what it ran against: kind, device model, capacity, file system, ... */
    char *target_name;    /* as given, without secrets; owned */
    uint64_t started_unix_ns;
    /* Working set: bytes of distinct 4 KiB blocks touched; 0 not known. */
    uint64_t working_set_bytes;
};

/* Results, column by column. `record` is the record's number in the tape from 0. Times count from the
 * repetition's start on one monotonic clock; `scheduled` is when timing wanted it issued. A latency counts
 * from `issued_ns`, a response time from `scheduled_ns`: response = issued + latency - scheduled. */
struct run_chunk {
    uint32_t repetition; /* from 1 */
    uint32_t count;
    uint64_t *record, *offset_bytes, *len_bytes, *scheduled_ns, *issued_ns, *latency_ns;
    uint32_t *stream;
    uint16_t *error;
    uint8_t *op;
};

/* What was measured of conversations, at the initiators' end, column by column: a connect (until the
 * connection stood), or an exchange: a send of the initiator and what the responder sent when it had seen it
 * and before it saw more; from the send's first byte to the answer's last one. `event` is the number of the
 * connect or send among the tape's net events, from 0. Times as in run_chunk. */
enum run_exchange_kind { RUN_CONNECT, RUN_EXCHANGE, RUN_EXCHANGE_KINDS };
struct run_exchanges {
    uint32_t repetition; /* from 1 */
    uint32_t count;
    uint64_t *event, *scheduled_ns, *issued_ns, *latency_ns, *sent_bytes, *received_bytes;
    uint32_t *conversation;
    uint16_t *error; /* of a connect */
    uint8_t *kind;   /* enum run_exchange_kind */
};

/* Fields of a repetition's summary: X(name), all uint64_t. One line here makes it stored, read, shown
 * and put into JSON. TAPE.md lists them. */
#define RUN_REPETITION_FIELDS(X)                                                                             \
    X(repetition) /* from 1, in the order they ran against this target */                                    \
    X(warmup)     /* 1: not counted */                                                                       \
    X(complete)   /* 0: cut short */                                                                         \
    X(order)      /* place among all repetitions of the command, from 1: interleaving */                     \
    X(records)    /* results written */                                                                      \
    X(errors)     /* results with an errno */                                                                \
    X(short_io)   /* completions of fewer bytes than asked */                                                \
    X(read_bytes)                                                                                            \
    X(written_bytes)                                                                                         \
    X(elapsed_ns)      /* repetition's start to last completion */                                           \
    X(zero_latency_ns) /* what `closed` would take on a target of zero latency; else 0 */                    \
    X(cpu_busy_ns)     /* all CPUs of the host, without idle, iowait and steal */                            \
    X(cpu_spun_ns)     /* of that: spent on waiting for deadlines with a clock in hand */                    \
    X(steal_ns)        /* taken by the hypervisor, all CPUs */                                               \
    X(pressure_cpu_us) /* /proc/pressure: "some" time */                                                     \
    X(pressure_io_us)                                                                                        \
    X(pressure_memory_us)                                                                                    \
    X(lateness_p50_ns)                                                                                       \
    X(lateness_p99_ns)                                                                                       \
    X(lateness_max_ns)                                                                                       \
    X(behind)         /* records issued more than 1 ms after their schedule */                               \
    X(depth_max)      /* most I/O in flight; `closed`: of known latency in the tape */                       \
    X(depth_recorded) /* the same in the tape, for the part that was replayed */                             \
    X(depth_capped)   /* times that a limit of ours, not the schedule, held an I/O back */                   \
    X(starved)        /* times that the engine waited for the tape to be decoded */                          \
    X(fit_wrapped)                                                                                           \
    X(fit_skipped)                                                                                           \
    X(fit_widened)                                                                                           \
    X(readonly_skipped)                                                                                      \
    X(unsupported)       /* operations that the target cannot do */                                          \
    X(two_step)          /* done as two operations, or by a helper thread */                                 \
    X(path_changes)      /* a connection to the target was dropped or came back */                           \
    X(reissued)          /* I/Os sent again after their connection had died */                               \
    X(serialised)        /* I/Os held back as they overlap one in flight: --verify */                        \
    X(verified)          /* checks of data, 4 KiB each, when read and at the end: --verify */                \
    X(wrong_data)        /* of these, where something else was found than must be there */                   \
    X(net_conversations) /* that came to their end; all net_ fields: replay of conversations */              \
    X(net_messages)      /* sends of both ends */                                                            \
    X(net_there_bytes)   /* received by responders */                                                        \
    X(net_here_bytes)    /* received by initiators */                                                        \
    X(net_elapsed_ns)    /* start to the end of the last conversation */                                     \
    X(net_errors)        /* conversations that failed */                                                     \
    X(net_open_max)      /* connections that stood at once */                                                \
    X(net_retransmits)   /* TCP segments sent again, both ends */                                            \
    X(net_datagrams_lost)                                                                                    \
    X(net_cpu_here_ns) /* of the two processes, without what waiting for deadlines spun away */              \
    X(net_cpu_there_ns)                                                                                      \
    X(net_busy_there_ns) /* as cpu_busy_ns and steal_ns, of the other host */                                \
    X(net_steal_there_ns)                                                                                    \
    X(net_strangers) /* connections that the other end turned away */

struct run_repetition {
#define RUN_FIELD(name) uint64_t name;
    RUN_REPETITION_FIELDS(RUN_FIELD)
#undef RUN_FIELD
};

void run_info_release(struct run_info *i);

/* ---- writing ---- */

struct run_writer;

/* Begins PATH.partial with copies of `info` and `streams` (the tape's). */
int run_writer_open(struct run_writer **w, const char *path, const struct run_info *info,
        const struct tape_stream *streams, size_t stream_count, struct err *e);

/* Appends results of one repetition as one chunk (count <= RUN_CHUNK_RECORDS). Another thread may add exchanges
 * at the same time; all else is one thread's. */
int run_writer_add(struct run_writer *w, const struct run_chunk *c, struct err *e);

/* The same for conversations. */
int run_writer_add_exchanges(struct run_writer *w, const struct run_exchanges *c, struct err *e);

/* Closes a repetition. */
int run_writer_repetition(struct run_writer *w, const struct run_repetition *rep, struct err *e);

/* As tape_writer_finish and tape_writer_close. `ended`: "done", "signal", "error: ...". */
int run_writer_finish(struct run_writer *w, const char *ended, struct err *e);
void run_writer_close(struct run_writer *w, bool discard);

/* ---- reading ---- */

struct run_reader;

int run_reader_open(struct run_reader **r, const char *path, struct err *e);
void run_reader_close(struct run_reader *r);
const struct run_info *run_reader_info(const struct run_reader *r);
bool run_reader_finished(const struct run_reader *r);
const char *run_reader_ended(const struct run_reader *r);
size_t run_reader_stream_count(const struct run_reader *r);
const struct tape_stream *run_reader_stream(const struct run_reader *r, uint32_t id);
/* Summaries, in file order. Of an unfinished run those that were closed. */
size_t run_reader_repetition_count(const struct run_reader *r);
const struct run_repetition *run_reader_repetition(const struct run_reader *r, size_t i);

/* The next chunk of results in file order (repetitions one after the other, within one of them by blocks
 * of records as they completed): 1, 0 at the end, -errno. Owned by the reader until the next call. */
int run_reader_next(struct run_reader *r, const struct run_chunk **c, struct err *e);
/* The same for what was measured of conversations; independent of run_reader_next. */
int run_reader_next_exchanges(struct run_reader *r, const struct run_exchanges **c, struct err *e);
/* Begins again with the first chunk, of both. */
int run_reader_rewind(struct run_reader *r, struct err *e);
/* Begins with the first chunk of a repetition (from 1). */
int run_reader_seek(struct run_reader *r, uint32_t repetition, struct err *e);
int run_reader_verify(struct run_reader *r, struct err *e);

/* ---- either ---- */

enum tape_kind { TAPE_KIND_NONE, TAPE_KIND_RECORDING, TAPE_KIND_RUN };
/* What a file is, by its first member; TAPE_KIND_NONE for anything that is no container of ours, -errno
 * where it cannot be read. */
int tape_file_kind(const char *path, enum tape_kind *kind, struct err *e);

#endif
