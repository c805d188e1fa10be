/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/results/reading.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

/* ---- the text ---- */

/* U+0000 to U+FFFF as UTF-8. */
static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Windows tools save UTF-16 with a byte order mark. Surrogates stay as they are: no output has any. */
static char *from_utf16(const unsigned char *bytes, size_t len, size_t *text_len)
{
    bool big = bytes[0] == 0xfe;
    char *text = malloc(len / 2 * 3 + 1), *to = text;
    for (size_t i = 2; text && i + 1 < len; i += 2)
        to = put_utf8(
                to, big ? (unsigned)bytes[i] << 8 | bytes[i + 1] : (unsigned)bytes[i + 1] << 8 | bytes[i]);
    *text_len = (size_t)(to - text);
    if (text)
        *to = 0;
    return text;
}

static char *as_utf8(const char *bytes, size_t len, size_t *text_len)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (len >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff)))
        return from_utf16(b, len, text_len);
    size_t skip = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    char *text = malloc(len - skip + 1);
    if (text)
        *(char *)mempcpy(text, bytes + skip, len - skip) = 0;
    *text_len = len - skip;
    return text;
}

/* Bytes of a blank at p: space, tab, carriage return, no-break space; 0 for none. */
static size_t blank_at(const char *p)
{
    if (*p == ' ' || *p == '\t' || *p == '\r')
        return 1;
    return p[0] == '\xc2' && p[1] == '\xa0' ? 2 : 0;
}

/* One line from `from` up to `end`, without needless blanks, to `to`; returns where its 0 stands. */
static char *copy_line(char *to, const char *from, const char *end)
{
    char *begin = to;
    bool blank = false;
    while (from < end) {
        size_t n = blank_at(from);
        if (n) {
            blank = true;
            from += n;
            continue;
        }
        if (blank && to > begin)
            *to++ = ' ';
        blank = false;
        *to++ = *from++;
    }
    *to = 0;
    return to;
}

static int split(struct reading *r, struct err *e)
{
    size_t count = 1;
    for (const char *p = r->raw; (p = strchr(p, '\n')); p++)
        count++;
    if (count > RESULTS_LINES_MAX)
        return err_set(e, EFBIG, "'%s' has more than %u lines", r->name, RESULTS_LINES_MAX);
    char *to = r->lines_text = malloc(r->raw_len + count + 1);
    r->lines = calloc(count + 1, sizeof *r->lines);
    r->raw_begin = calloc(count + 1, sizeof *r->raw_begin);
    if (!to || !r->lines || !r->raw_begin)
        return err_sys(e, ENOMEM, "cannot hold '%s'", r->name);
    for (const char *p = r->raw; r->line_count < count;) {
        const char *end = strchrnul(p, '\n');
        r->raw_begin[r->line_count] = (size_t)(p - r->raw);
        r->lines[r->line_count++] = to;
        to = copy_line(to, p, end) + 1;
        p = end + 1;
    }
    r->raw_begin[count] = r->raw_len;
    return 0;
}

int reading_open(struct reading *r, const char *name, const char *bytes, size_t len, struct err *e)
{
    *r = (struct reading){.name = name};
    r->raw = as_utf8(bytes, len, &r->raw_len);
    if (!r->raw)
        return err_sys(e, ENOMEM, "cannot hold '%s'", name);
    int rc = memchr(r->raw, 0, r->raw_len) ? err_set(e, EINVAL, "'%s' is no text: it holds zero bytes", name)
                                           : split(r, e);
    if (rc < 0)
        reading_release(r);
    return rc;
}

void reading_release(struct reading *r)
{
    free((char *)r->raw);
    free(r->lines_text);
    free(r->lines);
    free(r->raw_begin);
    *r = (struct reading){0};
}

int reading_bad(const struct reading *r, struct err *e, const char *fmt, ...)
{
    CLEANUP_FREE char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    return err_set(e, EBADMSG, "'%s', line %zu: %s", r->name, r->at + 1, text ? text : "damaged");
}

const char *reading_next(const struct reading *r)
{
    for (size_t i = r->at + 1; i < r->line_count; i++)
        if (*r->lines[i])
            return r->lines[i];
    return NULL;
}

/* ---- JSON within the text ---- */

#define JSON_SNIFF_BYTES 4096

bool reading_json_begins(const struct reading *r, const char *const *keys)
{
    const char *line = r->lines[r->at];
    if (*line != '{')
        return false;
    const char *begin = strchr(r->raw + r->raw_begin[r->at], '{') + 1;
    if (begin[strspn(begin, " \t\r\n")] != '"')
        return false;
    size_t left = r->raw_len - (size_t)(begin - r->raw);
    for (size_t i = 0; keys[i]; i++)
        if (!memmem(begin, left < JSON_SNIFF_BYTES ? left : JSON_SNIFF_BYTES, keys[i], strlen(keys[i])))
            return false;
    return true;
}

int reading_json(struct reading *r, struct json **j, struct err *e)
{
    struct err inner = {0};
    size_t used;
    const char *begin = strchr(r->raw + r->raw_begin[r->at], '{');
    int rc = json_read(begin, r->raw_len - (size_t)(begin - r->raw), j, &used, &inner);
    if (rc < 0)
        return reading_bad(r, e, "%s", inner.text);
    size_t end = (size_t)(begin - r->raw) + used;
    while (r->at < r->line_count && r->raw_begin[r->at] < end)
        r->at++;
    return 0;
}

/* ---- outputs ---- */

/* Room for one more in an array that doubles. */
static void *grow(void *list, size_t count, size_t size)
{
    if (count && (count & (count - 1)))
        return list;
    return reallocarray(list, count ? 2 * count : 1, size);
}

int reading_output(struct reading *r, const char *tool, const char *form, struct err *e)
{
    struct output *list = grow(r->results->outputs, r->results->count, sizeof *list);
    if (!list)
        return err_sys(e, ENOMEM, "cannot hold the results of '%s'", r->name);
    r->results->outputs = list;
    list[r->results->count++] = (struct output){.tool = tool, .form = form, .line = r->at + 1};
    return 0;
}

struct output *reading_current(const struct reading *r)
{
    return &r->results->outputs[r->results->count - 1];
}

void output_release(struct output *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->figures[i].workload);
        free(o->figures[i].name);
    }
    free(o->figures);
    free(o->failed);
    free(o->note);
    facts_release(&o->facts);
    *o = (struct output){0};
}

void reading_drop(struct reading *r)
{
    r->results->figures -= reading_current(r)->count;
    output_release(reading_current(r));
    r->results->count--;
}

int reading_figure(struct reading *r, const char *workload, const char *name, struct figure f, struct err *e)
{
    struct output *o = reading_current(r);
    if (r->results->figures == RESULTS_FIGURES_MAX)
        return err_set(e, EFBIG, "'%s' holds more than %d figures", r->name, RESULTS_FIGURES_MAX);
    if (!f.missing && !isfinite(f.value))
        return reading_bad(r, e, "%s of '%s' is not a number", name, workload);
    struct figure *list = grow(o->figures, o->count, sizeof *list);
    f.workload = strdup(workload);
    f.name = strdup(name);
    if (list)
        o->figures = list;
    if (!list || !f.workload || !f.name) {
        free(f.workload);
        free(f.name);
        return err_sys(e, ENOMEM, "cannot hold the results of '%s'", r->name);
    }
    if (f.missing)
        f.value = NAN;
    if (!f.line)
        f.line = r->at + 1;
    o->figures[o->count++] = f;
    r->results->figures++;
    return 0;
}

int reading_say(char **to, struct err *e, const char *fmt, ...)
{
    if (*to)
        return 0;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(to, fmt, ap);
    va_end(ap);
    if (n >= 0)
        return 0;
    *to = NULL;
    return err_sys(e, ENOMEM, "cannot hold the results");
}
