/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * iotape-record: options -> source -> tape.
 */
#include <signal.h>

#include "formats/base/cleanup.h"
#include "formats/base/opts.h"
#include "record/options.h"
#include "record/output.h"

static volatile sig_atomic_t stop;

static void on_stop(int number, siginfo_t *info, void *context)
{
    (void)context;
    stop = info->si_code == SI_KERNEL ? -number : number;
}

static void on_child(int number)
{
    (void)number; /* its arrival ends a sleep */
}

/* Signals are blocked but while the recorder sleeps. */
static void catch_signals(bool save)
{
    sigset_t all;
    sigemptyset(&all);
    if (save)
        sigaddset(&all, SIGUSR1); /* which is waited for: rotation_save */
    const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        struct sigaction ask, act = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO};
        sigaction(stops[i], NULL, &ask);
        if (ask.sa_handler == SIG_IGN && stops[i] != SIGTERM)
            continue; /* nohup, or a shell's background */
        sigaction(stops[i], &act, NULL);
        sigaddset(&all, stops[i]);
    }
    struct sigaction child = {.sa_handler = on_child};
    sigaction(SIGCHLD, &child, NULL);
    sigaddset(&all, SIGCHLD);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

int main(int argc, char **argv)
{
    struct options o CLEANUP(options_release) = {.stop = &stop, .source = &source_bpf};
    struct err e = {0};
    switch (options_parse(&o, argc, argv)) {
    case OPTS_EXIT_OK:
        return 0;
    case OPTS_USAGE:
        return 2;
    case OPTS_RUN:
        break;
    }
    int exit_status = 0;
    int status = output_check(o.output, &e);
    if (status == 0 && o.is_import) {
        status = import_files(&o, &e);
    } else if (status == 0) {
        catch_signals(o.rotate > 0);
        status = live_record(&o, &exit_status, &e);
    }
    if (status < 0) {
        options_report(&e);
        return exit_status > 125 && o.command ? exit_status : 1;
    }
    return exit_status;
}
