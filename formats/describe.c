/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

int describe_read_text(struct value v, size_t max, char **text, struct err *e)
{
    const char *s = "";
    size_t len = 0;
    if (v.node && (!value_str(v, &s, &len) || len >= max || memchr(s, 0, len)))
        return err_set(e, EBADMSG, "a text is malformed or too long");
    char *copy = strndup(s, len);
    if (!copy)
        return err_sys(e, ENOMEM, "cannot hold a text");
    *text = copy;
    return 0;
}

/* ---- facts ---- */

void describe_pack_facts(struct packer *p, const struct facts *f)
{
    pack_map(p, f->count);
    for (size_t i = 0; i < f->count; i++) {
        pack_str(p, f->list[i].key);
        pack_str(p, f->list[i].value);
    }
}

int describe_read_facts(struct value v, struct facts *f, struct err *e)
{
    if (v.node && !value_is_map(v))
        return err_set(e, EBADMSG, "a description is no map");
    if (value_count(v) > FACTS_MAX)
        return err_set(e, EBADMSG, "a description has more than %d entries", FACTS_MAX);
    for (size_t i = 0; i < value_count(v); i++) {
        CLEANUP_FREE char *key = NULL, *text = NULL;
        struct value k, t;
        value_pair(v, i, &k, &t);
        int r = describe_read_text(k, FACTS_TEXT_MAX, &key, e);
        if (!r)
            r = describe_read_text(t, FACTS_TEXT_MAX, &text, e);
        if (!r)
            r = facts_set(f, e, key, "%s", text);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- identity ---- */

void describe_pack_identity(struct packer *p, const struct tape_identity *id)
{
    pack_array(p, 4);
    pack_fixed_uint(p, id->work[0]);
    pack_fixed_uint(p, id->work[1]);
    pack_fixed_uint(p, id->timed[0]);
    pack_fixed_uint(p, id->timed[1]);
}

int describe_read_identity(struct value v, struct tape_identity *id, struct err *e)
{
    if (value_uint(value_at(v, 0), &id->work[0]) && value_uint(value_at(v, 1), &id->work[1]) &&
            value_uint(value_at(v, 2), &id->timed[0]) && value_uint(value_at(v, 3), &id->timed[1]))
        return 0;
    return err_set(e, EBADMSG, "'identity' is malformed");
}

/* ---- first member ---- */

static const char *const kind_names[] = {
        [TAPE_KIND_NONE] = NULL, [TAPE_KIND_RECORDING] = "recording", [TAPE_KIND_RUN] = "run"};

void describe_pack_head(struct packer *p, enum tape_kind kind)
{
    pack_str(p, "format");
    pack_str(p, "iotape");
    pack_str(p, "version");
    pack_uint(p, DESCRIBE_VERSION);
    pack_str(p, "kind");
    pack_str(p, kind_names[kind]);
}

int describe_read_head(struct value map, enum tape_kind *kind, struct err *e)
{
    uint64_t version;
    struct value k = value_get(map, "kind");
    if (!value_str_is(value_get(map, "format"), "iotape") || !value_uint(value_get(map, "version"), &version))
        return err_set(e, EBADMSG, "does not describe a tape");
    if (version != DESCRIBE_VERSION)
        return err_set(e, ENOTSUP, "has format version %llu; this program reads version %d",
                (unsigned long long)version, DESCRIBE_VERSION);
    if (value_str_is(k, kind_names[TAPE_KIND_RECORDING]))
        *kind = TAPE_KIND_RECORDING;
    else if (value_str_is(k, kind_names[TAPE_KIND_RUN]))
        *kind = TAPE_KIND_RUN;
    else
        return err_set(e, EBADMSG, "is of an unknown kind");
    return 0;
}

void describe_pack_info(struct packer *p, const struct tape_info *i)
{
    pack_str(p, "label");
    pack_str(p, i->label ? i->label : "");
    pack_str(p, "salt");
    pack_bin(p, i->salt, sizeof i->salt);
    pack_str(p, "host");
    describe_pack_facts(p, &i->host);
    pack_str(p, "options");
    describe_pack_facts(p, &i->options);
    pack_str(p, "started_unix_ns");
    pack_uint(p, i->started_unix_ns);
}

static int read_info(struct value map, struct tape_info *i, struct err *e)
{
    const uint8_t *salt;
    size_t len;
    int r = describe_read_text(value_get(map, "label"), FACTS_TEXT_MAX, &i->label, e);
    if (!r)
        r = describe_read_facts(value_get(map, "host"), &i->host, e);
    if (!r)
        r = describe_read_facts(value_get(map, "options"), &i->options, e);
    if (r < 0)
        return r;
    if (!value_bin(value_get(map, "salt"), &salt, &len) || len != sizeof i->salt)
        return err_set(e, EBADMSG, "'salt' is malformed");
    memcpy(i->salt, salt, len);
    if (!value_get_uint(map, "started_unix_ns", &i->started_unix_ns))
        return err_set(e, EBADMSG, "'started_unix_ns' is malformed");
    return 0;
}

int describe_read_info(struct value map, struct tape_info *i, struct err *e)
{
    *i = (struct tape_info){0};
    int r = read_info(map, i, e);
    if (r < 0)
        tape_info_release(i);
    return r;
}

/* ---- streams ---- */

void describe_pack_stream(struct packer *p, const struct tape_stream *s)
{
    pack_map(p, s->kind == TAPE_STREAM_NET ? 7 : 6);
    pack_str(p, "name");
    pack_str(p, s->name ? s->name : "");
    if (s->kind == TAPE_STREAM_NET) {
        pack_str(p, "kind");
        pack_str(p, "net");
    }
    pack_str(p, "capacity_bytes");
    pack_uint(p, s->capacity_bytes);
    pack_str(p, "sector_bytes");
    pack_uint(p, s->sector_bytes);
    pack_str(p, "disk_hash");
    pack_str(p, s->disk_hash);
    pack_str(p, "disk_start_bytes");
    pack_uint(p, s->disk_start_bytes);
    pack_str(p, "device");
    describe_pack_facts(p, &s->device);
}

static int read_stream(struct value v, struct tape_stream *s, struct err *e)
{
    CLEANUP_FREE char *hash = NULL;
    uint64_t sector = 0;
    int r = describe_read_text(value_get(v, "name"), FACTS_TEXT_MAX, &s->name, e);
    if (!r)
        r = describe_read_text(value_get(v, "disk_hash"), sizeof s->disk_hash, &hash, e);
    if (!r)
        r = describe_read_facts(value_get(v, "device"), &s->device, e);
    if (r < 0)
        return r;
    strcpy(s->disk_hash, hash);
    if (!value_get_uint(v, "capacity_bytes", &s->capacity_bytes) ||
            !value_get_uint(v, "sector_bytes", &sector) ||
            !value_get_uint(v, "disk_start_bytes", &s->disk_start_bytes) || sector > UINT32_MAX)
        return err_set(e, EBADMSG, "a stream is malformed");
    s->sector_bytes = (uint32_t)sector;
    struct value kind = value_get(v, "kind");
    s->kind = value_str_is(kind, "net") ? TAPE_STREAM_NET : TAPE_STREAM_DISK;
    if (kind.node && s->kind == TAPE_STREAM_DISK && !value_str_is(kind, "disk"))
        return err_set(e, EBADMSG, "a stream is of an unknown kind");
    return 0;
}

int describe_read_stream(struct value v, struct tape_stream *s, struct err *e)
{
    *s = (struct tape_stream){0};
    int r = value_is_map(v) ? read_stream(v, s, e) : err_set(e, EBADMSG, "a stream is no map");
    if (r < 0)
        tape_stream_release(s);
    return r;
}

/* ---- runs ---- */

int describe_pack_run(const struct run_info *i, struct bytes *out, struct err *e)
{
    struct packer p = {.out = out};
    pack_map(&p, DESCRIBE_HEAD_PAIRS + 10 + 1);
    describe_pack_head(&p, TAPE_KIND_RUN);
    pack_str(&p, "tape");
    pack_map(&p, DESCRIBE_INFO_PAIRS);
    describe_pack_info(&p, &i->tape);
    pack_str(&p, "identity");
    describe_pack_identity(&p, &i->identity);
    pack_str(&p, "tape_records");
    pack_uint(&p, i->tape_records);
    pack_str(&p, "tape_lost");
    pack_uint(&p, i->tape_lost);
    pack_str(&p, "host");
    describe_pack_facts(&p, &i->host);
    pack_str(&p, "options");
    describe_pack_facts(&p, &i->options);
    pack_str(&p, "target");
    describe_pack_facts(&p, &i->target);
    pack_str(&p, "target_name");
    pack_str(&p, i->target_name ? i->target_name : "");
    pack_str(&p, "started_unix_ns");
    pack_uint(&p, i->started_unix_ns);
    pack_str(&p, "working_set_bytes");
    pack_uint(&p, i->working_set_bytes);
    pack_seal(&p);
    return packer_end(&p, e);
}

static int read_run(struct value map, struct run_info *i, struct err *e)
{
    int r = describe_read_info(value_get(map, "tape"), &i->tape, e);
    if (!r)
        r = describe_read_identity(value_get(map, "identity"), &i->identity, e);
    if (!r)
        r = describe_read_facts(value_get(map, "host"), &i->host, e);
    if (!r)
        r = describe_read_facts(value_get(map, "options"), &i->options, e);
    if (!r)
        r = describe_read_facts(value_get(map, "target"), &i->target, e);
    if (!r)
        r = describe_read_text(value_get(map, "target_name"), FACTS_TEXT_MAX, &i->target_name, e);
    if (r < 0)
        return r;
    if (!value_get_uint(map, "tape_records", &i->tape_records) ||
            !value_get_uint(map, "tape_lost", &i->tape_lost) ||
            !value_get_uint(map, "started_unix_ns", &i->started_unix_ns) ||
            !value_get_uint(map, "working_set_bytes", &i->working_set_bytes))
        return err_set(e, EBADMSG, "a number is malformed");
    return 0;
}

int describe_read_run(struct value map, struct run_info *i, struct err *e)
{
    *i = (struct run_info){0};
    int r = read_run(map, i, e);
    if (r < 0)
        run_info_release(i);
    return r;
}
