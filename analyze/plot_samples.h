/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What each I/O of a tape or of one repetition of a run did, or each exchange of its conversations, one after
 * the other, in file order.
 */
#ifndef IOTAPE_PLOT_SAMPLES_H
#define IOTAPE_PLOT_SAMPLES_H

#include <stdint.h>

#include "analyze/source.h"

/* For `op`, beside enum block_op. */
enum { SAMPLE_CONNECT = BLOCK_OPS, SAMPLE_EXCHANGE };

/* An I/O that succeeded and whose latency is known; or a connect or exchange, which has no place, and as many
 * bytes as were sent and received. */
struct sample {
    uint64_t issued_ns, latency_ns; /* since the start of the tape or repetition */
    uint64_t time_ns;               /* the latency, or the response time where timing is `recorded` */
    uint64_t offset_bytes, len_bytes;
    uint32_t stream;
    uint8_t op;
};

/* Shows all samples of a tape (`repetition` is ignored) or of a run's repetition: of disks, or with
 * `exchanges` of conversations, which a tape has none of. What `take` gets is valid
 * during the call. -errno of reading. */
int samples_each(const struct source *s, uint32_t repetition, enum timing timing, bool exchanges,
        void (*take)(void *context, const struct sample *sample), void *context, struct err *e);

#endif
