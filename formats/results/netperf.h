/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What netperf's tables (netperf.c) and its named values (netperf_omni.c) share.
 */
#ifndef IOTAPE_NETPERF_H
#define IOTAPE_NETPERF_H

#include "formats/results/reading.h"

#define NETPERF_TEST_BYTES 64

/* Whether the line is "... TEST from ...", and the test's name as -t takes it: "TCP_STREAM", "TCP_RR",
 * "omni". `test` may be NULL. */
bool netperf_test(const char *line, char *test, size_t size);

/* A unit of throughput at the begin of the text: the unit that figures get, and the factor to it. */
bool netperf_unit(const char *text, double *factor, enum figure_unit *unit);

/* omni's selected values, as CSV (-o) with a line of names, and as KEY=VALUE (-k). */
bool netperf_is_csv(const char *line);
bool netperf_is_keyed(const char *line);
int netperf_read_csv(struct reading *r, const char *test, struct err *e);
int netperf_read_keyed(struct reading *r, const char *test, struct err *e);

#endif
