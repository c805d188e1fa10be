/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How a profile writes its figures for people and as JSON: shares, rates, distributions.
 */
#ifndef IOTAPE_PROFILE_WORDS_H
#define IOTAPE_PROFILE_WORDS_H

#include "analyze/profile.h"
#include "formats/base/json.h"
#include "formats/base/out.h"
#include "formats/base/units.h"

#define WORDS_STREAMS_MAX 8 /* text lists no more streams than this, those with most records */

/* "12.3 %", "<0.1 %" for what is more than nothing, "-" where `whole` is 0. Writes into `buf`, returns it. */
const char *words_share(uint64_t part, uint64_t whole, char buf[UNITS_TEXT_BYTES]);
/* A number of at most four digits: "1234", "12.3", "0.012". Writes into `buf`, returns it. */
const char *words_number(double value, char buf[UNITS_TEXT_BYTES]);
/* `count` in `ns`, per second, as words_number; "-" where `ns` is 0. */
const char *words_rate(double count, uint64_t ns, char buf[UNITS_TEXT_BYTES]);

/* "1 process", "2 processes": `end` is what the plural has more than `one`. */
void words_count(struct out *o, uint64_t count, const char *one, const char *end);

/* A blank line, a title, what it means; then what follows. */
void words_title(struct out *o, const char *title, const char *meaning);
/* The streams that text lists: their ids in `ids`, those with most records first; returns how many. */
size_t words_streams(const struct profile *p, uint32_t ids[WORDS_STREAMS_MAX]);
/* Says how many streams were not listed, if any. */
void words_more_streams(const struct profile *p, struct out *o);

/* [{"from": least value of the class, "count": n}, ...] without empty classes; a class ends where twice its
 * `from` begins. */
struct json *words_log_json(const struct profile_log *l);
/* {count, min, max, mean, p50, ..., log}; null for all but `count` where there were none, null for a
 * percentile with too few values behind it (select_least). */
struct json *words_values_json(const struct profile_values *v, const char *unit);
/* A line: name, mean, percentiles ("-" for one with too few values behind it), greatest, each as `unit`
 * (units_duration, units_size) writes it. Before the first of several, words_values_head. */
void words_values_head(struct out *o);
void words_values(struct out *o, const char *name, const struct profile_values *v,
        const char *(*unit)(uint64_t, char[UNITS_TEXT_BYTES]));
uint64_t words_log_count(const struct profile_log *l);

/* The object, or NULL (and it is freed) where `bad`. */
struct json *words_whole(struct json *j, int bad);
/* part / whole, null where whole is 0. */
int words_put_share(struct json *object, const char *key, uint64_t part, uint64_t whole);

#endif
