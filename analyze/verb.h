/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What iotape-analyze can do: one file verb_NAME.c for each verb, one line in VERBS (and in the Makefile's
 * list, for its man page).
 */
#ifndef IOTAPE_VERB_H
#define IOTAPE_VERB_H

#include "formats/base/opts.h"

#define VERBS(X) X(show) X(export) X(profile) X(compare) X(plot) X(report)

struct verb {
    const char *name;
    const struct opt_spec *spec;
    /* argv[0] is the verb. Returns the exit status. */
    int (*run)(int argc, char **argv);
};

#define VERB_DECLARE(name) extern const struct verb verb_##name;
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Reports a failure (rc < 0) in one line and turns it into an exit status. */
int verb_exit(const struct opt_spec *spec, int rc, const struct err *e);
/* Reports a command line that makes no sense. */
int verb_usage(const struct opt_spec *spec, const char *text);
/* -EINVAL where `output` (NULL: none) is the very file that is read, which it would replace. */
int verb_check_output(const char *input, const char *output, struct err *e);

#endif
