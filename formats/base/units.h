/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sizes, durations and numbers as people write them, and back.
 *
 * Decimal prefixes are 10^3 and binary ones 2^10 (IEC 80000-13): k, M, G, T and Ki, Mi, Gi, Ti.
 */
#ifndef IOTAPE_UNITS_H
#define IOTAPE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* "64Mi", "4k", "1.5G", "512", an optional B at the end -> bytes, exact (a fraction that is no whole
 * number of bytes is an error). -EINVAL and -ERANGE with a text that quotes `text`. */
int units_parse_size(const char *text, uint64_t *bytes, struct err *e);

/* "10m", "1.5s", "200us", "30" (seconds) -> ns; units ns us ms s m h. Errors as units_parse_size. */
int units_parse_duration(const char *text, uint64_t *ns, struct err *e);

/* A whole decimal number without unit. Errors as units_parse_size. */
int units_parse_u64(const char *text, uint64_t *value, struct err *e);

/* A finite decimal number, read independent of the locale. Errors as units_parse_size. */
int units_parse_double(const char *text, double *value, struct err *e);

#define UNITS_TEXT_BYTES 32

/* Short text for people: "1.50 GiB", "512 B". Writes into `buf` and returns it. */
const char *units_size(uint64_t bytes, char buf[UNITS_TEXT_BYTES]);
/* Short text for people: "123 us", "1.500 s", "2m05s". Writes into `buf` and returns it. */
const char *units_duration(uint64_t ns, char buf[UNITS_TEXT_BYTES]);

#endif
