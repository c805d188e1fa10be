/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "replay/peer/flow.h"
#include "replay/settings.h"

const char settings_conversations_text[] =
        "--peer replays the tape's socket conversations between this host, which plays all initiators, and "
        "another "
        "one, which plays all responders. It is started there through a remote shell, as rsync does, and "
        "talks "
        "over that shell's standard input and output: nothing listens between repetitions, and during them "
        "every data connection must bring a random token of its own. Data are random bytes of the recorded "
        "sizes.\n\n"
        "COMMAND of --rsh is split at blanks (quotes keep them) and run without a shell, as COMMAND HOST "
        "iotape-replay --serve --stdio. HOST takes the place of %h, if a word has that, and is left out "
        "after commands that run a program here: `ip netns exec NAME`, `nsenter ...`. Data go to the address "
        "of "
        "--listen, else to HOST's; there, the other end listens on --listen, else on the address that sshd "
        "was "
        "reached at, else on any.\n\n"
        "closed: a send waits for as many of the peer's bytes as at the recording and then for its think "
        "time, a "
        "connect for as many ended conversations of its client. recorded: connects and the initiators' sends "
        "at "
        "their recorded times, if what they answer has come. asap: no think times. What a closed step was "
        "late "
        "by comes off its conversation's next think times, 1 ms at most, and is reported all the same.\n\n"
        "An end whose CPU is its own looks for packets for up to 0.2 ms before it sleeps; where the CPU is "
        "shared it sleeps at once, and is slower. So compare runs only where each end has a CPU to spare.\n\n"
        "With --to, the tape's disks and conversations are replayed at once: one start for both, and each "
        "its own "
        "timing from there. A repetition ends when both have.\n\n"
        "A host may cap what it serves: put `iotape-replay --serve --stdio --serve-max-bytes 10G` into its "
        "authorized_keys as command=. A conversation that waits in vain for --stall-timeout longer than "
        "recorded "
        "ends the replay; the error says for which byte.";

static int check_serve(const struct settings *s, struct err *e)
{
    if (!s->stdio)
        return err_set(e, EINVAL, "--serve goes with --stdio");
    if (s->tape || s->to_count || s->map_count || s->out_count || s->peer)
        return err_set(
                e, EINVAL, "--serve takes everything from its client: no tape, target, output or peer");
    return 0;
}

int settings_check_net(const struct settings *s, struct err *e)
{
    if (s->serve)
        return check_serve(s, e);
    if (s->stdio)
        return err_set(e, EINVAL, "--stdio goes with --serve");
    if (!s->peer)
        return s->listen ? err_set(e, EINVAL, "--listen goes with --peer or --serve") : 0;
    if (s->threads < 1 || s->threads > FLOW_THREADS_MAX)
        return err_set(e, EINVAL, "--threads must be 1 to %d", FLOW_THREADS_MAX);
    if (s->to_count + s->map_count)
        return 0; /* the disks' own rules */
    if (s->out_count > 1)
        return err_set(e, EINVAL, "--peer goes with one output (-o)");
    if ((s->verify_only || s->recipe.verify))
        return err_set(e, EINVAL, "--verify is of disks, not of conversations");
    return 0;
}

int settings_describe_net(const struct settings *s, struct facts *f, struct err *e)
{
    static const char *const timings[] = {"closed", "recorded", "asap"};
    int r = facts_set(f, e, "timing", "%s", timings[s->timing]);
    if (r == 0 && s->timing != TIMING_ASAP)
        r = facts_set(f, e, "speed", "%.15g", s->speed);
    /* Only where they are not as they always were, so that older runs compare. */
    if (r == 0 && s->from_ns)
        r = facts_set(f, e, "from_ns", "%llu", (unsigned long long)s->from_ns);
    if (r == 0 && s->for_ns)
        r = facts_set(f, e, "for_ns", "%llu", (unsigned long long)s->for_ns);
    return r < 0 ? r : facts_set(f, e, "threads", "%llu", (unsigned long long)s->threads);
}
