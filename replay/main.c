/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/opts.h"
#include "replay/beside.h"
#include "replay/guard.h"
#include "replay/net_command.h"
#include "replay/outputs.h"
#include "replay/peer/serve.h"
#include "replay/preview.h"
#include "replay/readback.h"
#include "replay/repeat.h"
#include "replay/session.h"
#include "replay/settings.h"

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

/* The first signal ends the replay in good order, the second one at once. */
static void catch_signals(void)
{
    struct sigaction a = {.sa_handler = request_stop, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit of file size is a failed write, too */
}

/* Runs all repetitions and ends the runs, whatever came. */
static int replay(struct session *s, struct err *e)
{
    int r = session_begin_runs(s, e);
    if (r < 0)
        return r;
    r = repeat_all(s, &stop_requested, e);
    char ended[ERR_TEXT_BYTES + 16] = "done";
    if (r == -EINTR && stop_requested)
        strcpy(ended, "signal");
    else if (r < 0)
        snprintf(ended, sizeof ended, "error: %s", e->text);
    int finished = session_finish_runs(s, ended, r < 0 ? NULL : e);
    return r < 0 ? r : finished;
}

static int run(const struct settings *settings, struct err *e)
{
    struct session s = {0};
    int r = session_open(&s, settings, &stop_requested, e);
    if (r == 0)
        r = outputs_check(&s, e);
    if (r == 0 && settings->dry_run)
        r = preview_print(&s, &stop_requested, e);
    if (r == 0 && settings->dry_run && settings->peer)
        net_preview(s.tape, settings);
    if (r == 0 && !settings->dry_run) {
        r = guard_check(&s, &stop_requested, e);
        if (r == 0 && settings->peer)
            r = beside_open(&s.beside, &s.settings, &stop_requested, e);
        if (r == 0)
            r = session_create(&s, e);
        if (r == 0)
            r = replay(&s, e);
        int closed = beside_close(s.beside, r < 0 ? NULL : e);
        r = r < 0 ? r : closed;
    }
    session_close(&s);
    return r;
}

static int serve(const struct settings *s, struct err *e)
{
    struct serve_options o = {.listen = s->listen,
            .conversations_max = s->serve_max_conversations,
            .bytes_max = s->serve_max_bytes,
            .duration_max_ns = s->serve_max_duration_ns,
            .memory_max_bytes = s->serve_max_memory_bytes};
    return serve_stdio(&o, e);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct err e = {0};
    enum opts_outcome outcome = (enum opts_outcome)settings_parse(&settings, argc, argv);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_EXIT_OK ? 0 : 2;
    catch_signals();
    int r = settings.serve         ? serve(&settings, &e)
            : settings.verify_only ? readback_only(&settings, &stop_requested, &e)
            : settings.peer && settings.to_count + settings.map_count == 0
                    ? net_command(&settings, &stop_requested, &e)
                    : run(&settings, &e);
    if (r < 0) {
        settings_report(&e);
        return 1;
    }
    return 0;
}
