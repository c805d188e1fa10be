/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What iperf3's text and JSON share. The workload is the protocol, with " reverse" where the server sent, and
 * for
 * --bidir with " bidirectional" and " bidirectional reverse". Rates are Mbit/s of 10^6.
 */
#ifndef IOTAPE_IPERF3_H
#define IOTAPE_IPERF3_H

#include "formats/results/reading.h"

#define IPERF3_WORKLOAD_BYTES 48

/* "sent_bandwidth", "received_bandwidth" in Mbit/s. */
int iperf3_rate(struct reading *r, const char *workload, bool sent, double mbit_per_s, struct err *e);
/* Any other, of which only `compared` ones are. */
int iperf3_other(struct reading *r, const char *workload, const char *name, enum figure_unit unit,
        double value, bool compared, struct err *e);

#endif
