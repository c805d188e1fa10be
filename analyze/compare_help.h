/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The prose of `iotape-analyze compare --help` and of its man page: title, text, ..., NULL.
 */
#ifndef IOTAPE_COMPARE_HELP_H
#define IOTAPE_COMPARE_HELP_H

extern const char *const compare_help[];

#endif
