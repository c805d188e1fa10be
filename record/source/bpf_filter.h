/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tells the programs of block.bpf.c whose I/O is wanted (block_filter.bpf.h).
 */
#ifndef IOTAPE_BPF_FILTER_H
#define IOTAPE_BPF_FILTER_H

#include "formats/base/err.h"
#include "record/source.h"

struct block_bpf;

/* Between opening and loading. `f` may be NULL: everybody's. */
void bpf_filter_configure(struct block_bpf *skel, const struct source_filter *f);

/* After loading, before arrivals are seen: which processes. -errno. */
int bpf_filter_attach(struct block_bpf *skel, const struct source_filter *f, struct err *e);

#endif
