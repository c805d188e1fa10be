/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Numbers of text traces. Errors are -EBADMSG with a text that quotes what stands there and says `what` it
 * should be.
 */
#ifndef IOTAPE_NUMBER_H
#define IOTAPE_NUMBER_H

#include <stdint.h>

#include "formats/base/err.h"

/* A whole decimal number without sign or blanks. */
int number_whole(const char *text, const char *what, uint64_t *value, struct err *e);

/* The same in units of `unit`: value * unit. */
int number_scaled(const char *text, const char *what, uint64_t unit, uint64_t *value, struct err *e);

/* A decimal number with a fraction, such as seconds, in units of `unit` (1, 10^3, 10^6 or 10^9), exactly: one
 * that is no whole number then is an error. */
int number_decimal(const char *text, const char *what, uint64_t unit, uint64_t *value, struct err *e);

#endif
