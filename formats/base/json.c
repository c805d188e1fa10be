/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/utf8.h"

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

static json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    CLEANUP_FREE char *clean = utf8_clean(text);
    if (!clean)
        return NULL;
    return json_string(clean);
}

struct json *json_new_text(const char *text)
{
    return (struct json *)text_value(text);
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

int json_put_double(struct json *object, const char *key, double value)
{
    return put(object, key, isfinite(value) ? json_real(value) : json_null());
}

int json_put_bool(struct json *object, const char *key, bool value)
{
    return put(object, key, json_boolean(value));
}

/* ---- reading ---- */

int json_read(const char *text, size_t len, struct json **j, size_t *used, struct err *e)
{
    json_error_t error;
    json_t *root = json_loadb(text, len, JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, &error);
    *used = error.position < 0 ? 0 : (size_t)error.position;
    *j = (struct json *)root;
    return root ? 0 : err_set(e, EBADMSG, "JSON, line %d of it: %s", error.line, error.text);
}

const struct json *json_get(const struct json *object, const char *key)
{
    return (const struct json *)json_object_get(inner(object), key);
}

size_t json_length(const struct json *array)
{
    return json_array_size(inner(array));
}

const struct json *json_at(const struct json *array, size_t index)
{
    return (const struct json *)json_array_get(inner(array), index);
}

bool json_holds_members(const struct json *j)
{
    return j && json_typeof(inner(j)) == JSON_OBJECT;
}

double json_number(const struct json *j)
{
    return j && json_is_number(inner(j)) ? json_number_value(inner(j)) : NAN;
}

const char *json_text(const struct json *j)
{
    return json_string_value(inner(j));
}

bool json_get_number(const struct json *object, const char *key, double *value)
{
    double v = json_number(json_get(object, key));
    if (!isfinite(v))
        return false;
    *value = v;
    return true;
}

const char *json_get_text(const struct json *object, const char *key)
{
    return json_text(json_get(object, key));
}

int json_each(const struct json *object,
        int (*each)(void *context, const char *key, const struct json *value, struct err *e), void *context,
        struct err *e)
{
    const char *key;
    json_t *value;
    json_object_foreach(inner(object), key, value)
    {
        int rc = each(context, key, (const struct json *)value, e);
        if (rc != 0)
            return rc;
    }
    return 0;
}

char *json_quote(const char *text, struct err *e)
{
    json_t *value = text_value(text ? text : "");
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    if (!quoted)
        err_sys(e, ENOMEM, "cannot write JSON");
    return quoted;
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
