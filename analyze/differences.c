/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/differences.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

enum topic { TOPIC_HOST, TOPIC_TARGET, TOPIC_OPTION, TOPICS };
static const char *const topic_names[TOPICS] = {"host", "target", "option"};

/* NULL: this source has none of its own. */
static const struct facts *facts_of(const struct source *s, enum topic topic)
{
    switch (topic) {
    case TOPIC_HOST:
        return &s->host;
    case TOPIC_TARGET:
        return s->kind == TAPE_KIND_RECORDING ? NULL : &s->target;
    default:
        return s->kind == TAPE_KIND_RUN ? &s->options : NULL;
    }
}

static const char *value_of(const struct source *s, enum topic topic, const char *key)
{
    const char *value = facts_get(facts_of(s, topic), key);
    return value ? value : "";
}

/* What a side says, each value once. NULL: -ENOMEM. */
static char *side_says(const struct party *p, enum topic topic, const char *key)
{
    char *text = strdup("");
    size_t said = 0;
    for (size_t i = 0; i < p->count && text; i++) {
        bool again = !facts_of(p->sources[i], topic);
        for (size_t j = 0; j < i && !again; j++)
            again = facts_of(p->sources[j], topic) &&
                    strcmp(value_of(p->sources[i], topic, key), value_of(p->sources[j], topic, key)) == 0;
        if (again)
            continue;
        char *more;
        if (asprintf(&more, "%s%s%s", text, said++ ? " / " : "", value_of(p->sources[i], topic, key)) < 0)
            more = NULL;
        free(text);
        text = more;
    }
    return text;
}

/* Takes both texts, NULL where memory was short. */
static int add(
        struct comparison *c, const char *topic, const char *key, char *base, char *cand, struct err *e)
{
    struct difference *list = reallocarray(c->differences, c->difference_count + 1, sizeof *list);
    char *name;
    if (list)
        c->differences = list;
    if (!list || !base || !cand || asprintf(&name, "%s%s%s", topic, *key ? "." : "", key) < 0) {
        free(base);
        free(cand);
        return err_sys(e, ENOMEM, "cannot list differences");
    }
    list[c->difference_count++] = (struct difference){name, base, cand};
    return 0;
}

static const struct source *nth(const struct party *base, const struct party *cand, size_t i)
{
    return i < base->count ? base->sources[i] : cand->sources[i - base->count];
}

static bool agreed(const struct party *base, const struct party *cand, enum topic topic, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < base->count + cand->count; i++) {
        const struct source *s = nth(base, cand, i);
        if (!facts_of(s, topic))
            continue;
        if (value && strcmp(value, value_of(s, topic, key)) != 0)
            return false;
        value = value_of(s, topic, key);
    }
    return true;
}

/* Whether a source before the i-th has the key. */
static bool seen(
        const struct party *base, const struct party *cand, size_t i, enum topic topic, const char *key)
{
    for (size_t k = 0; k < i; k++) {
        const struct facts *f = facts_of(nth(base, cand, k), topic);
        if (f && facts_get(f, key))
            return true;
    }
    return false;
}

static int find_in(struct comparison *c, const struct party *base, const struct party *cand, enum topic topic,
        struct err *e)
{
    for (size_t i = 0; i < base->count + cand->count; i++) {
        const struct facts *f = facts_of(nth(base, cand, i), topic);
        for (size_t j = 0; f && j < f->count; j++) {
            const char *key = f->list[j].key;
            if (seen(base, cand, i, topic, key) || agreed(base, cand, topic, key))
                continue;
            int rc = add(
                    c, topic_names[topic], key, side_says(base, topic, key), side_says(cand, topic, key), e);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* The first source's; of all of a side it is the same, unless a recording is among them. */
static const char *timing_of(const struct party *p)
{
    const char *timing = facts_get(&p->sources[0]->options, "timing");
    switch (p->sources[0]->kind) {
    case TAPE_KIND_RECORDING:
        return "production";
    case TAPE_KIND_RUN:
        return timing ? timing : "";
    default:
        return "";
    }
}

int differences_find(struct comparison *c, const struct party *base, const struct party *cand, struct err *e)
{
    int rc = 0;
    if (!base->count || !cand->count)
        return 0;
    for (enum topic topic = 0; topic < TOPICS && rc == 0; topic++)
        rc = find_in(c, base, cand, topic, e);
    if (rc == 0 && strcmp(timing_of(base), timing_of(cand)) != 0)
        rc = add(c, "timing", "", strdup(timing_of(base)), strdup(timing_of(cand)), e);
    return rc;
}
