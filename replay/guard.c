/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/units.h"
#include "replay/bulk.h"
#include "replay/content.h"
#include "replay/status.h"

#define END_BYTES (UINT64_C(1) << 20)
/* Gaps up to this are read with their neighbours: one long read is faster than two short ones. */
#define GAP_BYTES (UINT64_C(32) << 10)
/* Blocks that are looked at with --read-only. */
#define SAMPLES 64

/* ---- the recorded disk ---- */

static bool is_recorded(const struct session *s, const struct disk_place *place)
{
    char hash[65];
    disk_id_hash(tape_reader_info(s->tape)->salt, place->id, hash);
    for (uint32_t i = 0; i < tape_reader_stream_count(s->tape); i++) {
        const struct tape_stream *stream = tape_reader_stream(s->tape, i);
        uint64_t end =
                stream->capacity_bytes ? stream->disk_start_bytes + stream->capacity_bytes : UINT64_MAX;
        if (stream->disk_hash[0] && strcmp(stream->disk_hash, hash) == 0 && place->start_bytes < end &&
                stream->disk_start_bytes < place->start_bytes + place->size_bytes)
            return true;
    }
    return false;
}

static int check_recorded(const struct session *s, struct target *t, struct err *e)
{
    struct disk_place place;
    if (!t->ops->place || t->absent || s->settings.overwrite_recorded_disk)
        return 0;
    int r = t->ops->place(t, &place, e);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (!is_recorded(s, &place))
        return 0;
    return err_set(e, EEXIST,
            "'%s' is the disk that '%s' was recorded from (--overwrite-recorded-disk replays onto it "
            "nevertheless)",
            t->url, s->settings.tape);
}

/* ---- signatures ---- */

static int check_signature(struct target *t, struct err *e)
{
    char text[256];
    int r = t->ops->signature ? t->ops->signature(t, text, sizeof text, e) : 0;
    if (r <= 0)
        return r;
    return err_set(e, EEXIST, "'%s' holds a %s (--overwrite-data destroys it)", t->url, text);
}

/* ---- data ---- */

struct scan {
    struct session_target *target;
    struct bulk *bulk;
    struct content_recipe recipe;        /* of the data that the replay will write */
    bool overwrite;                      /* foreign data is no reason to refuse */
    bool ends;                           /* looking at both ends, touched or not */
    uint64_t pending_bytes, pending_end; /* what is to be read next, not yet asked for */
    uint64_t done_bytes, total_bytes;
    struct status status;
    /* With --read-only. */
    uint64_t zero, looked_at;
};

static uint64_t usable_bytes(const struct target *t)
{
    return t->size_bytes & ~(uint64_t)(t->sector_bytes - 1);
}

static int judge(struct scan *s, const void *block, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    struct session_target *t = s->target;
    uint32_t at = 0;
    bool touched = ranges_has(&t->touched, offset_bytes);
    if (!touched && !s->ends)
        return 0;
    enum content_kind kind = content_classify(block, offset_bytes, len_bytes, &s->recipe, &at);
    if (kind == CONTENT_FOREIGN && !s->overwrite)
        return err_set(e, EEXIST,
                "'%s' holds data that iotape did not write, at byte %llu (--overwrite-data destroys it)",
                t->target->url, (unsigned long long)(offset_bytes + at));
    /* What was verified before holds what will be written again: a lost write would not be seen. */
    if (touched && (kind != CONTENT_OURS || s->recipe.verify))
        return ranges_add(&t->refill, offset_bytes, len_bytes, e);
    return 0;
}

static int look(void *context, void *data, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    struct scan *s = context;
    for (uint64_t at = 0; at < len_bytes; at += CONTENT_BLOCK_BYTES) {
        uint64_t len = len_bytes - at < CONTENT_BLOCK_BYTES ? len_bytes - at : CONTENT_BLOCK_BYTES;
        int r = judge(s, (char *)data + at, offset_bytes + at, len, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_pending(struct scan *s, struct err *e)
{
    uint64_t from = s->pending_bytes;
    uint64_t end = s->pending_end < usable_bytes(s->target->target) ? s->pending_end
                                                                    : usable_bytes(s->target->target);
    s->pending_bytes = s->pending_end = 0;
    return end > from ? bulk_add(s->bulk, from, end - from, e) : 0;
}

/* Asks for a part, together with those before it where only a small gap lies between. */
static int read_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    struct scan *s = context;
    char done[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES];
    s->done_bytes += len_bytes;
    status_show(&s->status, "looking at '%s': %s of %s", s->target->target->url,
            units_size(s->done_bytes, done), units_size(s->total_bytes, total));
    if (s->pending_end && offset_bytes - s->pending_end <= GAP_BYTES &&
            offset_bytes + len_bytes - s->pending_bytes <= BULK_BYTES) {
        s->pending_end = offset_bytes + len_bytes;
        return 0;
    }
    int r = s->pending_end ? read_pending(s, e) : 0;
    s->pending_bytes = offset_bytes;
    s->pending_end = offset_bytes + len_bytes;
    return r;
}

static int read_ends(struct scan *s, struct err *e)
{
    uint64_t size = usable_bytes(s->target->target);
    uint64_t first = size < END_BYTES ? size : END_BYTES;
    uint64_t last = (size - first) & ~(uint64_t)(CONTENT_BLOCK_BYTES - 1);
    int r = 0;
    s->ends = true;
    for (uint64_t at = 0; at < first && r == 0; at += BULK_BYTES)
        r = bulk_add(s->bulk, at, first - at < BULK_BYTES ? first - at : BULK_BYTES, e);
    for (uint64_t at = last; at < size && r == 0; at += BULK_BYTES)
        r = bulk_add(s->bulk, at, size - at < BULK_BYTES ? size - at : BULK_BYTES, e);
    if (r == 0)
        r = bulk_finish(s->bulk, e);
    s->ends = false;
    return r;
}

static int check_data(
        struct session *s, struct session_target *t, const volatile sig_atomic_t *stop, struct err *e)
{
    struct scan scan = {.target = t,
            .recipe = s->settings.recipe,
            .overwrite = s->settings.overwrite_data,
            .total_bytes = ranges_bytes(&t->touched)};
    int r = bulk_open(&scan.bulk, t->target, BLOCK_READ, look, &scan, stop, e);
    if (r == 0)
        r = read_ends(&scan, e);
    if (r == 0)
        r = ranges_each(&t->touched, BULK_BYTES, read_part, &scan, e);
    if (r == 0 && scan.pending_end)
        r = read_pending(&scan, e);
    if (r == 0)
        r = bulk_finish(scan.bulk, e);
    bulk_close(scan.bulk);
    status_clear(&scan.status);
    return r;
}

/* ---- --read-only ---- */

static int sample_block(void *context, void *data, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)e;
    struct scan *s = context;
    const uint64_t *word = data;
    uint64_t any = 0;
    (void)offset_bytes;
    for (uint64_t i = 0; i < len_bytes / sizeof *word; i++)
        any |= word[i];
    s->looked_at++;
    s->zero += any == 0;
    return 0;
}

/* Every so many blocks one is read. */
static int sample_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)len_bytes;
    struct scan *s = context;
    uint64_t every = s->total_bytes / SAMPLES;
    bool wanted = s->done_bytes == 0 || s->done_bytes / (every ? every : 1) != s->pending_bytes;
    s->pending_bytes = every ? s->done_bytes / every : s->done_bytes;
    s->done_bytes += len_bytes;
    return wanted && offset_bytes + len_bytes <= usable_bytes(s->target->target)
                   ? bulk_add(s->bulk, offset_bytes, len_bytes, e)
                   : 0;
}

static int sample(struct session_target *t, const volatile sig_atomic_t *stop, struct err *e)
{
    struct scan scan = {.target = t, .total_bytes = ranges_bytes(&t->touched)};
    int r = bulk_open(&scan.bulk, t->target, BLOCK_READ, sample_block, &scan, stop, e);
    if (r == 0)
        r = ranges_each(&t->touched, CONTENT_BLOCK_BYTES, sample_part, &scan, e);
    if (r == 0)
        r = bulk_finish(scan.bulk, e);
    bulk_close(scan.bulk);
    if (r == 0 && scan.zero)
        fprintf(stderr,
                "iotape-replay: warning: %llu of %llu sampled blocks of '%s' that will be read hold zeros: "
                "reads of holes "
                "flatter a target\n",
                (unsigned long long)scan.zero, (unsigned long long)scan.looked_at, t->target->url);
    return r;
}

/* ---- all ---- */

static int check_target(
        struct session *s, struct session_target *t, const volatile sig_atomic_t *stop, struct err *e)
{
    struct target *target = t->target;
    if (!target->ops->stores)
        return 0;
    if (target->absent)
        return ranges_merge(&t->refill, &t->touched, e);
    if (s->settings.read_only)
        return sample(t, stop, e);
    int r = check_recorded(s, target, e);
    if (r == 0 && !s->settings.overwrite_data)
        r = check_signature(target, e);
    return r < 0 ? r : check_data(s, t, stop, e);
}

int guard_check(struct session *s, const volatile sig_atomic_t *stop, struct err *e)
{
    for (size_t i = 0; i < s->targets; i++) {
        int r = check_target(s, &s->target[i], stop, e);
        if (r < 0)
            return r;
    }
    return 0;
}
