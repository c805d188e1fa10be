/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The latency log that fio writes beside an iolog (--write_lat_log=NAME --log_offset=1; HOWTO, "Log File
 * Formats"):
 *
 *     TIME, LATENCY, DIRECTION, LENGTH, OFFSET[, ...]
 *
 * time in milliseconds, latency in ns, direction 0 read, 1 write, 2 trim; in the order of completion, while
 * the iolog is in that of issue. An I/O takes the first latency that is left of the same direction, offset
 * and length. The log is read as far as it must be; of what nobody takes the latest 65,536 are kept.
 */
#ifndef IOTAPE_FIO_LATENCY_H
#define IOTAPE_FIO_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/import.h"

struct fio_latency;

/* Whether a file begins like such a log. */
bool fio_latency_probe(const uint8_t *head, size_t len);

int fio_latency_open(
        struct fio_latency **l, const char *path, const struct import_options *opts, struct err *e);
void fio_latency_close(struct fio_latency *l); /* NULL is allowed */

/* Sets a record's latency where the log has it; times must not go back. */
int fio_latency_take(struct fio_latency *l, struct block_record *r, struct err *e);

struct fio_latency_counts {
    uint64_t taken, missing, bad; /* records with one; reads, writes and discards without; lines left out */
    uint64_t sum_ns;
};
struct fio_latency_counts fio_latency_counts(const struct fio_latency *l);

#endif
