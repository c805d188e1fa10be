/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/units.h"
#include "formats/host.h"
#include "replay/beside.h"
#include "replay/session.h"

/* What one side runs against: keys of a single target as they are, of several with their number before them.
 */
static int describe_targets(
        const struct session *s, const struct session_side *side, struct facts *f, struct err *e)
{
    size_t streams = tape_reader_stream_count(s->tape);
    for (size_t i = 0; i < streams; i++) {
        struct target *t = side->target[i];
        if (tape_reader_stream(s->tape, (uint32_t)i)->kind == TAPE_STREAM_NET)
            continue;
        char prefix[32] = "";
        if (streams > 1)
            snprintf(prefix, sizeof prefix, "%zu.", i + 1);
        struct facts own = {0};
        int r = facts_set(&own, e, "kind", "%s", t->ops->name);
        if (r == 0 && t->size_bytes != TARGET_ENDLESS)
            r = facts_set(&own, e, "size_bytes", "%llu", (unsigned long long)t->size_bytes);
        if (r == 0)
            r = facts_set(&own, e, "sector_bytes", "%u", t->sector_bytes);
        if (r == 0)
            r = t->ops->describe(t, &own, e);
        if (r == 0)
            r = facts_merge(f, &own, prefix, e);
        facts_release(&own);
        if (r < 0)
            return r;
    }
    return 0;
}

static int fill_info(
        const struct session *s, const struct session_side *side, struct run_info *info, struct err *e)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct tape_totals *totals = tape_reader_totals(s->tape);
    info->tape = *tape_reader_info(s->tape); /* borrowed: the writer copies */
    info->identity = totals->identity;
    info->tape_records = totals->records;
    info->tape_lost = totals->lost;
    info->target_name = side->name;
    info->started_unix_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    info->working_set_bytes = side->plan.working_set_bytes;
    int r = host_describe(&info->host, e);
    if (r == 0)
        r = settings_describe(&s->settings, &info->options, e);
    if (r == 0)
        r = describe_targets(s, side, &info->target, e);
    if (r == 0 && s->beside)
        r = beside_describe(s->beside, &info->options, &info->target, e);
    return r;
}

static int begin_run(struct session *s, struct session_side *side, struct err *e)
{
    size_t streams = tape_reader_stream_count(s->tape);
    struct tape_stream *list = calloc(streams, sizeof *list);
    if (!list)
        return err_sys(e, ENOMEM, "cannot begin '%s'", side->output);
    for (size_t i = 0; i < streams; i++)
        list[i] = *tape_reader_stream(s->tape, (uint32_t)i);
    struct run_info info = {0};
    int r = fill_info(s, side, &info, e);
    if (r == 0)
        r = run_writer_open(&side->run, side->output, &info, list, streams, e);
    facts_release(&info.host);
    facts_release(&info.options);
    facts_release(&info.target);
    free(list);
    return r;
}

int session_begin_runs(struct session *s, struct err *e)
{
    for (size_t i = 0; i < s->sides; i++) {
        int r = begin_run(s, &s->side[i], e);
        if (r < 0)
            return r;
    }
    return 0;
}

int session_finish_runs(struct session *s, const char *ended, struct err *e)
{
    int result = 0;
    for (size_t i = 0; i < s->sides; i++) {
        if (!s->side[i].run)
            continue;
        bool begun = s->side[i].repetitions > 0; /* else nothing was measured: there is nothing to keep */
        int r = begun ? run_writer_finish(s->side[i].run, ended, result < 0 ? NULL : e) : 0;
        run_writer_close(s->side[i].run, !begun);
        s->side[i].run = NULL;
        if (r < 0 && result == 0)
            result = r;
    }
    return result;
}
