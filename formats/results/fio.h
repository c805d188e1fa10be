/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What fio's three forms share: names and units of its figures. Rates become KiB/s, times microseconds.
 *
 * Of each job and direction: "read_bandwidth", "read_iops", "read_lat_mean", "read_clat_p99.9", ... Of these,
 * rates, means, the percentiles 50, 95, 99 and 99.9 and the longest total latency are compared; the others
 * are only shown. fio's "lat" is the whole latency, "slat" its time until submission, "clat" what came after.
 */
#ifndef IOTAPE_FIO_H
#define IOTAPE_FIO_H

#include "formats/results/reading.h"

#define FIO_NAME_BYTES   256
#define FIO_FIGURE_BYTES 64
#define FIO_DIRECTIONS   4

struct fio_direction {
    const char *name;
    enum block_op op;
};
/* read, write, trim, sync. */
extern const struct fio_direction fio_directions[FIO_DIRECTIONS];

/* One job's direction, to which figures are added. */
struct fio_job {
    struct reading *r;
    char workload[FIO_NAME_BYTES + 16];
    const struct fio_direction *direction;
    uint64_t samples; /* I/Os behind percentiles; 0: not known */
};

/* Begins a job: *j gets a workload that no other job of the output has. */
void fio_job_begin(struct fio_job *j, struct reading *r, const char *name);

/* A figure named "DIRECTION_what". */
int fio_figure(const struct fio_job *j, const char *what, enum figure_unit unit, double value, bool compared,
        struct err *e);
/* "min", "max", "mean" or "stdev" of "slat", "clat" or "lat". */
int fio_latency(const struct fio_job *j, const char *kind, const char *stat, double us, struct err *e);
/* `percent` as 99.9; figures of percent 0 are unused slots, and ignored. */
int fio_percentile(const struct fio_job *j, const char *kind, double percent, double us, struct err *e);
/* Not of a direction: "cpu_user" and so on. */
int fio_plain(const struct fio_job *j, const char *name, enum figure_unit unit, double value, struct err *e);
/* "JOB: key" of the current output. */
int fio_fact(const struct fio_job *j, const char *key, const char *value, struct err *e);
/* A job that ended with an error. */
int fio_failed(const struct fio_job *j, double error, struct err *e);

/* To be called when an output is complete: where fio printed one run in several forms, the most exact of them
 * stays (JSON, then terse, then text). */
void fio_one_form(struct reading *r);

#endif
