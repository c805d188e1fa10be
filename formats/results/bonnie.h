/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What bonnie++'s text and CSV share: its tests, which are the workloads, and how their values are written.
 *
 * Each test has a rate ("write_bandwidth" or "read_bandwidth" in KiB/s, "bandwidth" of the rewrite, "rate" in
 * 1/s of seeks and files), a share of one CPU, and the longest latency of one operation.
 */
#ifndef IOTAPE_BONNIE_H
#define IOTAPE_BONNIE_H

#include "formats/results/reading.h"

#define BONNIE_IO_TESTS   6 /* the first ones; the others are of files */
#define BONNIE_TESTS      12
#define BONNIE_TEXT_BYTES 128

struct bonnie_test {
    const char *name, *rate;
    enum block_op op;
    enum figure_unit unit;
};
extern const struct bonnie_test bonnie_tests[BONNIE_TESTS];

/* A rate with its CPU share. "+++++" is missing, and so is any rate whose share is "+++": bon_csv2txt writes
 * such ones as 0. k, m, g, t behind a rate are powers of 1024 of a byte; without a letter KiB/s. Empty texts
 * are a test that was not done: no figure. */
int bonnie_rate(struct reading *r, size_t test, const char *rate, const char *cpu, struct err *e);
/* "6453us", "154ms", "3s"; empty: no figure. */
int bonnie_latency(struct reading *r, size_t test, const char *text, struct err *e);

#endif
