/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/select.h"

const char *words_share(uint64_t part, uint64_t whole, char buf[UNITS_TEXT_BYTES])
{
    double percent = whole ? 100 * (double)part / (double)whole : 0;
    if (!whole)
        snprintf(buf, UNITS_TEXT_BYTES, "-");
    else if (part && percent < 0.1)
        snprintf(buf, UNITS_TEXT_BYTES, "<0.1 %%");
    else if (part < whole && percent > 99.9)
        snprintf(buf, UNITS_TEXT_BYTES, ">99.9 %%");
    else
        snprintf(buf, UNITS_TEXT_BYTES, "%.1f %%", percent);
    return buf;
}

const char *words_number(double value, char buf[UNITS_TEXT_BYTES])
{
    int digits = value >= 999.5 || value == 0 ? 0 : value >= 99.95 ? 1 : value >= 0.995 ? 2 : 3;
    snprintf(buf, UNITS_TEXT_BYTES, "%.*f", digits, value);
    return buf;
}

const char *words_rate(double count, uint64_t ns, char buf[UNITS_TEXT_BYTES])
{
    if (ns)
        return words_number(count * (double)NS_PER_S / (double)ns, buf);
    snprintf(buf, UNITS_TEXT_BYTES, "-");
    return buf;
}

void words_count(struct out *o, uint64_t count, const char *one, const char *end)
{
    out_printf(o, "%" PRIu64 " %s%s", count, one, count == 1 ? "" : end);
}

static const char *quantile_name(double q, char buf[UNITS_TEXT_BYTES])
{
    snprintf(buf, UNITS_TEXT_BYTES, "p%g", 100 * q);
    return buf;
}

void words_title(struct out *o, const char *title, const char *meaning)
{
    out_printf(o, "\n%s%s%s\n", title, *meaning ? ": " : "", meaning);
}

static uint64_t records_of(const struct profile_stream *s)
{
    uint64_t n = 0;
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        n += s->op[op].count;
    return n;
}

size_t words_streams(const struct profile *p, uint32_t ids[WORDS_STREAMS_MAX])
{
    size_t count = 0;
    for (uint32_t i = 0; i < p->stream_count; i++) {
        uint64_t n = records_of(&p->streams[i]);
        size_t at = count;
        while (at > 0 && records_of(&p->streams[ids[at - 1]]) < n)
            at--;
        if (at == WORDS_STREAMS_MAX || !n)
            continue;
        count += count < WORDS_STREAMS_MAX;
        for (size_t k = count - 1; k > at; k--)
            ids[k] = ids[k - 1];
        ids[at] = i;
    }
    return count;
}

void words_more_streams(const struct profile *p, struct out *o)
{
    size_t with_records = 0;
    for (size_t i = 0; i < p->stream_count; i++)
        with_records += records_of(&p->streams[i]) > 0;
    if (with_records > WORDS_STREAMS_MAX)
        out_printf(o, "  and %zu disks more, with fewer I/Os each (--json has all)\n",
                with_records - WORDS_STREAMS_MAX);
}

struct json *words_log_json(const struct profile_log *l)
{
    struct json *j = json_new_array();
    int bad = !j;
    for (unsigned i = 0; i < PROFILE_LOG_BUCKETS; i++) {
        if (!l->count[i])
            continue;
        struct json *class = json_new_object();
        bad |= json_put_u64(class, "from", i ? UINT64_C(1) << (i - 1) : 0);
        bad |= json_put_u64(class, "count", l->count[i]);
        bad |= json_add(j, class);
    }
    return words_whole(j, bad);
}

uint64_t words_log_count(const struct profile_log *l)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < PROFILE_LOG_BUCKETS; i++)
        n += l->count[i];
    return n;
}

static int put_known(struct json *j, const char *name, const char *unit, bool known, uint64_t value)
{
    char key[32];
    snprintf(key, sizeof key, "%s_%s", name, unit);
    return known ? json_put_u64(j, key, value) : json_put_text(j, key, NULL);
}

struct json *words_values_json(const struct profile_values *v, const char *unit)
{
    struct json *j = json_new_object();
    char key[32];
    int bad = json_put_u64(j, "count", v->count);
    bad |= put_known(j, "min", unit, v->count, v->min);
    snprintf(key, sizeof key, "mean_%s", unit);
    bad |= v->count ? json_put_double(j, key, v->mean) : json_put_text(j, key, NULL);
#define PUT(name, q) bad |= put_known(j, #name, unit, v->count >= select_least(q), v->name);
    PROFILE_QUANTILES(PUT)
#undef PUT
    bad |= put_known(j, "max", unit, v->count, v->max);
    bad |= json_put(j, "log", words_log_json(&v->log));
    return words_whole(j, bad);
}

struct json *words_whole(struct json *j, int bad)
{
    if (j && !bad)
        return j;
    json_free(j);
    return NULL;
}

int words_put_share(struct json *object, const char *key, uint64_t part, uint64_t whole)
{
    return whole ? json_put_double(object, key, (double)part / (double)whole)
                 : json_put_text(object, key, NULL);
}

void words_values_head(struct out *o)
{
    out_printf(o, "  %-13s%12s%12s", "", "least", "mean");
#define HEAD(name, q) out_printf(o, "%12s", quantile_name(q, (char[UNITS_TEXT_BYTES]){0}));
    PROFILE_QUANTILES(HEAD)
#undef HEAD
    out_printf(o, "%12s\n", "greatest");
}

void words_values(struct out *o, const char *name, const struct profile_values *v,
        const char *(*unit)(uint64_t, char[UNITS_TEXT_BYTES]))
{
    char text[UNITS_TEXT_BYTES];
    out_printf(o, "  %-13s%12s", name, unit(v->min, text));
    out_printf(o, "%12s", unit(v->mean < 0x1p63 ? (uint64_t)(v->mean + 0.5) : v->max, text));
#define CELL(field, q) out_printf(o, "%12s", v->count < select_least(q) ? "-" : unit(v->field, text));
    PROFILE_QUANTILES(CELL)
#undef CELL
    out_printf(o, "%12s\n", unit(v->max, text));
}
