/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/verb.h"
#include "formats/base/cleanup.h"

static const struct verb *const verb_list[] = {
#define VERB_ENTRY(name) &verb_##name,
        VERBS(VERB_ENTRY) NULL};

static const struct opt no_opts[] = {{.name = NULL}};

/* A line for each verb, for --help and the man page. */
static char *describe_verbs(void)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    for (size_t i = 0; verb_list[i]; i++)
        fprintf(f, "  %-10s %s\n", verb_list[i]->name, verb_list[i]->spec->summary);
    fprintf(f, "\n'iotape-analyze VERB --help' says more of each.\n");
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

int main(int argc, char **argv)
{
    /* A closed pipe is a failed write, to be reported as one. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so is a limit of file size */
    for (size_t i = 0; argc > 1 && verb_list[i]; i++)
        if (strcmp(argv[1], verb_list[i]->name) == 0)
            return verb_list[i]->run(argc - 1, argv + 1);
    CLEANUP_FREE char *verbs = describe_verbs();
    const char *const sections[] = {"Verbs", verbs ? verbs : "", NULL};
    const struct opt_spec spec = {.name = "iotape-analyze",
            .usage = "VERB [OPTION]... FILE...",
            .summary = "show, export, profile, compare and plot tapes and runs, and report on them",
            .opts = no_opts,
            .sections = sections};
    if (argc > 1 && argv[1][0] != '-') {
        fprintf(stderr, "%s: error: unknown verb '%s' (see --help)\n", spec.name, argv[1]);
        return EXIT_USAGE;
    }
    if (argc < 2)
        return verb_usage(&spec, "no verb given");
    switch (opts_parse(&spec, argc, argv, NULL, NULL)) {
    case OPTS_EXIT_OK:
        return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
    case OPTS_RUN:
        return verb_usage(&spec, "no verb given");
    case OPTS_USAGE:
        break;
    }
    return EXIT_USAGE;
}
