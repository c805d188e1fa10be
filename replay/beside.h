/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A tape's conversations beside its block I/O: --peer and --to in one command. Both have one start of each
 * repetition, and each keeps its own timing from there; they end when both have ended.
 */
#ifndef IOTAPE_BESIDE_H
#define IOTAPE_BESIDE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/facts.h"
#include "formats/run.h"
#include "replay/net.h"
#include "replay/settings.h"

struct beside;

/* Starts the other end. The settings must outlive it. `stop`: what a signal sets, and what is set here where
 * conversations fail, so that the disks end, too. */
int beside_open(struct beside **b, const struct settings *s, volatile sig_atomic_t *stop, struct err *e);
int beside_close(struct beside *b, struct err *e); /* as net_close */

/* Adds what settings_describe and the targets lack: options and target of a run. */
int beside_describe(const struct beside *b, struct facts *options, struct facts *target, struct err *e);

/* One repetition: gets both ends ready; starts them (any thread; an error is kept until the end); waits for
 * their end, or ends them where `cut`. *sum and *r are filled where there was a start. */
int beside_prepare(struct beside *b, struct run_writer *run, uint32_t repetition, struct err *e);
void beside_go(void *beside, uint64_t start_ns);
int beside_finish(struct beside *b, bool cut, struct run_repetition *r, struct err *e);

/* One line on standard error. */
void beside_print(const struct beside *b, const struct run_repetition *r);

#endif
