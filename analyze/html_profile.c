/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the workload is: the figures that a reader asks for first, then all of what `profile` says.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/html.h"
#include "analyze/html_report.h"
#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"
#include "formats/base/cleanup.h"
#include "formats/base/units.h"

static void put_mix(struct out *o, const struct profile *p)
{
    static const struct html_column columns[] = {{"operation", false}, {"I/Os", true}, {"share", true},
            {"bytes", true}, {"p50", true}, {"p99", true}, {"greatest", true}};
    html_table(o, "Operations, and their latencies as recorded", columns, sizeof columns / sizeof *columns);
    for (unsigned op = 0; op < BLOCK_OPS; op++) {
        const struct profile_op *m = &p->mix.op[op];
        const struct profile_values *v = &p->latency.op[op];
        char text[UNITS_TEXT_BYTES];
        if (!m->count)
            continue;
        html_row(o);
        html_head_cell(o, block_op_name(op));
        snprintf(text, sizeof text, "%" PRIu64, m->count);
        html_cell(o, true, text);
        html_cell(o, true, words_share(m->count, p->records, text));
        html_cell(o, true, m->bytes ? units_size(m->bytes, text) : "");
        html_cell(o, true, v->count ? units_duration(v->p50, text) : "");
        html_cell(o, true, v->count ? units_duration(v->p99, text) : "");
        html_cell(o, true, v->count ? units_duration(v->max, text) : "");
        html_row_end(o);
    }
    html_table_end(o);
}

/* "4.00 KiB (71.2 %), 16.00 KiB (28.8 %)" */
static void put_sizes(struct out *o, const char *what, const struct profile_sizes *s)
{
    char text[512] = "";
    uint64_t total = s->others;
    for (size_t i = 0; i < s->list_count; i++)
        total += s->list[i].count;
    for (size_t i = 0; i < s->list_count && i < 4; i++) {
        char size[UNITS_TEXT_BYTES], share[UNITS_TEXT_BYTES];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s (%s)", used ? ", " : "",
                units_size(s->list[i].len_bytes, size), words_share(s->list[i].count, total, share));
    }
    if (*text)
        html_fact(o, what, "%s", text);
}

static void put_places(struct out *o, const struct profile *p)
{
    uint64_t count = 0, sequential = 0, misaligned = 0;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    for (size_t i = 0; i < p->stream_count; i++) {
        count += p->streams[i].places.count;
        sequential += p->streams[i].places.sequential;
        misaligned += p->streams[i].places.misaligned;
    }
    html_fact(o, "Sequential", "%s of reads and writes begin where the one before ended",
            words_share(sequential, count, a));
    html_fact(o, "Misaligned", "%s are not of whole 4 KiB", words_share(misaligned, count, b));
}

static void put_working_set(struct out *o, const struct profile_working_set *w)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    html_fact(o, "Working set", "%s, of which %s were read and %s written", units_size(w->all.bytes, a),
            units_size(w->all.read_bytes, b), units_size(w->all.written_bytes, c));
    html_fact(o, "Read after write",
            "%s of the bytes that were read had been written before; %s had been read before",
            words_share(w->read_after_write_bytes, w->read_bytes, a),
            words_share(w->read_again_bytes, w->read_bytes, b));
    html_fact(o, "Hot", "a tenth of the touched places takes %s of the I/O",
            words_share(w->share_touches[2], w->touches, a));
}

static void put_summary(struct out *o, const struct profile *p)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    html_facts(o);
    html_fact(o, "Recorded", "%" PRIu64 " I/Os in %s: %s a second", p->records,
            units_duration(p->elapsed_ns, a), words_rate((double)p->records, p->elapsed_ns, b));
    if (p->lost || !p->finished)
        html_fact(o, "Not whole", "%" PRIu64 " events were lost%s", p->lost,
                p->finished ? "" : "; the recording was cut off");
    put_sizes(o, "Sizes of reads", &p->read_sizes);
    put_sizes(o, "Sizes of writes", &p->write_sizes);
    put_places(o, p);
    put_working_set(o, &p->working_set);
    if (p->depth.known)
        html_fact(o, "In flight", "%s on average, %" PRIu64 " at most; nothing for %s of the time",
                words_number(p->depth.mean, a), p->depth.max,
                words_share(p->depth.idle_ns, p->elapsed_ns, c));
    html_facts_end(o);
}

/* All of what `profile` prints. */
static int write_profile(const void *context, struct out *o, struct err *e)
{
    const struct html_report *r = context;
    (void)e;
    for (size_t i = 0; profile_aspects[i]; i++)
        if (profile_aspects[i]->text)
            profile_aspects[i]->text(r->profile, o);
    return 0;
}

int html_profile(struct out *o, const struct html_report *r, struct err *e)
{
    html_section(o, "profile", "What the workload is", NULL);
    int rc = 0;
    if (!r->profile) {
        html_paragraph(o, "note", "No recording was given; with --tape TAPE it would be described here.");
    } else {
        put_mix(o, r->profile);
        put_summary(o, r->profile);
        rc = html_download(o, "profile.txt", "text/plain;charset=utf-8",
                "All of the profile as text (profile.txt)", write_profile, r, e);
    }
    html_section_end(o);
    return rc;
}
