/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

static json_t *inner(const struct json *j)
{
    return (json_t *)j;
}

struct json *json_new_object(void)
{
    return (struct json *)json_object();
}

struct json *json_new_array(void)
{
    return (struct json *)json_array();
}

void json_free(struct json *j)
{
    json_decref(inner(j));
}

/* Length of the UTF-8 sequence at `p` as RFC 3629 allows it, or 0. The text ends in a zero, which no
 * continuation byte equals. */
static size_t utf8_length(const unsigned char *p)
{
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : (p[0] & 0xf0) == 0xe0       ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
            (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

static json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    CLEANUP_FREE char *clean = malloc(strlen(text) * 3 + 1);
    if (!clean)
        return NULL;
    char *to = clean;
    while (*text) {
        size_t n = utf8_length((const unsigned char *)text);
        to = mempcpy(to, n ? text : "\xef\xbf\xbd", n ? n : 3);
        text += n ? n : 1;
    }
    *to = 0;
    return json_string(clean);
}

/* jansson refuses keys that are no UTF-8, too. */
static int put(struct json *object, const char *key, json_t *value)
{
    json_t *name = text_value(key);
    int rc = name && value ? json_object_set_new(inner(object), json_string_value(name), value) : -1;
    if (rc < 0 && value && !name)
        json_decref(value);
    json_decref(name);
    return rc < 0 ? -ENOMEM : 0;
}

int json_put(struct json *object, const char *key, struct json *value)
{
    return put(object, key, inner(value));
}

int json_add(struct json *array, struct json *value)
{
    return json_array_append_new(inner(array), inner(value)) < 0 ? -ENOMEM : 0;
}

const struct json *json_first(const struct json *array)
{
    return (const struct json *)json_array_get(inner(array), 0);
}

int json_put_text(struct json *object, const char *key, const char *text)
{
    return put(object, key, text ? text_value(text) : json_null());
}

int json_put_u64(struct json *object, const char *key, uint64_t value)
{
    return put(object, key, value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

int json_put_bool(struct json *object, const char *key, bool value)
{
    return put(object, key, json_boolean(value));
}

static int write_part(const char *bytes, size_t len, void *to)
{
    out_bytes(to, bytes, len);
    return 0;
}

int json_write(const struct json *j, struct out *o, struct err *e)
{
    if (!j || json_dump_callback(inner(j), write_part, o, JSON_INDENT(2) | JSON_PRESERVE_ORDER) < 0)
        return err_sys(e, ENOMEM, "cannot write JSON");
    out_text(o, "\n");
    return 0;
}
