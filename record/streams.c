/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/host.h"
#include "record/disks.h"
#include "record/extents.h"
#include "record/own_disk.h"
#include "record/owners.h"

/* A file's map is read again so often even where nothing seems to have changed: blocks can be moved. */
#define MAP_NS (5 * NS_PER_S)

struct stream {
    uint32_t target, id;     /* id: in the tape */
    char *path, *asked;      /* as it was named, and as its stream was to be; owned */
    struct extents *extents; /* NULL: a disk */
    unsigned file;           /* its number among files */
    struct tape_stream description;
    uint64_t written_ns; /* the last write since the last flush; 0: none */
    uint64_t left_ns;    /* since the start; UINT64_MAX: it is there */
};

struct streams {
    const uint8_t *salt;
    const char *output;
    struct source_target targets[STREAMS_MAX];
    size_t target_count;
    struct stream list[STREAMS_MAX];
    size_t count;
    struct owners owners;
    struct pieces pieces;
    uint64_t start_ns;
    uint64_t flushes_unsure, flushes_of_none, places_unknown;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ---- what is recorded ---- */

int streams_open(struct streams **out, const uint8_t salt[16], const char *output, struct err *e)
{
    struct streams *s = calloc(1, sizeof *s);
    if (!s)
        return err_sys(e, ENOMEM, "cannot begin to record");
    s->salt = salt;
    s->output = output;
    *out = s;
    return 0;
}

static void stream_release(struct stream *m)
{
    free(m->path);
    free(m->asked);
    extents_close(m->extents);
    tape_stream_release(&m->description);
}

void streams_close(struct streams *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        stream_release(&s->list[i]);
    pieces_release(&s->pieces);
    free(s);
}

size_t streams_count(const struct streams *s)
{
    return s->count;
}

bool streams_any_files(const struct streams *s)
{
    return s->owners.file_count > 0;
}

const struct source_target *streams_targets(const struct streams *s, size_t *count)
{
    *count = s->target_count;
    return s->targets;
}

static int find_target(struct streams *s, dev_t dev, const char *path, uint32_t *target, struct err *e)
{
    for (size_t i = 0; i < s->target_count; i++)
        if (s->targets[i].dev == dev) {
            *target = (uint32_t)i;
            return 0;
        }
    int status = disks_find(dev, path, &s->targets[s->target_count], e);
    if (status == 0)
        *target = (uint32_t)s->target_count++;
    return status;
}

static bool same_stream(const struct stream *a, const struct stream *b)
{
    if (a->target != b->target || !a->extents != !b->extents)
        return false;
    return !a->extents || extents_inode(a->extents) == extents_inode(b->extents);
}

static bool has_name(const struct streams *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].description.name, name) == 0)
            return true;
    return false;
}

/* A name that no other stream has: "file", "file2", ... */
static int make_name(const struct streams *s, const char *wanted, char **name, struct err *e)
{
    char text[80];
    snprintf(text, sizeof text, "%s", wanted);
    for (size_t n = 2; has_name(s, text); n++)
        snprintf(text, sizeof text, "%.60s%zu", wanted, n);
    free(*name);
    *name = strdup(text);
    return *name ? 0 : err_sys(e, ENOMEM, "cannot keep a stream's name");
}

/* What is known of the device that a file's file system lies on. */
static int describe_below(const struct stream *m, struct facts *f, struct err *e)
{
    struct facts CLEANUP(facts_release) below = {0};
    int status = facts_set(f, e, "seen", "below the page cache: what it absorbs is not recorded");
    if (status == 0)
        status = host_device(extents_device(m->extents), &below, e);
    return status ? status : facts_merge(f, &below, "below_", e);
}

static int describe(const struct streams *s, struct stream *m, const struct stream_spec *spec, struct err *e)
{
    struct tape_stream *d = &m->description;
    int status = host_stream(spec->path, s->salt, d, e);
    if (status == 0)
        status = make_name(s, spec->name ? spec->name : d->name, &d->name, e);
    if (status == 0 && m->extents)
        status = describe_below(m, &d->device, e);
    return status == 0 && spec->facts ? facts_merge(&d->device, spec->facts, "", e) : status;
}

static int find_disk(struct streams *s, struct stream *m, const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_sys(e, errno, "cannot record '%s'", path);
    if (!S_ISBLK(st.st_mode))
        return err_set(e, ENOTBLK, "cannot record '%s': not a block device%s", path,
                S_ISREG(st.st_mode) ? " (--file records a file on one)" : "");
    int status = own_disk_refuse(s->output, st.st_rdev, path, e);
    return status ? status : find_target(s, st.st_rdev, path, &m->target, e);
}

static int find_file(struct streams *s, struct stream *m, const char *path, struct err *e)
{
    int status = extents_open(&m->extents, path, e);
    if (status == 0)
        status = own_disk_refuse_file(
                s->output, extents_device(m->extents), extents_inode(m->extents), path, e);
    return status ? status : find_target(s, extents_device(m->extents), path, &m->target, e);
}

int streams_add(struct streams *s, const struct stream_spec *spec, struct err *e)
{
    if (s->count == STREAMS_MAX)
        return err_set(e, E2BIG, "more than %d disks and files in one recording", STREAMS_MAX);
    struct stream m = {
            .path = strdup(spec->path), .asked = strdup(spec->name ? spec->name : ""), .left_ns = UINT64_MAX};
    if (!m.path || !m.asked)
        return err_sys(e, ENOMEM, "cannot record '%s'", spec->path);
    int status = spec->is == STREAM_FILE ? find_file(s, &m, spec->path, e) : find_disk(s, &m, spec->path, e);
    for (size_t i = 0; status == 0 && i < s->count; i++)
        if (s->list[i].left_ns == UINT64_MAX && same_stream(&s->list[i], &m))
            status = err_set(e, EEXIST, "'%s' and '%s' are the same %s", s->list[i].path, spec->path,
                    m.extents ? "file" : "device");
    if (status == 0)
        status = describe(s, &m, spec, e);
    if (status < 0) {
        stream_release(&m);
        return status;
    }
    if (m.extents) {
        m.file = s->owners.file_count;
        owners_add(&s->owners, extents_device(m.extents), extents_inode(m.extents));
    }
    s->list[s->count++] = m;
    return 0;
}

int streams_begin(struct streams *s, uint64_t start_ns, struct tape_writer *w, struct err *e)
{
    int status = 0;
    s->start_ns = start_ns;
    for (size_t i = 0; status == 0 && i < s->count; i++)
        status = tape_writer_stream(w, &s->list[i].description, &s->list[i].id, e);
    if (s->owners.file_count)
        owners_look_all(&s->owners, now_ns());
    return status;
}

int streams_join(
        struct streams *s, const struct stream_spec *spec, struct tape_writer *w, bool *is_new, struct err *e)
{
    size_t targets = s->target_count;
    int status = streams_add(s, spec, e);
    if (status < 0)
        return status;
    struct stream *m = &s->list[s->count - 1];
    *is_new = s->target_count > targets;
    return tape_writer_stream(w, &m->description, &m->id, e);
}

const char *streams_leave(struct streams *s, const char *name, uint64_t t_ns)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].left_ns == UINT64_MAX && strcmp(s->list[i].asked, name) == 0) {
            s->list[i].left_ns = t_ns;
            return s->list[i].description.name;
        }
    return NULL;
}

size_t streams_present(const struct streams *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->list[i].left_ns == UINT64_MAX;
    return count;
}

/* ---- while it runs ---- */

/* Whether I/Os like this one may be the stream's. */
static bool may_be(const struct stream *m, const struct captured *c)
{
    return m->target == c->r.stream && c->r.t_ns < m->left_ns;
}

void streams_note(struct streams *s, const struct captured *c)
{
    if (c->r.op == BLOCK_FLUSH && s->owners.file_count)
        owners_look(&s->owners, c->r.issuer, now_ns());
}

void streams_tick(struct streams *s)
{
    uint64_t now = now_ns();
    for (size_t i = 0; i < s->count; i++) {
        struct extents *x = s->list[i].extents;
        if (x && (now - extents_read_ns(x) > MAP_NS || extents_stale(x)))
            extents_refresh(x);
    }
}

/* The files' places of an I/O; `used` gets their bits. Bytes found, or -ENOMEM. */
static int64_t find_places(struct streams *s, const struct captured *c, uint64_t *used, struct err *e)
{
    int64_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct stream *m = &s->list[i];
        if (!m->extents || !may_be(m, c))
            continue;
        int64_t bytes = extents_find(m->extents, s->start_ns + c->r.t_ns, c->r.offset_bytes, c->r.len_bytes,
                (uint32_t)i, &s->pieces, e);
        if (bytes < 0)
            return bytes;
        if (bytes == 0)
            continue;
        found += bytes;
        *used |= UINT64_C(1) << m->file;
        if (c->r.op == BLOCK_WRITE || c->r.op == BLOCK_WRITE_ZEROES)
            m->written_ns = s->start_ns + c->r.t_ns;
    }
    return found;
}

/* Whether a write that is at no known place may be at one that a file got since its map was read. True where
 * a map was read now. */
static bool read_maps(struct streams *s, const struct captured *c)
{
    uint64_t latency_ns = c->r.latency_ns == TAPE_UNKNOWN ? 0 : c->r.latency_ns;
    uint64_t end_ns = s->start_ns + c->r.t_ns + latency_ns;
    bool any = false;
    if (c->r.op != BLOCK_WRITE || c->r.flags & BLOCK_META)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        struct stream *m = &s->list[i];
        if (!m->extents || !may_be(m, c) || extents_read_ns(m->extents) >= end_ns)
            continue;
        bool read = extents_refresh(m->extents);
        any |= read;
        s->places_unknown += !read;
    }
    return any;
}

static int route_place(struct streams *s, const struct captured *c, struct err *e)
{
    uint64_t used = 0;
    size_t before = s->pieces.count;
    int64_t found = find_places(s, c, &used, e);
    if (found >= 0 && (uint64_t)found < c->r.len_bytes && read_maps(s, c)) {
        s->pieces.count = before;
        found = find_places(s, c, &used, e);
    }
    if (used)
        owners_use(&s->owners, c->r.issuer, used);
    return found < 0 ? (int)found : 0;
}

/* The file of a flush: of those of its sender on this device the one that was written to last. */
static int route_flush(struct streams *s, const struct captured *c, struct err *e)
{
    struct stream *best = NULL;
    uint64_t files = owners_files(&s->owners, c->r.issuer);
    unsigned written = 0, known = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct stream *m = &s->list[i];
        if (!m->extents || !may_be(m, c) || !(files >> m->file & 1))
            continue;
        known++;
        written += m->written_ns != 0;
        if (!best || m->written_ns > best->written_ns)
            best = m;
    }
    if (!best) {
        s->flushes_of_none++;
        return 0;
    }
    s->flushes_unsure += known > 1 && written != 1;
    best->written_ns = 0;
    return pieces_add(&s->pieces, (uint32_t)(best - s->list), 0, 0, e);
}

static bool files_on(const struct streams *s, uint32_t target)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].extents && s->list[i].target == target)
            return true;
    return false;
}

int streams_route(struct streams *s, const struct captured *c, const struct piece **pieces, size_t *count,
        struct err *e)
{
    int status = 0;
    s->pieces.count = 0;
    for (size_t i = 0; status == 0 && i < s->count; i++)
        if (!s->list[i].extents && may_be(&s->list[i], c))
            status = pieces_add(&s->pieces, (uint32_t)i, c->r.offset_bytes, c->r.len_bytes, e);
    if (status == 0 && files_on(s, c->r.stream))
        status = c->r.op == BLOCK_FLUSH ? route_flush(s, c, e) : route_place(s, c, e);
    for (size_t i = 0; i < s->pieces.count; i++)
        s->pieces.list[i].stream = s->list[s->pieces.list[i].stream].id;
    *pieces = s->pieces.list;
    *count = s->pieces.count;
    return status;
}

uint32_t streams_lost_of(const struct streams *s, uint32_t target)
{
    uint32_t id = UINT32_MAX;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].target == target) {
            if (s->list[i].extents || id != UINT32_MAX)
                return UINT32_MAX;
            id = s->list[i].id;
        }
    return id;
}

void streams_counts(struct streams *s, struct tape_writer *w)
{
    if (s->flushes_unsure)
        tape_writer_count(w, "flushes_of_one_of_several_files", s->flushes_unsure);
    if (s->flushes_of_none)
        tape_writer_count(w, "flushes_of_other_files", s->flushes_of_none);
    if (s->places_unknown)
        tape_writer_count(w, "writes_to_places_not_known_yet", s->places_unknown);
    s->flushes_unsure = s->flushes_of_none = s->places_unknown = 0;
}
