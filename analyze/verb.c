/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/verb.h"

#include <errno.h>
#include <sys/stat.h>

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

int verb_check_output(const char *input, const char *output, struct err *e)
{
    struct stat in, out;
    if (!output || stat(input, &in) < 0 || stat(output, &out) < 0 || in.st_dev != out.st_dev ||
            in.st_ino != out.st_ino)
        return 0;
    return err_set(e, EINVAL, "output '%s' is the file that is read", output);
}
