/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Comparisons written out. One file in report/ for each format, one line in REPORTS.
 */
#ifndef IOTAPE_REPORT_H
#define IOTAPE_REPORT_H

#include <stddef.h>

#include "analyze/comparison.h"
#include "analyze/mean.h"
#include "formats/base/err.h"
#include "formats/base/out.h"

#define REPORTS(X) X(csv) X(markdown) X(mediawiki) X(html) X(json)

/* What a comparison of several systems gives: plain data, for whatever writes or draws it. */
struct report {
    struct comparison *comparisons; /* candidate by candidate, each in all workloads */
    size_t count;
    struct mean *means; /* candidate by candidate; none where there is one workload */
    size_t mean_count;
    bool by_stream; /* whether rows of single streams were asked for */
    struct comparison_options options;
};
void report_release(struct report *r);

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

/* A number for machines: six significant digits, no exponent, trailing zeros or locale; "" for what is not
 * finite. Writes into `buf` and returns it. */
#define REPORT_NUMBER_BYTES 352
const char *report_number(double value, char buf[REPORT_NUMBER_BYTES]);
/* The same with so many significant digits. */
const char *report_digits(double value, int digits, char buf[REPORT_NUMBER_BYTES]);
/* The same with two decimals, as percentages are written. */
const char *report_percent(double value, char buf[REPORT_NUMBER_BYTES]);

/* All flags that hold for a row: its own, then those of its comparison. -ENOMEM. */
int report_flags(struct flags *all, const struct comparison *c, const struct row *row, struct err *e);

#endif
