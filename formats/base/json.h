/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * JSON documents, by jansson. A value belongs to who made it until it is put into an object or array.
 * Setters return 0 or -ENOMEM and accept NULL for a value or a parent that could not be made, so that a
 * caller may collect their results and look once.
 *
 * Text need not be UTF-8: bytes that are not become U+FFFD. Whole numbers beyond 2^63 - 1 become the nearest
 * double, since jansson's integers are signed.
 */
#ifndef IOTAPE_JSON_H
#define IOTAPE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/base/out.h"

struct json;

struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_text(const char *text);
void json_free(struct json *j); /* NULL is allowed */

/* Put `value` into an object or at the end of an array, and own it from then on, also on failure. */
int json_put(struct json *object, const char *key, struct json *value);
int json_add(struct json *array, struct json *value);

/* The first of an array, owned by it; NULL where it is empty. */
const struct json *json_first(const struct json *array);

int json_put_text(struct json *object, const char *key, const char *text); /* NULL: null */
int json_put_u64(struct json *object, const char *key, uint64_t value);
int json_put_double(struct json *object, const char *key, double value); /* not finite: null */
int json_put_bool(struct json *object, const char *key, bool value);

/* ---- reading ---- */

/* The object or array at the begin of `text`; *used is where it ends. Numbers become doubles, since foreign
 * files hold whole ones beyond 64 bits; of a key that comes twice the last value stays. -EBADMSG with the
 * line (from 1) within the text. */
int json_read(const char *text, size_t len, struct json **j, size_t *used, struct err *e);

/* Owned by the parent; NULL where it is not there, or the parent is NULL or no object. */
const struct json *json_get(const struct json *object, const char *key);
/* Of an array; 0 for anything else. */
size_t json_length(const struct json *array);
const struct json *json_at(const struct json *array, size_t index);
bool json_holds_members(const struct json *j);
/* False where it is not there or no number (no text). */
bool json_get_number(const struct json *object, const char *key, double *value);
const char *json_get_text(const struct json *object, const char *key);
/* Calls `each` for all members in order until it does not return 0, and returns that. */
int json_each(const struct json *object,
        int (*each)(void *context, const char *key, const struct json *value, struct err *e), void *context,
        struct err *e);
/* A number's value; NAN for anything else. */
double json_number(const struct json *j);
/* A text's; NULL for anything else. */
const char *json_text(const struct json *j);

/* The text as a JSON string, with its quotes. Owned by the caller; NULL with -ENOMEM in *e. */
char *json_quote(const char *text, struct err *e);

/* Indented by two, with a line break at the end, keys in the order they were put. */
int json_write(const struct json *j, struct out *o, struct err *e);

#endif
