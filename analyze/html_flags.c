/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/html_flags.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"
#include "formats/base/units.h"

/* %s is the flag's value. What is not here stands as it is. */
static const struct {
    const char *name, *words;
    bool is_size;
} known[] = {
        {"behind", "%s of the I/Os were issued more than 1 ms behind their schedule", false},
        {"late", "I/Os were issued late, compared with how long they take", false},
        {"depth", "the depth of the recording was not reached: %s", false},
        {"steal", "the hypervisor took up to %s of the CPU time", false},
        {"pressure_cpu", "the replaying host was short of CPU", false},
        {"pressure_io", "the replaying host waited for I/O, not only of the replay", false},
        {"pressure_memory", "the replaying host was short of memory", false},
        {"small_working_set", "the working set of %s fits into a cache that the target likely has", true},
        {"left_out_warmup", "warm-up repetitions left out: %s", false},
        {"left_out_cut_short", "repetitions left out, since they were cut short: %s", false},
        {"left_out_errors", "repetitions left out for errors: %s", false},
        {"tape_errors", "I/Os that failed in production: %s", false},
        {"unfinished", "files that end unfinished: %s", false},
        {"starved", "times that the engine waited for the tape: %s", false},
        {"depth_capped", "times that a limit of the replay held an I/O back: %s", false},
        {"unsupported", "operations that the target cannot do: %s", false},
        {"two_step", "operations done in two steps: %s", false},
        {"fit_wrapped", "I/Os moved to fit the target: %s", false},
        {"fit_skipped", "I/Os left out, since they do not fit the target: %s", false},
        {"fit_widened", "I/Os made larger to fit the target's sectors: %s", false},
        {"readonly_skipped", "writes left out: %s", false},
        {"path_changes", "times that a connection to the target went or came: %s", false},
        {"reissued", "I/Os sent again after their connection had died: %s", false},
        {"serialised", "I/Os held back, since they overlap others: %s", false},
        {"tape_lost", "events that the recording lost: %s", false},
        {"tape_throttled", "the disk was throttled when it was recorded", false},
        {"only_in_base", "only the base has this workload", false},
        {"only_in_cand", "only the candidate has this workload", false},
        {"too_few_ios", "too few I/Os for this percentile", false},
        {"not_measured", "not measured in all repetitions", false},
};

static char *words_of(const char *name, size_t len, const char *value, const char *side)
{
    char size[UNITS_TEXT_BYTES], *text;
    uint64_t bytes;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != len || strncmp(known[i].name, name, len) != 0)
            continue;
        if (known[i].is_size && value && units_parse_u64(value, &bytes, NULL) == 0)
            value = units_size(bytes, size);
        const char *hole = strstr(known[i].words, "%s");
        int n = hole ? asprintf(&text, "%s%.*s%s%s", side, (int)(hole - known[i].words), known[i].words,
                               value ? value : "some", hole + 2)
                     : asprintf(&text, "%s%s", side, known[i].words);
        return n < 0 ? NULL : text;
    }
    return asprintf(&text, "%s%s", side, name) < 0 ? NULL : text;
}

/* "base:behind=3.1%", "tape_lost=3". */
static char *flag_words(const char *flag)
{
    const char *side = "";
    if (strncmp(flag, "base:", 5) == 0) {
        side = "Base: ";
        flag += 5;
    } else if (strncmp(flag, "cand:", 5) == 0) {
        side = "Candidate: ";
        flag += 5;
    }
    const char *equals = strchr(flag, '=');
    return words_of(flag, equals ? (size_t)(equals - flag) : strlen(flag), equals ? equals + 1 : NULL, side);
}

static int each_flag(const char *flags, int (*found)(void *context, const char *words), void *context)
{
    CLEANUP_FREE char *copy = strdup(flags ? flags : "");
    char *rest = NULL;
    if (!copy)
        return -ENOMEM;
    for (char *flag = strtok_r(copy, "|", &rest); flag; flag = strtok_r(NULL, "|", &rest)) {
        if (strncmp(flag, "differs:", strlen("differs:")) == 0)
            continue;
        CLEANUP_FREE char *words = flag_words(flag);
        if (!words || found(context, words) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int join(void *context, const char *words)
{
    char **all = context, *more;
    if (asprintf(&more, "%s%s%s", *all, **all ? "; " : "", words) < 0)
        return -ENOMEM;
    free(*all);
    *all = more;
    return 0;
}

char *html_flags_words(const char *flags)
{
    char *all = strdup("");
    if (all && each_flag(flags, join, &all) < 0) {
        free(all);
        return NULL;
    }
    return all;
}

struct list {
    struct out *o;
    bool begun;
};

static int put_item(void *context, const char *words)
{
    struct list *l = context;
    if (!l->begun)
        out_text(l->o, "<ul class=\"flags\">\n");
    l->begun = true;
    out_text(l->o, "<li>");
    plot_text_escape(l->o, words);
    out_text(l->o, "</li>\n");
    return 0;
}

int html_flags_list(struct out *o, const char *flags, struct err *e)
{
    struct list l = {o, false};
    if (each_flag(flags, put_item, &l) < 0)
        return err_sys(e, ENOMEM, "cannot write flags");
    if (l.begun)
        out_text(o, "</ul>\n");
    return 0;
}
