/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The disks and files of a recording, and the stage between source and tape that makes records of their
 * streams out of I/Os of devices: an I/O of a device below a file's file system is that file's where its
 * place is the file's, at the offset in the file; or it is nobody's.
 *
 * A flush has no place. It is the file's that the process which sent it has open or reads and writes; where
 * these are several files on one device, the one written to last since its last flush.
 */
#ifndef IOTAPE_STREAMS_H
#define IOTAPE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/facts.h"
#include "formats/tape.h"
#include "record/piece.h"
#include "record/source.h"

#define STREAMS_MAX 64

struct streams;

enum stream_path { STREAM_DISK, STREAM_FILE };

/* Something to record. All is borrowed for the call. */
struct stream_spec {
    enum stream_path is;
    const char *path;
    const char *name;          /* in the tape; NULL: the device's, or for a file "file", "file2", ... */
    const struct facts *facts; /* to be added to its description; NULL: none */
};

/* `salt` is the tape's, `output` its path; both must outlive it. */
int streams_open(struct streams **s, const uint8_t salt[16], const char *output, struct err *e);
void streams_close(struct streams *s); /* NULL is allowed */

/* Adds a disk or a file. Refuses what is there already, what cannot be recorded, and what the tape itself
 * would be written to. */
int streams_add(struct streams *s, const struct stream_spec *spec, struct err *e);

size_t streams_count(const struct streams *s);

/* Whether files are among them: then processes are looked at in /proc while it records. */
bool streams_any_files(const struct streams *s);

/* The devices to capture: a disk, or what is below a file; each once. */
const struct source_target *streams_targets(const struct streams *s, size_t *count);

/* Tells a tape of the streams, and that t = 0 of the recording is `start_ns` of CLOCK_MONOTONIC. `w` is
 * borrowed. */
int streams_begin(struct streams *s, uint64_t start_ns, struct tape_writer *w, struct err *e);

/* While it is recorded: adds one to the tape, too. *is_new: there is a new target for it, the last one. */
int streams_join(struct streams *s, const struct stream_spec *spec, struct tape_writer *w, bool *is_new,
        struct err *e);

/* What comes at `t_ns` of the recording and later is not the stream's any more that was asked for by this
 * name. Returns its name in the tape, where the same may have been there before; NULL: there is no such one.
 */
const char *streams_leave(struct streams *s, const char *name, uint64_t t_ns);

/* Streams that did not leave. */
size_t streams_present(const struct streams *s);

/* To be called soon after an I/O has ended, in any order: sees who sent a flush before it is gone. */
void streams_note(struct streams *s, const struct captured *c);

/* To be called now and then, before streams_route: reads maps of files again. */
void streams_tick(struct streams *s);

/* What an I/O of a device (c->r.stream: of streams_targets) is in the tape's streams. In the order of
 * arrival. *pieces is valid until the next call. */
int streams_route(struct streams *s, const struct captured *c, const struct piece **pieces, size_t *count,
        struct err *e);

/* The tape's stream that events lost on a device are counted to: UINT32_MAX where they may have been
 * several's or nobody's. */
uint32_t streams_lost_of(const struct streams *s, uint32_t target);

/* Adds to the tape's counts what could not be put to a file for certain, since the last call. */
void streams_counts(struct streams *s, struct tape_writer *w);

#endif
