/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/verb.h"

int verb_exit(const struct opt_spec *spec, int rc, const struct err *e)
{
    if (rc >= 0)
        return 0;
    opts_report(spec, e);
    return EXIT_FAILED;
}

int verb_usage(const struct opt_spec *spec, const char *text)
{
    fprintf(stderr, "%s: error: %s (see --help)\n", spec->name, text);
    return EXIT_USAGE;
}
