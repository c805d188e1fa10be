/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The commands that repeat it, as a shell takes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/html.h"
#include "analyze/html_report.h"
#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"

/* A word as sh reads it back: bare where nothing in it means anything, else in single quotes. */
static void put_word(struct out *o, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    out_text(o, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        plot_text_escape(o, word);
        return;
    }
    out_text(o, "&#39;");
    for (const char *p = word; *p; p++) {
        char one[5] = {0};
        size_t len = plot_text_char(p);
        if (*p == '\'')
            out_text(o, "&#39;\\&#39;&#39;");
        else
            plot_text_escape(o, memcpy(one, p, len ? len : 1));
        p += len > 1 ? len - 1 : 0;
    }
    out_text(o, "&#39;");
}

/* Options of a run that iotape-replay takes by the same name, and what they are when not given. */
static const struct {
    const char *fact, *option, *otherwise;
    const char *suffix; /* the unit of the fact */
} options[] = {{"timing", "--timing", "", ""}, {"speed", "--speed", "1", ""}, {"depth", "--depth", "0", ""},
        {"group", "--group", "stream", ""}, {"fit", "--fit", "refuse", ""}, {"from_ns", "--from", "0", "ns"},
        {"for_ns", "--for", "0", "ns"}, {"seed", "--seed", "1", ""},
        {"compressible", "--compressible", "0", ""}, {"dedupe", "--dedupe", "0", ""}};

static void put_options(struct out *o, const struct facts *f)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *value = facts_get(f, options[i].fact);
        char text[128];
        if (!value || strcmp(value, options[i].otherwise) == 0 || strlen(value) > 100)
            continue;
        snprintf(text, sizeof text, "%s%s", value, options[i].suffix);
        out_printf(o, " %s", options[i].option);
        put_word(o, text);
    }
    const char *only = facts_get(f, "read_only"), *verify = facts_get(f, "verify");
    if (only && strcmp(only, "yes") == 0)
        out_text(o, " --read-only");
    if (verify && strcmp(verify, "yes") == 0)
        out_text(o, " --verify");
}

static void put_replay(struct out *o, const struct html_report *r, const struct source *s)
{
    char runs[32];
    out_text(o, "iotape-replay");
    put_word(o, r->tape ? r->tape : "TAPE");
    put_options(o, &s->options);
    snprintf(runs, sizeof runs, "%zu", s->result_count);
    out_text(o, " --runs");
    put_word(o, runs);
    out_text(o, " --to");
    put_word(o, s->target_name ? s->target_name : "");
    out_text(o, " -o");
    put_word(o, s->path);
    out_text(o, "\n");
}

void html_commands(struct out *o, const struct html_report *r)
{
    const struct compare *c = r->compare;
    html_section(o, "commands", "To repeat it",
            "Several targets in one command would be replayed in turns, which is better still. What may be "
            "overwritten has to be said again (--overwrite-data).");
    out_text(o, "<pre><code>");
    for (size_t i = 0; i < c->systems.sources.count; i++)
        if (c->systems.sources.list[i].kind == TAPE_KIND_RUN)
            put_replay(o, r, &c->systems.sources.list[i]);
    out_text(o, "iotape-analyze");
    for (size_t i = 0; r->words[i]; i++)
        put_word(o, r->words[i]);
    out_text(o, "\n</code></pre>\n");
    html_section_end(o);
}
