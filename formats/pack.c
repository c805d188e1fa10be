/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/pack.h"

#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "formats/digest.h"

#define SEAL_KEY   "xxh3"
#define SEAL_BYTES 9

static int append(void *data, const char *buf, size_t len)
{
    struct packer *p = data;
    if (!p->failed)
        p->failed = bytes_append(p->out, buf, len, NULL);
    return p->failed ? -1 : 0;
}

static msgpack_packer on(struct packer *p)
{
    msgpack_packer k;
    msgpack_packer_init(&k, p, append);
    return k;
}

void pack_map(struct packer *p, size_t pairs)
{
    msgpack_packer k = on(p);
    msgpack_pack_map(&k, pairs);
}

void pack_array(struct packer *p, size_t count)
{
    msgpack_packer k = on(p);
    msgpack_pack_array(&k, count);
}

void pack_str(struct packer *p, const char *text)
{
    msgpack_packer k = on(p);
    size_t len = strlen(text);
    msgpack_pack_str(&k, len);
    msgpack_pack_str_body(&k, text, len);
}

void pack_uint(struct packer *p, uint64_t v)
{
    msgpack_packer k = on(p);
    msgpack_pack_uint64(&k, v);
}

void pack_int(struct packer *p, int64_t v)
{
    msgpack_packer k = on(p);
    msgpack_pack_int64(&k, v);
}

void pack_bool(struct packer *p, bool v)
{
    msgpack_packer k = on(p);
    if (v)
        msgpack_pack_true(&k);
    else
        msgpack_pack_false(&k);
}

void pack_fixed_uint(struct packer *p, uint64_t v)
{
    msgpack_packer k = on(p);
    msgpack_pack_fix_uint64(&k, v);
}

uint8_t *pack_bin_room(struct packer *p, size_t len)
{
    msgpack_packer k = on(p);
    msgpack_pack_bin(&k, len);
    if (!p->failed)
        p->failed = bytes_reserve(p->out, len, NULL);
    if (p->failed)
        return NULL;
    uint8_t *room = p->out->data + p->out->len;
    p->out->len += len;
    return room;
}

void pack_bin(struct packer *p, const void *data, size_t len)
{
    uint8_t *room = pack_bin_room(p, len);
    if (room && len)
        memcpy(room, data, len);
}

void pack_raw(struct packer *p, const struct bytes *value)
{
    append(p, (const char *)value->data, value->len);
}

void pack_seal(struct packer *p)
{
    pack_str(p, SEAL_KEY);
    if (!p->failed)
        pack_fixed_uint(p, digest64(p->out->data, p->out->len));
}

int packer_end(struct packer *p, struct err *e)
{
    return p->failed ? err_sys(e, p->failed, "cannot pack") : 0;
}

/* ---- reading ---- */

struct unpacked {
    msgpack_zone zone;
    msgpack_object root;
};

struct scan {
    const uint8_t *at, *end;
    uint64_t budget; /* of objects */
};

static bool scan_skip(struct scan *s, uint64_t len)
{
    if (len > (uint64_t)(s->end - s->at))
        return false;
    s->at += len;
    return true;
}

/* A big-endian number of `width` bytes. */
static bool scan_number(struct scan *s, unsigned width, uint64_t *v)
{
    const uint8_t *p = s->at;
    if (!scan_skip(s, width))
        return false;
    *v = 0;
    for (unsigned i = 0; i < width; i++)
        *v = *v << 8 | p[i];
    return true;
}

/* What follows a first byte: bytes of the object itself, and objects within it. */
static bool scan_head(struct scan *s, uint64_t *bytes, uint64_t *objects)
{
    uint64_t tag, n = 0;
    *bytes = *objects = 0;
    if (!scan_number(s, 1, &tag))
        return false;
    if (tag <= 0x7f || tag >= 0xe0 || (tag >= 0xc0 && tag <= 0xc3 && tag != 0xc1))
        return true;
    if (tag <= 0x8f)
        return *objects = 2 * (tag & 15), true;
    if (tag <= 0x9f)
        return *objects = tag & 15, true;
    if (tag <= 0xbf)
        return *bytes = tag & 31, true;
    if (tag >= 0xca && tag <= 0xd3) { /* float 32, 64, uint 8..64, int 8..64 */
        static const uint8_t width[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
        return *bytes = width[tag - 0xca], true;
    }
    if ((tag >= 0xc4 && tag <= 0xc6) || (tag >= 0xd9 && tag <= 0xdb)) { /* bin, str 8..32 */
        if (!scan_number(s, 1U << (tag - (tag < 0xd0 ? 0xc4 : 0xd9)), &n))
            return false;
        return *bytes = n, true;
    }
    if (tag >= 0xdc) { /* array 16, 32, map 16, 32 */
        if (!scan_number(s, tag & 1 ? 4 : 2, &n))
            return false;
        return *objects = tag >= 0xde ? 2 * n : n, true;
    }
    return false; /* extension types and 0xc1: nothing of ours */
}

static bool scan_object(struct scan *s, unsigned depth)
{
    uint64_t bytes, objects;
    if (depth > PACK_DEPTH_MAX || !scan_head(s, &bytes, &objects) || !scan_skip(s, bytes))
        return false;
    if (objects > (uint64_t)(s->end - s->at) || objects > s->budget) /* each takes a byte at least */
        return false;
    s->budget -= objects;
    while (objects--)
        if (!scan_object(s, depth + 1))
            return false;
    return true;
}

int unpack(struct unpacked **out, const void *data, size_t len, size_t max_objects, struct err *e)
{
    struct scan s = {data, (const uint8_t *)data + len, max_objects};
    if (!scan_object(&s, 1) || s.at != s.end)
        return err_set(e, EBADMSG, "is not well-formed msgpack, or too large (byte %zu of the content)",
                (size_t)(s.at - (const uint8_t *)data));
    struct unpacked *u = calloc(1, sizeof *u);
    if (!u || !msgpack_zone_init(&u->zone, 4096)) {
        free(u);
        return err_sys(e, ENOMEM, "cannot unpack");
    }
    size_t at = 0;
    if (msgpack_unpack(data, len, &at, &u->zone, &u->root) != MSGPACK_UNPACK_SUCCESS) {
        unpacked_release(&u);
        return err_set(e, EBADMSG, "cannot be unpacked as msgpack");
    }
    *out = u;
    return 0;
}

void unpacked_release(struct unpacked **u)
{
    if (!*u)
        return;
    msgpack_zone_destroy(&(*u)->zone);
    free(*u);
    *u = NULL;
}

struct value unpacked_root(const struct unpacked *u)
{
    return (struct value){&u->root};
}

int unpack_check_seal(const void *data, size_t len, struct err *e)
{
    static const char key[] = "\xa4" SEAL_KEY "\xcf";
    const uint8_t *end = (const uint8_t *)data + len;
    if (len < SEAL_BYTES + sizeof key ||
            memcmp(end - SEAL_BYTES - (sizeof key - 2), key, sizeof key - 1) != 0)
        return err_set(e, EBADMSG, "has no digest at its end");
    struct scan s = {end - SEAL_BYTES + 1, end, 0};
    uint64_t sum = 0;
    if (!scan_number(&s, 8, &sum) || sum != digest64(data, len - SEAL_BYTES))
        return err_set(e, EBADMSG, "digest does not match");
    return 0;
}

static const msgpack_object *node(struct value v, msgpack_object_type type)
{
    const msgpack_object *o = v.node;
    return o && o->type == type ? o : NULL;
}

bool value_is_map(struct value v)
{
    return node(v, MSGPACK_OBJECT_MAP);
}

bool value_is_array(struct value v)
{
    return node(v, MSGPACK_OBJECT_ARRAY);
}

struct value value_get(struct value map, const char *key)
{
    const msgpack_object *o = node(map, MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; o && i < o->via.map.size; i++)
        if (value_str_is((struct value){&o->via.map.ptr[i].key}, key))
            return (struct value){&o->via.map.ptr[i].val};
    return (struct value){NULL};
}

size_t value_count(struct value v)
{
    const msgpack_object *o = v.node;
    if (!o)
        return 0;
    return o->type == MSGPACK_OBJECT_MAP     ? o->via.map.size
           : o->type == MSGPACK_OBJECT_ARRAY ? o->via.array.size
                                             : 0;
}

struct value value_at(struct value array, size_t i)
{
    const msgpack_object *o = node(array, MSGPACK_OBJECT_ARRAY);
    return (struct value){o && i < o->via.array.size ? &o->via.array.ptr[i] : NULL};
}

void value_pair(struct value map, size_t i, struct value *key, struct value *val)
{
    const msgpack_object *o = node(map, MSGPACK_OBJECT_MAP);
    bool there = o && i < o->via.map.size;
    key->node = there ? &o->via.map.ptr[i].key : NULL;
    val->node = there ? &o->via.map.ptr[i].val : NULL;
}

bool value_uint(struct value v, uint64_t *out)
{
    const msgpack_object *o = node(v, MSGPACK_OBJECT_POSITIVE_INTEGER);
    if (o)
        *out = o->via.u64;
    return o;
}

bool value_int(struct value v, int64_t *out)
{
    const msgpack_object *o = node(v, MSGPACK_OBJECT_NEGATIVE_INTEGER);
    if (o)
        *out = o->via.i64;
    else if ((o = node(v, MSGPACK_OBJECT_POSITIVE_INTEGER)))
        *out = (int64_t)o->via.u64;
    return o;
}

bool value_bool(struct value v, bool *out)
{
    const msgpack_object *o = node(v, MSGPACK_OBJECT_BOOLEAN);
    if (o)
        *out = o->via.boolean;
    return o;
}

bool value_str(struct value v, const char **text, size_t *len)
{
    const msgpack_object *o = node(v, MSGPACK_OBJECT_STR);
    if (o) {
        *text = o->via.str.ptr;
        *len = o->via.str.size;
    }
    return o;
}

bool value_str_is(struct value v, const char *text)
{
    const char *s;
    size_t len;
    return value_str(v, &s, &len) && len == strlen(text) && memcmp(s, text, len) == 0;
}

bool value_bin(struct value v, const uint8_t **data, size_t *len)
{
    const msgpack_object *o = node(v, MSGPACK_OBJECT_BIN);
    if (o) {
        *data = (const uint8_t *)o->via.bin.ptr;
        *len = o->via.bin.size;
    }
    return o;
}

bool value_get_uint(struct value map, const char *key, uint64_t *out)
{
    struct value v = value_get(map, key);
    return !v.node || value_uint(v, out);
}
