/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Comparisons written out. One file in report/ for each format, one line in REPORTS.
 */
#ifndef IOTAPE_REPORT_H
#define IOTAPE_REPORT_H

#include <stddef.h>

#include "analyze/comparison.h"
#include "formats/base/err.h"
#include "formats/base/out.h"

#define REPORTS(X) X(csv)

/* One candidate against the base, in one workload. */
struct pairing {
    const char *workload, *base, *cand; /* names */
    struct comparison comparison;
    struct flags flags; /* what holds for all of its rows */
};

struct report {
    const struct pairing *pairings;
    size_t count;
};

struct report_ops {
    const char *name; /* for --format */
    const char *help; /* one line */
    /* -ENOMEM; failed writes are out_close's to report. */
    int (*write)(const struct report *r, struct out *o, struct err *e);
};

#define REPORT_DECLARE(name) extern const struct report_ops report_##name;
REPORTS(REPORT_DECLARE)
#undef REPORT_DECLARE

/* By name; NULL for an unknown one. */
const struct report_ops *report_find(const char *name);

/* A number for machines: six significant digits, no exponent, trailing zeros or locale; "" for NAN. Writes
 * into `buf` and returns it. */
#define REPORT_NUMBER_BYTES 352
const char *report_number(double value, char buf[REPORT_NUMBER_BYTES]);

#endif
