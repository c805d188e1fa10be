/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The lines of one job in fio's text.
 */
#ifndef IOTAPE_FIO_LINES_H
#define IOTAPE_FIO_LINES_H

#include "formats/results/fio.h"

struct fio_lines {
    struct fio_job job;
    const char *kind; /* of the percentiles that are being listed; NULL for none */
    double unit_us;
    double ios[FIO_DIRECTIONS]; /* of the job, from its "issued" line */
    size_t first;               /* figure of the job */
    bool any;                   /* there are figures */
    bool old;                   /* KB is 1024 bytes */
};

/* Whether `line` is one of a job's; its figures are added. *rc is how that went, -EBADMSG for one that cannot
 * be understood. */
bool fio_line(struct fio_lines *s, const char *line, int *rc, struct err *e);

/* Percentiles come before the line that says of how many I/Os: to be called at the job's end. */
void fio_lines_end(struct fio_lines *s);

/* -EBADMSG with the line at r->at. */
int fio_line_bad(const struct reading *r, struct err *e);

#endif
