/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CSV tables that go with a comparison, each into a file of its own.
 */
#ifndef IOTAPE_REPORT_TABLES_H
#define IOTAPE_REPORT_TABLES_H

#include "analyze/compare.h"
#include "formats/base/out.h"

/* Every repetition: report/raw.c. -ENOMEM. */
int report_write_raw(const struct compare *c, struct out *o, struct err *e);
/* What differs between the sides: report/context.c. -ENOMEM. */
int report_write_context(const struct report *r, struct out *o, struct err *e);

#endif
