/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * --dry-run: what would be written where, and how long it takes.
 */
#ifndef IOTAPE_PREVIEW_H
#define IOTAPE_PREVIEW_H

#include <signal.h>

#include "formats/base/err.h"
#include "replay/session.h"

/* Prints to standard output. Looks at the targets as a replay would, changes nothing, and fails where a
 * replay would be refused. */
int preview_print(struct session *s, const volatile sig_atomic_t *stop, struct err *e);

#endif
