/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The options of imports on the command line of iotape-record.
 */
#ifndef IOTAPE_IMPORT_OPTIONS_H
#define IOTAPE_IMPORT_OPTIONS_H

#include "formats/base/err.h"

struct options;

/* Values of --time-unit, --sort-window and --lba-unit; for struct opt's `call`. */
int import_set_time_unit(void *values, const char *text, struct err *e);
int import_set_window(void *values, const char *text, struct err *e);
int import_set_lba_unit(void *values, const char *text, struct err *e);

/* The first option that was given and only imports have, NULL for none. */
const char *import_only_option(const struct options *o);

/* One line for each format, for --help. Owned by the caller; NULL: no memory. */
char *import_formats_help(void);

#endif
