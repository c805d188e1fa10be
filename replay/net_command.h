/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A command that replays conversations alone: --peer without --to.
 */
#ifndef IOTAPE_NET_COMMAND_H
#define IOTAPE_NET_COMMAND_H

#include <signal.h>

#include "formats/base/err.h"
#include "formats/tape.h"
#include "replay/settings.h"

/* Runs all repetitions and writes the run. 0 or -errno; -EINTR where a signal cut it short. */
int net_command(const struct settings *settings, const volatile sig_atomic_t *stop, struct err *e);

/* What --dry-run says of conversations. */
void net_preview(struct tape_reader *tape, const struct settings *s);

#endif
