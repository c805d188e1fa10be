/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What other benchmarks printed. One file in results/ for each tool's form, one line in RESULTS.
 *
 * A file may hold several outputs, of several tools, with prompts and prose around them, as pasted into a
 * post. Outputs are found by what they say, never by the file's name.
 */
#ifndef IOTAPE_RESULTS_H
#define IOTAPE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/facts.h"

#define RESULTS(X)                                                                                           \
    X(fio)                                                                                                   \
    X(fio_json)                                                                                              \
    X(fio_terse)                                                                                             \
    X(bonnie)                                                                                                \
    X(bonnie_csv)                                                                                            \
    X(hdparm)                                                                                                \
    X(dd)                                                                                                    \
    X(iperf3)                                                                                                \
    X(iperf3_json)                                                                                           \
    X(netperf)                                                                                               \
    X(crystaldiskmark)

#define RESULTS_FILE_BYTES  (16U << 20) /* larger files are refused, */
#define RESULTS_FIGURES_MAX 50000       /* and what holds more figures, */
#define RESULTS_LINES_MAX   (4U << 20)  /* or more lines */

/* The units that figures are in. X(enumerator, text, kind of quantity, factor to B/s, s, B or the bare
 * number) */
#define FIGURE_UNITS(X)                                                                                      \
    X(B_PER_S, "B/s", BYTE_RATE, 1)                                                                          \
    X(KIB_PER_S, "KiB/s", BYTE_RATE, 1024)                                                                   \
    X(MIB_PER_S, "MiB/s", BYTE_RATE, 1048576)                                                                \
    X(MB_PER_S, "MB/s", BYTE_RATE, 1e6)                                                                      \
    X(MBIT_PER_S, "Mbit/s", BYTE_RATE, 125000)                                                               \
    X(PER_S, "1/s", RATE, 1)                                                                                 \
    X(US, "us", TIME, 1e-6)                                                                                  \
    X(MS, "ms", TIME, 1e-3)                                                                                  \
    X(S, "s", TIME, 1)                                                                                       \
    X(B, "B", SIZE, 1)                                                                                       \
    X(KIB, "KiB", SIZE, 1024)                                                                                \
    X(MIB, "MiB", SIZE, 1048576)                                                                             \
    X(PERCENT, "%", SHARE, 1)                                                                                \
    X(COUNT, "count", NUMBER, 1)

enum figure_quantity { FIGURE_BYTE_RATE, FIGURE_RATE, FIGURE_TIME, FIGURE_SIZE, FIGURE_SHARE, FIGURE_NUMBER };
enum figure_unit {
#define UNIT_ENUM(name, text, quantity, factor) UNIT_##name,
    FIGURE_UNITS(UNIT_ENUM)
#undef UNIT_ENUM
            FIGURE_UNIT_COUNT
};
const char *figure_unit_name(enum figure_unit unit);
enum figure_quantity figure_unit_quantity(enum figure_unit unit);
/* Of the same quantity. */
double figure_convert(double value, enum figure_unit from, enum figure_unit to);

struct figure {
    char *workload; /* what the tool did: a job, a column, a kind of test; owned */
    char *name;     /* "read_bandwidth", "read_lat_p99", ...; owned */
    enum figure_unit unit;
    enum block_op op; /* BLOCK_READ, BLOCK_WRITE, or BLOCK_OPS for neither */
    bool compared;    /* a result: a rate (more is better) or a time (less is); else only shown */
    bool missing;     /* the tool says that it could not measure it ("+++++"); value is NAN */
    bool tail;        /* p99 or beyond, or a maximum */
    double value;
    double quantile;  /* of a percentile, 0 to 1; else 0 */
    uint64_t samples; /* that the quantile was taken of; 0: not said */
    uint64_t line;    /* in the file, from 1 */
};

/* One output: one repetition of each workload in it. */
struct output {
    const char *tool, *form; /* "fio", and "text", "JSON", "terse" or "CSV" */
    uint64_t line;           /* where it begins */
    char *failed;            /* what the tool says went wrong: it counts in no n; NULL: nothing; owned */
    char *note;              /* what a reader should know of how it was read; NULL; owned */
    struct facts facts;      /* version, device, options: compared and shown, never computed with */
    struct figure *figures;
    size_t count;
};

struct results {
    struct output *outputs;
    size_t count, figures;
};

/* Reads all outputs of a file. -EINVAL with a text that says what the file seems to be, where it holds none;
 * -EFBIG; -EBADMSG, with the line, for an output that is damaged or cut off. On failure *r is empty. */
int results_read(const char *path, struct results *r, struct err *e);
/* The same of text in memory; `name` is for messages. */
int results_parse(const char *name, const char *bytes, size_t len, struct results *r, struct err *e);
void results_release(struct results *r);

#endif
