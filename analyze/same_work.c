/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/same_work.h"

#include <errno.h>
#include <string.h>

/* Options that say how often and where, not what. All others count, also those not invented yet. */
static const char *const harmless[] = {"runs", "warmup", "max-errors", "map", "to", "output", "size",
        "overwrite-data", "overwrite-recorded-disk", NULL};

static bool is_harmless(const char *key)
{
    for (size_t i = 0; harmless[i]; i++)
        if (strcmp(harmless[i], key) == 0)
            return true;
    return false;
}

static const char *said(const char *value)
{
    return value ? value : "not stated";
}

/* Options that a has and b has otherwise or not at all. `swapped`: a came second, and is named second. */
static int compare_options(const struct source *a, const struct source *b, bool swapped, struct err *e)
{
    for (size_t i = 0; i < a->options.count; i++) {
        const char *key = a->options.list[i].key, *value = a->options.list[i].value;
        const char *other = facts_get(&b->options, key);
        if (is_harmless(key) || (other && strcmp(value, other) == 0))
            continue;
        return err_set(e, EINVAL, "'%s' and '%s' did different work: option %s is %s and %s",
                swapped ? b->path : a->path, swapped ? a->path : b->path, key, swapped ? said(other) : value,
                swapped ? value : said(other));
    }
    return 0;
}

/* Options under which a replay is what a tape itself is: key and the value that leaves all as it was; absent
 * will do. */
static int compare_with_tape(const struct source *tape, const struct source *run, struct err *e)
{
    static const char *const whole[][2] = {
            {"speed", "1"}, {"from_ns", "0"}, {"for_ns", "0"}, {"read_only", "no"}, {"verify", "no"}};
    const char *timing = facts_get(&run->options, "timing");
    if (timing && strcmp(timing, "asap") == 0)
        return err_set(e, EINVAL,
                "'%s' and '%s' did different work: option timing is asap, which no recording is", tape->path,
                run->path);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        const char *value = facts_get(&run->options, whole[i][0]);
        if (value && strcmp(value, whole[i][1]) != 0)
            return err_set(e, EINVAL, "'%s' and '%s' did different work: option %s of the replay is %s",
                    tape->path, run->path, whole[i][0], value);
    }
    return 0;
}

static int compare_pair(const struct source *a, const struct source *b, struct err *e)
{
    if ((a->kind == TAPE_KIND_NONE) != (b->kind == TAPE_KIND_NONE))
        return err_set(e, EINVAL, "'%s' holds results of another tool, which '%s' cannot be compared with",
                a->kind == TAPE_KIND_NONE ? a->path : b->path, a->kind == TAPE_KIND_NONE ? b->path : a->path);
    if (!tape_identity_equal(&a->identity, &b->identity)) {
        char x[TAPE_IDENTITY_TEXT_BYTES], y[TAPE_IDENTITY_TEXT_BYTES];
        return err_set(e, EINVAL, "'%s' and '%s' are of different tapes: identity %s and %s", a->path,
                b->path, tape_identity_name(&a->identity, x), tape_identity_name(&b->identity, y));
    }
    if (a->kind != b->kind)
        return a->kind == TAPE_KIND_RUN ? compare_with_tape(b, a, e) : compare_with_tape(a, b, e);
    if (a->kind != TAPE_KIND_RUN)
        return 0;
    int rc = compare_options(a, b, false, e);
    return rc < 0 ? rc : compare_options(b, a, true, e);
}

int same_work(const struct source *const *sources, size_t count, struct err *e)
{
    /* Each against the first, and each run against the first run where the first is a tape. */
    size_t first_run = 0;
    while (first_run < count && sources[first_run]->kind != TAPE_KIND_RUN)
        first_run++;
    for (size_t i = 1; i < count; i++) {
        int rc = compare_pair(sources[0], sources[i], e);
        if (rc == 0 && first_run < i)
            rc = compare_pair(sources[first_run], sources[i], e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int same_work_timing(const struct source *const *sources, size_t count, enum timing *timing,
        enum depend_group *group, struct err *e)
{
    *timing = TIMING_CLOSED;
    *group = DEPEND_STREAM;
    for (size_t i = 0; i < count; i++) {
        if (sources[i]->kind != TAPE_KIND_RUN)
            continue;
        const char *name = facts_get(&sources[i]->options, "timing");
        const char *by = facts_get(&sources[i]->options, "group");
        int known = timing_parse(name ? name : "");
        if (known < 0)
            return err_set(
                    e, EINVAL, "'%s': its timing is %s, which is unknown here", sources[i]->path, said(name));
        *timing = (enum timing)known;
        if (by && strcmp(by, "issuer") == 0)
            *group = DEPEND_ISSUER;
        return 0;
    }
    return 0;
}
