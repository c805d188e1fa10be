/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What parsers of results share: the text as lines, the outputs that grow, and how numbers are found in a
 * line.
 */
#ifndef IOTAPE_READING_H
#define IOTAPE_READING_H

#include "formats/base/json.h"
#include "formats/results.h"

/* Lines lose their end, blanks at both ends, and have one blank where there were several (tabs and no-break
 * spaces count), since posts and mails do so, too. */
struct reading {
    const char *name; /* of the file, for messages */
    const char *raw;  /* the file as UTF-8; ends with a 0 that is not counted */
    size_t raw_len;
    char *lines_text;
    const char **lines; /* NULL-terminated: one beyond the last is NULL */
    size_t *raw_begin;  /* of each line */
    size_t line_count;
    size_t at; /* the line to look at, from 0 */
    struct results *results;
};

struct result_ops {
    const char *name; /* of the tool */
    const char *help; /* one line: versions, forms */
    /* Whether an output begins in the line at r->at. */
    bool (*begins)(const struct reading *r);
    /* Reads it: calls reading_output, then reading_figure, and leaves r->at behind its last line. */
    int (*read)(struct reading *r, struct err *e);
};

/* Splits `bytes`; UTF-16 with a byte order mark is understood. */
int reading_open(struct reading *r, const char *name, const char *bytes, size_t len, struct err *e);
void reading_release(struct reading *r);

/* -EBADMSG with file and line in front of the text. */
int reading_bad(const struct reading *r, struct err *e, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Begins an output at line `at`; further figures are its. */
int reading_output(struct reading *r, const char *tool, const char *form, struct err *e);
struct output *reading_current(const struct reading *r);
/* Drops the latest output. */
void reading_drop(struct reading *r);
void output_release(struct output *o);

/* Adds a figure of line r->at with a copy of the names. `f` holds all else; `line` 0 becomes r->at. */
int reading_figure(struct reading *r, const char *workload, const char *name, struct figure f, struct err *e);
/* Sets a text of the current output, once: `failed` or `note`. */
int reading_say(char **to, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Whether an output of any tool begins at r->at. */
bool reading_begins(const struct reading *r);
/* The next line that is not empty, from r->at + 1 on; NULL where there is none. */
const char *reading_next(const struct reading *r);

/* Whether a JSON object begins in the line whose first part (some KiB) holds all of `keys`, NULL-terminated.
 */
bool reading_json_begins(const struct reading *r, const char *const *keys);
/* Reads it and goes on behind its last line. -EBADMSG with the line. */
int reading_json(struct reading *r, struct json **j, struct err *e);

/* ---- within a line ---- */

/* Behind the first `key` in the text; NULL where there is none, or the text is NULL. */
const char *scan_after(const char *text, const char *key);
/* A finite number, sign and exponent allowed, after blanks: independent of the locale. */
bool scan_number(const char **p, double *value);
/* The text after blanks, if it stands there. */
bool scan_text(const char **p, const char *text);
/* A word up to the next blank, cut to fit. False at the end. */
bool scan_word(const char **p, char *word, size_t size);
/* scan_after and scan_number in one. */
bool scan_keyed(const char *text, const char *key, double *value);
bool scan_begins(const char *text, const char *with);

#endif
