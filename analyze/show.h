/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is in a tape, a run or a foreign result, for people (show_text.c) and for programs (show_json.c).
 */
#ifndef IOTAPE_SHOW_H
#define IOTAPE_SHOW_H

#include "formats/base/err.h"
#include "formats/base/json.h"
#include "formats/base/out.h"
#include "formats/results.h"
#include "formats/run.h"
#include "formats/tape.h"

/* New objects, NULL where memory is short. */
struct json *show_tape_json(const char *path, const struct tape_reader *r);
struct json *show_run_json(const char *path, const struct run_reader *r);
struct json *show_results_json(const char *path, const struct results *r);

/* Text with all control characters replaced: names come from files of strangers. */
void show_tape_text(const char *path, const struct tape_reader *r, struct out *o);
void show_run_text(const char *path, const struct run_reader *r, struct out *o);
void show_results_text(const char *path, const struct results *r, struct out *o);
/* A text that came from a file. */
void show_clean(struct out *o, const char *text);

/* How faithful a run was, over its counted repetitions; times in ns. X(name, comment) */
#define SHOW_FIDELITY(X)                                                                                     \
    X(repetitions)     /* that count: complete, without errors, no warm-up */                                \
    X(lateness_p50_ns) /* the worst repetition's, as all of these */                                         \
    X(lateness_p99_ns)                                                                                       \
    X(lateness_max_ns)                                                                                       \
    X(behind)        /* records issued more than 1 ms after their schedule: the sum */                       \
    X(depth_reached) /* the least */                                                                         \
    X(depth_recorded)                                                                                        \
    X(depth_capped) /* sums from here on */                                                                  \
    X(starved)                                                                                               \
    X(errors)                                                                                                \
    X(steal_ns)                                                                                              \
    X(pressure_cpu_us)                                                                                       \
    X(pressure_io_us)                                                                                        \
    X(pressure_memory_us)

struct show_fidelity {
#define SHOW_FIELD(name) uint64_t name;
    SHOW_FIDELITY(SHOW_FIELD)
#undef SHOW_FIELD
};
struct show_fidelity show_fidelity_of(const struct run_reader *r);

/* Results and time of all repetitions. */
uint64_t show_run_records(const struct run_reader *r);
uint64_t show_run_elapsed_ns(const struct run_reader *r);

#endif
