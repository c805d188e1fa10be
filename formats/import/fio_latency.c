/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/fio_latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/flow.h"
#include "formats/import/number.h"

#define KEPT 65536 /* a power of two */
#define NONE UINT32_MAX

struct entry {
    uint64_t offset_bytes, len_bytes, latency_ns;
    uint32_t next; /* in its bucket */
    uint8_t op;
    bool used;
};

struct bucket {
    uint32_t first, last;
};

/* A ring of the latest entries, each in the chain of its place. */
struct fio_latency {
    struct input in;
    struct csv_rows *rows;
    bool skip_bad, at_end;
    uint64_t head, tail; /* of the ring, counted on */
    struct fio_latency_counts counts;
    struct entry entries[KEPT];
    struct bucket buckets[KEPT];
};

enum { TIME, LATENCY, DIRECTION, LEN, OFFSET, CELLS };

bool fio_latency_probe(const uint8_t *head, size_t len)
{
    return flow_probe(head, len, "nnnn", true) && memmem(head, len < 128 ? len : 128, ", ", 2);
}

int fio_latency_open(
        struct fio_latency **out, const char *path, const struct import_options *opts, struct err *e)
{
    struct fio_latency *l = calloc(1, sizeof *l);
    int rc = l ? csv_rows_open(&l->rows, e) : err_sys(e, ENOMEM, "cannot read '%s'", path);

    if (rc == 0)
        rc = input_open(&l->in, path, opts->standard, e);
    if (rc) {
        fio_latency_close(l);
        return rc;
    }
    l->skip_bad = opts->skip_bad;
    memset(l->buckets, 0xff, sizeof l->buckets); /* NONE */
    *out = l;
    return 0;
}

void fio_latency_close(struct fio_latency *l)
{
    if (!l)
        return;
    csv_rows_close(l->rows);
    input_release(&l->in);
    free(l);
}

/* ---- entries ---- */

static struct bucket *bucket_of(struct fio_latency *l, uint8_t op, uint64_t offset, uint64_t len)
{
    uint64_t h = (offset * 8 + op) * UINT64_C(0x9e3779b97f4a7c15) ^ len * UINT64_C(0xc2b2ae3d27d4eb4f);

    return &l->buckets[h >> 48];
}

/* Entries of a bucket are in the ring's order, so that the oldest one is its bucket's first. */
static void drop_oldest(struct fio_latency *l)
{
    uint32_t at = (uint32_t)(l->tail++ & (KEPT - 1));
    struct entry *n = &l->entries[at];

    if (!n->used)
        return;
    struct bucket *b = bucket_of(l, n->op, n->offset_bytes, n->len_bytes);
    b->first = n->next;
    if (b->first == NONE)
        b->last = NONE;
    n->used = false;
}

static void keep(struct fio_latency *l, const struct entry *new)
{
    uint32_t at = (uint32_t)(l->head++ & (KEPT - 1));
    struct bucket *b = bucket_of(l, new->op, new->offset_bytes, new->len_bytes);

    l->entries[at] = *new;
    l->entries[at].next = NONE;
    l->entries[at].used = true;
    if (b->last == NONE)
        b->first = at;
    else
        l->entries[b->last].next = at;
    b->last = at;
}

static bool is_of(const struct entry *n, const struct block_record *r)
{
    return n->op == r->op && n->offset_bytes == r->offset_bytes && n->len_bytes == r->len_bytes;
}

/* Takes the first one of a record out. */
static bool take_kept(struct fio_latency *l, struct block_record *r)
{
    struct bucket *b = bucket_of(l, r->op, r->offset_bytes, r->len_bytes);
    uint32_t before = NONE;

    for (uint32_t i = b->first; i != NONE; before = i, i = l->entries[i].next) {
        struct entry *n = &l->entries[i];
        if (!is_of(n, r))
            continue;
        *(before == NONE ? &b->first : &l->entries[before].next) = n->next;
        if (b->last == i)
            b->last = before;
        n->used = false;
        r->latency_ns = n->latency_ns;
        return true;
    }
    return false;
}

/* ---- lines ---- */

static int entry_of(const struct csv_row *row, struct entry *n, struct err *e)
{
    static const uint8_t ops[] = {BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD};
    uint64_t time_ms, direction;

    if (row->count < CELLS)
        return err_set(e, EBADMSG,
                "%zu cells: there is no offset; fio writes it with --log_offset=1, and without it a latency "
                "belongs to "
                "no I/O in particular",
                row->count);
    int rc = number_whole(row->cell[TIME], "time", &time_ms, e);
    if (!rc)
        rc = number_whole(row->cell[LATENCY], "latency", &n->latency_ns, e);
    if (!rc)
        rc = flow_check_latency(n->latency_ns, e);
    if (!rc)
        rc = number_whole(row->cell[DIRECTION], "direction", &direction, e);
    if (!rc && direction >= sizeof ops)
        rc = err_set(e, EBADMSG, "direction '%.64s' is none of 0, 1, 2", row->cell[DIRECTION]);
    if (!rc)
        rc = number_whole(row->cell[LEN], "length", &n->len_bytes, e);
    if (!rc)
        rc = number_whole(row->cell[OFFSET], "offset", &n->offset_bytes, e);
    if (!rc)
        n->op = ops[direction];
    return rc;
}

/* Reads one more entry: 1, 0 at the log's end, or -errno. */
static int read_one(struct fio_latency *l, struct entry *n, struct err *e)
{
    struct err bad;

    for (;;) {
        const struct csv_row *row;
        char *line;
        err_clear(&bad);
        int rc = input_line(&l->in, &line, &bad);
        if (rc == 0)
            return 0;
        if (rc > 0) {
            rc = csv_rows_line(l->rows, line, l->in.line_bytes, &row, &bad);
            if (rc > 0)
                rc = entry_of(row, n, &bad);
            else if (rc == 0)
                rc = err_set(&bad, EBADMSG, "a quoted cell");
            if (rc == 0)
                return 1;
            err_prefix(&bad, "'%s':%" PRIu64, l->in.path, l->in.line);
        }
        if (rc != -EBADMSG || !l->skip_bad) {
            if (e)
                *e = bad;
            return rc;
        }
        l->counts.bad++;
    }
}

/* Reads on to the record's entry: 1 where there is one. What is read on the way is kept. */
static int find_ahead(struct fio_latency *l, struct block_record *r, struct err *e)
{
    while (!l->at_end && l->head - l->tail < KEPT) {
        struct entry n = {0};
        int rc = read_one(l, &n, e);
        if (rc < 0)
            return rc;
        l->at_end = rc == 0;
        if (rc > 0 && is_of(&n, r)) {
            r->latency_ns = n.latency_ns;
            return 1;
        }
        if (rc > 0)
            keep(l, &n);
    }
    if (l->head - l->tail == KEPT)
        drop_oldest(l);
    return 0;
}

int fio_latency_take(struct fio_latency *l, struct block_record *r, struct err *e)
{
    if (r->op == BLOCK_FLUSH)
        return 0; /* fio logs none */
    while (l->tail < l->head && !l->entries[l->tail & (KEPT - 1)].used)
        l->tail++;
    int rc = take_kept(l, r) ? 1 : find_ahead(l, r, e);
    if (rc < 0)
        return rc;
    l->counts.taken += rc > 0;
    l->counts.missing += rc == 0;
    l->counts.sum_ns += rc > 0 ? r->latency_ns : 0;
    return 0;
}

struct fio_latency_counts fio_latency_counts(const struct fio_latency *l)
{
    return l->counts;
}
