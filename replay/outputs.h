/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Output files must not harm what is there.
 */
#ifndef IOTAPE_OUTPUTS_H
#define IOTAPE_OUTPUTS_H

#include "formats/base/err.h"
#include "replay/session.h"

/* Refuses an output that is the tape, a target or another output, and one that exists and is no run. */
int outputs_check(const struct session *s, struct err *e);

/* The same for an output that goes with no target. */
int outputs_check_one(const char *output, const char *tape, struct err *e);

#endif
