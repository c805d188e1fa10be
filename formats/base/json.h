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
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/base/out.h"

struct json;

struct json *json_new_object(void);
struct json *json_new_array(void);
void json_free(struct json *j); /* NULL is allowed */

/* Put `value` into an object or at the end of an array, and own it from then on, also on failure. */
int json_put(struct json *object, const char *key, struct json *value);
int json_add(struct json *array, struct json *value);

/* The first of an array, owned by it; NULL where it is empty. */
const struct json *json_first(const struct json *array);

int json_put_text(struct json *object, const char *key, const char *text); /* NULL: null */
int json_put_u64(struct json *object, const char *key, uint64_t value);
int json_put_bool(struct json *object, const char *key, bool value);

/* Indented by two, with a line break at the end, keys in the order they were put. */
int json_write(const struct json *j, struct out *o, struct err *e);

#endif
