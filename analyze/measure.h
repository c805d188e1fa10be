/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What each repetition of a tape or run measured, from its records: sums and exact percentiles of each
 * operation, of all streams together and, where asked for, of each stream. Files are read several times;
 * memory is bounded.
 */
#ifndef IOTAPE_MEASURE_H
#define IOTAPE_MEASURE_H

#include <stdbool.h>

#include "analyze/source.h"
#include "formats/depend.h"

#define MEASURE_STREAMS_MAX 64 /* with by_stream: more are refused (-E2BIG) */

/* The percentile selectors, shared by all sources, one after the other: about 8 MiB, 40 MiB with `by_stream`.
 */
struct measure;
int measure_open(struct measure **m, bool by_stream, struct err *e);
void measure_close(struct measure *m); /* NULL is allowed */

/* Reads all records, two or three times for every five streams, and fills `results` and, with by_stream,
 * `streams` of a source that has more than one. Not for foreign results, which have theirs already. `timing`
 * decides whether times of a run count from issue or from schedule; `group` what belongs together when a
 * tape's zero-latency time is computed. */
int measure_source(
        struct measure *m, struct source *s, enum timing timing, enum depend_group group, struct err *e);

#endif
