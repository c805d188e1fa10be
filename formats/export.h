/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tapes and runs written out in other formats. One file in export/ for each format, one line in EXPORTS.
 */
#ifndef IOTAPE_EXPORT_H
#define IOTAPE_EXPORT_H

#include "formats/base/err.h"
#include "formats/base/out.h"
#include "formats/run.h"
#include "formats/tape.h"

#define EXPORTS(X) X(csv) X(net_csv) X(json) X(fio)

struct export_ops {
    const char *name; /* for --format */
    const char *help; /* one line */
    /* Writes all records, from where the reader stands. NULL: the format has no form for it. They end early
     * once a write has failed, which out_close reports. */
    int (*tape)(struct tape_reader *r, struct out *o, struct err *e);
    int (*run)(struct run_reader *r, struct out *o, struct err *e);
    /* A second file that goes with the first, which is named `first`, where it has a name: it is named as
     * that with `beside` appended. NULL: there is none. */
    const char *beside;
    int (*tape_beside)(struct tape_reader *r, const char *first, struct out *o, struct err *e);
};

#define EXPORT_DECLARE(name) extern const struct export_ops export_##name;
EXPORTS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* All of EXPORTS, NULL-terminated. */
extern const struct export_ops *const export_list[];

/* By name; NULL for an unknown one. */
const struct export_ops *export_find(const char *name);

#endif
