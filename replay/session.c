/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"

/* ---- targets ---- */

/* The target of a URL; one that is named twice is opened once. */
static int use_target(struct session *s, const char *url, struct target **target, struct err *e)
{
    for (size_t i = 0; i < s->targets; i++) {
        if (strcmp(s->target[i].target->url, url) == 0) {
            *target = s->target[i].target;
            return 0;
        }
    }
    struct session_target *list = realloc(s->target, (s->targets + 1) * sizeof *list);
    if (!list)
        return err_sys(e, ENOMEM, "cannot open '%s'", url);
    s->target = list;
    struct target_options o = {.read_only = s->settings.read_only || s->settings.verify_only,
            .stall_timeout_ns = s->settings.stall_timeout_ns};
    int r = target_open(target, url, &o, e);
    if (r < 0)
        return r;
    list[s->targets++] = (struct session_target){.target = *target};
    if ((*target)->absent && s->settings.size_bytes)
        (*target)->size_bytes = s->settings.size_bytes;
    return 0;
}

/* ---- streams ---- */

/* The stream that --map names: by its name, else by its number from 1. */
static int find_stream(const struct session *s, const char *name, size_t len, size_t *stream)
{
    size_t streams = tape_reader_stream_count(s->tape);
    for (*stream = 0; *stream < streams; ++*stream) {
        const char *known = tape_reader_stream(s->tape, (uint32_t)*stream)->name;
        if (strlen(known) == len && strncmp(known, name, len) == 0)
            return 0;
    }
    char text[24];
    uint64_t number;
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    if (len >= sizeof text || units_parse_u64(text, &number, NULL) < 0 || number == 0 || number > streams)
        return -ENOENT;
    *stream = number - 1;
    return 0;
}

/* Interfaces have conversations, which go with no target. */
static bool is_disk(const struct session *s, size_t stream)
{
    return tape_reader_stream(s->tape, (uint32_t)stream)->kind != TAPE_STREAM_NET;
}

static size_t count_disks(const struct session *s)
{
    size_t disks = 0;
    for (size_t i = 0; i < tape_reader_stream_count(s->tape); i++)
        disks += is_disk(s, i);
    return disks;
}

static int map_streams(struct session *s, struct session_side *side, struct err *e)
{
    for (size_t m = 0; m < s->settings.map_count; m++) {
        const char *map = s->settings.map[m];
        const char *equals = strchr(map, '=');
        size_t stream;
        if (!equals || !equals[1])
            return err_set(e, EINVAL, "--map '%s' is not STREAM=TARGET", map);
        if (find_stream(s, map, (size_t)(equals - map), &stream) < 0)
            return err_set(e, EINVAL, "--map '%s': the tape has no such stream", map);
        if (!is_disk(s, stream))
            return err_set(
                    e, EINVAL, "--map '%s': that is an interface; --peer replays its conversations", map);
        if (side->target[stream])
            return err_set(e, EINVAL, "--map '%s': the stream is mapped twice", map);
        int r = use_target(s, equals + 1, &side->target[stream], e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int no_way(const struct session *s, size_t stream, struct err *e)
{
    char names[512] = "";
    size_t streams = tape_reader_stream_count(s->tape);
    for (uint32_t i = 0; i < streams && i < 16; i++) {
        size_t used = strlen(names);
        if (is_disk(s, i))
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                    tape_reader_stream(s->tape, i)->name);
    }
    return err_set(e, EINVAL,
            "the tape has %zu streams (%s): give --map for each or as many --to with one -o; nothing says "
            "where '%s' "
            "goes",
            count_disks(s), names, tape_reader_stream(s->tape, (uint32_t)stream)->name);
}

/* No block I/O is of an interface: whatever stands there is never used, and need not be asked for. */
static void fill_gaps(const struct session *s, struct session_side *side)
{
    struct target *any = NULL;
    for (size_t i = 0; i < tape_reader_stream_count(s->tape); i++)
        any = any ? any : side->target[i];
    for (size_t i = 0; i < tape_reader_stream_count(s->tape); i++)
        if (!is_disk(s, i))
            side->target[i] = any;
}

/* Where each stream goes. `first` and `count` say which --to belong to this side. */
static int route(struct session *s, struct session_side *side, size_t first, size_t count, struct err *e)
{
    size_t streams = tape_reader_stream_count(s->tape), disks = count_disks(s), disk = 0;
    side->target = calloc(streams + 1, sizeof *side->target);
    if (!side->target)
        return err_sys(e, ENOMEM, "cannot map %zu streams", streams);
    int r = map_streams(s, side, e);
    size_t unmapped = 0;
    for (size_t i = 0; r == 0 && i < streams; i++)
        unmapped += is_disk(s, i) && !side->target[i];
    if (r == 0 && count > 1 && (count != disks || s->settings.map_count))
        return err_set(e, EINVAL, "%zu --to for one -o and %zu streams in the tape", count, disks);
    bool spread = count == disks && disks > 1;
    for (size_t i = 0; r == 0 && i < streams; i++) {
        if (!is_disk(s, i))
            continue;
        size_t to = spread ? disk++ : 0;
        if (side->target[i])
            continue;
        if (count == 0 || (!spread && disks > 1 && s->settings.map_count == 0) || (!spread && unmapped > 1))
            return no_way(s, i, e);
        r = use_target(s, s->settings.to[first + to], &side->target[i], e);
    }
    fill_gaps(s, side);
    return r;
}

static int name_side(struct session *s, struct session_side *side, struct err *e)
{
    char name[1024] = "";
    size_t streams = tape_reader_stream_count(s->tape);
    for (size_t i = 0; i < streams; i++) {
        size_t used = strlen(name);
        if (is_disk(s, i))
            snprintf(name + used, sizeof name - used, "%s%s", used ? " " : "", side->target[i]->url);
    }
    side->name = strdup(name);
    return side->name ? 0 : err_sys(e, ENOMEM, "cannot name a run");
}

/* With one -o for each --to each is a side; else all --to are one. */
static int make_sides(struct session *s, struct err *e)
{
    const struct settings *set = &s->settings;
    size_t streams = count_disks(s);
    bool own = set->out_count > 1 || (set->out_count == 0 && set->to_count != streams && set->to_count);
    size_t sides = own ? set->to_count : 1;
    s->side = calloc(sides, sizeof *s->side);
    if (!s->side)
        return err_sys(e, ENOMEM, "cannot replay to %zu targets", sides);
    for (size_t i = 0; i < sides; i++) {
        struct session_side *side = &s->side[s->sides++];
        side->output = i < set->out_count ? set->out[i] : NULL;
        int r = own ? route(s, side, i, 1, e) : route(s, side, 0, set->to_count, e);
        if (r == 0)
            r = name_side(s, side, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- the tape ---- */

/* A tape that is not all of the workload is replayed, but not in silence. */
static int open_tape(struct session *s, struct err *e)
{
    const char *path = s->settings.tape;
    int r = tape_reader_open(&s->tape, path, e);
    if (r < 0)
        return r;
    const struct tape_totals *totals = tape_reader_totals(s->tape);
    if (!totals->finished)
        fprintf(stderr, "iotape-replay: warning: '%s' is unfinished: it ends after %llu records\n", path,
                (unsigned long long)totals->records);
    if (totals->lost)
        fprintf(stderr, "iotape-replay: warning: '%s' has lost %llu events\n", path,
                (unsigned long long)totals->lost);
    bool talks = totals->net.conversations, disks = count_disks(s) > 0;
    if (!disks)
        return err_set(e, ENODATA,
                talks ? "'%s' has conversations and no block I/O: replay it with --peer, without --to"
                      : "nothing to replay: '%s' has no streams",
                path);
    if (talks && !s->settings.peer)
        fprintf(stderr, "iotape-replay: warning: conversations of '%s' are left out (--peer replays them)\n",
                path);
    return 0;
}

/* ---- plans ---- */

struct feed_source session_source(const struct session *s, const struct session_side *side)
{
    return (struct feed_source){.tape = s->tape,
            .target = side->target,
            .from_ns = s->settings.from_ns,
            .until_ns = s->until_ns,
            .timing = s->settings.timing == TIMING_DEFAULT ? TIMING_CLOSED
                                                           : (enum replay_timing)s->settings.timing,
            .group = (enum depend_group)s->settings.group,
            .speed = s->settings.speed,
            .fit = (enum fit_policy)s->settings.fit,
            .stop = s->stop,
            .read_only = s->settings.read_only};
}

/* Gathers the ranges of all sides at the targets; only these are kept. */
static int collect_ranges(struct session *s, struct session_side *side, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < side->plan.targets && r == 0; i++) {
        struct plan_target *p = &side->plan.target[i];
        struct session_target *t = s->target;
        while (t->target != p->target)
            t++;
        r = ranges_merge(&t->touched, &p->touched, e);
        if (r == 0)
            r = ranges_merge(&t->punched, &p->punched, e);
        if (p->end_bytes > t->end_bytes)
            t->end_bytes = p->end_bytes;
        ranges_release(&p->touched);
        ranges_release(&p->punched);
    }
    return r;
}

static int make_plans(struct session *s, struct err *e)
{
    size_t streams = tape_reader_stream_count(s->tape);
    for (size_t i = 0; i < s->sides; i++) {
        struct feed_source source = session_source(s, &s->side[i]);
        int r = plan_make(&s->side[i].plan, &source, streams, e);
        if (r == 0)
            r = collect_ranges(s, &s->side[i], e);
        if (r < 0)
            return r;
    }
    const struct plan *p = &s->side[0].plan;
    if (p->records == 0)
        return err_set(e, ENODATA, "nothing to replay: no record of '%s' is left", s->settings.tape);
    if (s->settings.timing == TIMING_DEFAULT)
        s->settings.timing = p->known_latencies ? TIMING_CLOSED : TIMING_RECORDED;
    if (s->settings.timing == TIMING_CLOSED && !p->known_latencies)
        return err_set(e, ENODATA, "--timing closed needs latencies, and the tape has none");
    return 0;
}

/* ---- verifying ---- */

struct content_write session_fill(const struct session *s, const struct session_target *t)
{
    return (struct content_write){.seed = s->settings.seed,
            .repetition = s->settings.recipe.verify ? t->repetitions + 1 : 0,
            .recipe = s->settings.recipe};
}

/* What each target of a side must hold from now on; no other side may write there. */
static int verify_side(struct session *s, struct session_side *side, struct err *e)
{
    size_t streams = tape_reader_stream_count(s->tape);
    side->verify = calloc(streams + 1, sizeof *side->verify);
    if (!side->verify)
        return err_sys(e, ENOMEM, "cannot verify");
    for (size_t i = 0; i < side->plan.targets; i++) {
        struct session_target *t = s->target;
        while (t->target != side->plan.target[i].target)
            t++;
        const char *url = t->target->url;
        if (!t->target->ops->stores)
            return err_set(e, EINVAL, "'%s' keeps nothing that could be verified", url);
        if (t->verify)
            return err_set(e, EINVAL, "'%s' is the target of two runs (-o), which cannot be verified", url);
        int r = verify_open(&t->verify, url, &t->touched, s->settings.seed, e);
        if (r < 0)
            return r;
        for (size_t k = 0; k < streams; k++)
            if (side->target[k] == t->target)
                side->verify[k] = t->verify;
    }
    return 0;
}

int session_open(
        struct session *s, const struct settings *settings, const volatile sig_atomic_t *stop, struct err *e)
{
    *s = (struct session){.settings = *settings, .stop = stop};
    s->until_ns = settings_until_ns(settings);
    int r = open_tape(s, e);
    if (r == 0)
        r = make_sides(s, e);
    if (r == 0)
        r = make_plans(s, e);
    for (size_t i = 0; r == 0 && s->settings.recipe.verify && i < s->sides; i++)
        r = verify_side(s, &s->side[i], e);
    if (r == 0)
        r = work_pool_open(&s->pool, e);
    return r;
}

void session_close(struct session *s)
{
    for (size_t i = 0; i < s->sides; i++) {
        run_writer_close(s->side[i].run, true); /* begun, and nothing measured */
        plan_release(&s->side[i].plan);
        free(s->side[i].target);
        free(s->side[i].verify);
        free(s->side[i].name);
    }
    for (size_t i = 0; i < s->targets; i++) {
        ranges_release(&s->target[i].touched);
        ranges_release(&s->target[i].punched);
        ranges_release(&s->target[i].refill);
        verify_close(s->target[i].verify);
        target_close(s->target[i].target);
    }
    free(s->side);
    free(s->target);
    work_pool_close(s->pool);
    tape_reader_close(s->tape);
}

int session_create(struct session *s, struct err *e)
{
    for (size_t i = 0; i < s->targets; i++) {
        struct session_target *t = &s->target[i];
        if (!t->target->absent)
            continue;
        uint64_t size = t->target->size_bytes;
        if (size == TARGET_ENDLESS)
            size = (t->end_bytes + RANGES_BLOCK_BYTES - 1) / RANGES_BLOCK_BYTES * RANGES_BLOCK_BYTES;
        int r = t->target->ops->create(t->target, size, e);
        if (r < 0)
            return r;
    }
    return 0;
}
