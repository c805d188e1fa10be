/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Command lines by table. A program (or a verb of it) describes its options once; parsing, `--help` and
 * the man page follow from the table. Parsing is getopt_long's, in the order of the command line.
 */
#ifndef IOTAPE_OPTS_H
#define IOTAPE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/base/err.h"

enum opt_kind {
    OPT_FLAG,     /* bool */
    OPT_STR,      /* const char *, points into argv */
    OPT_U64,      /* uint64_t */
    OPT_DOUBLE,   /* double */
    OPT_SIZE,     /* uint64_t, bytes */
    OPT_DURATION, /* uint64_t, ns */
    OPT_CHOICE,   /* int: index into `choices` */
    OPT_CALL,     /* `call` gets the value (NULL where `arg` is NULL); may occur repeatedly */
};

/* One option. The value lands at `offset` in the struct that is passed to opts_parse. */
struct opt {
    const char *name; /* long name without dashes */
    char letter;      /* short name or 0 */
    enum opt_kind kind;
    size_t offset;
    const char *arg;  /* what the value is called in the help; NULL for a flag */
    const char *help; /* one sentence fragment, lower case, no full stop */
    const char *const *choices; /* OPT_CHOICE: NULL-terminated */
    int (*call)(void *values, const char *text, struct err *e); /* OPT_CALL: 0 or -errno */
};

/* A program or a verb. Tables end with an entry whose name is NULL. */
struct opt_spec {
    const char *name;    /* "iotape-replay" or "iotape-analyze compare" */
    const char *usage;   /* what follows the name in the usage line(s), '\n' between lines */
    const char *summary; /* one line */
    const struct opt *opts;
    /* Called for each word that is no option, in order; NULL: such a word is an error. */
    int (*word)(void *values, const char *text, struct err *e);
    /* Prose sections after the options, for --help and the man page: title, text, title, text, NULL. Text
     * is plain: a blank line separates paragraphs, a line that begins with two blanks is kept as it is. */
    const char *const *sections;
};

enum opts_outcome { OPTS_RUN, OPTS_EXIT_OK, OPTS_USAGE };

/* Parses argv[1..]; for a verb pass argv+1, so that argv[0] is the verb. `--help`, `--version` and the
 * hidden `--help-man` (the man page as roff) are known everywhere and printed to stdout: OPTS_EXIT_OK.
 * Words after "--" are not parsed; *command is set to them (NULL-terminated, in argv), or to NULL where
 * there was no "--"; a NULL `command` makes "--" only end the options. A usage error is printed to
 * stderr in one line: OPTS_USAGE, exit code 2. `values` is a zeroed or preset struct. */
enum opts_outcome opts_parse(
        const struct opt_spec *spec, int argc, char **argv, void *values, char ***command);

/* One line, "NAME: error: TEXT". */
void opts_report(const struct opt_spec *spec, const struct err *e);

/* The --help text. */
void opts_help(const struct opt_spec *spec, FILE *out);

#define IOTAPE_VERSION "0.1.0"

#endif
