/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A line for each record of a tape or a run: what exports as text share.
 */
#ifndef IOTAPE_EXPORT_LINES_H
#define IOTAPE_EXPORT_LINES_H

#include "formats/base/out.h"
#include "formats/export/cells.h"
#include "formats/run.h"
#include "formats/tape.h"

/* How a form of export writes. The cells that a line needs are made. */
struct lines {
    char *(*quote)(const char *text, struct err *e); /* makes the cell of a name, see cells.h */
    void (*tape)(struct out *o, const struct block_record *r, const struct cells *streams,
            const struct cells *issuers);
    void (*run)(struct out *o, const struct run_chunk *c, uint32_t i, const struct cells *streams);
};

/* From where the reader stands to the end, or until `o` has failed, which its close reports. Errors are the
 * reader's and those of cells_make. */
int lines_of_tape(const struct lines *l, struct tape_reader *r, struct out *o, struct err *e);
int lines_of_run(const struct lines *l, struct run_reader *r, struct out *o, struct err *e);

#endif
