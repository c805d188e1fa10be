/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_open.h"

#include <errno.h>
#include <stdlib.h>

#define BITS_FIRST 8
#define BITS_MAX   17

int bt_open_init(struct bt_open *o, struct err *e)
{
    *o = (struct bt_open){
            .buckets = calloc((size_t)1 << BITS_FIRST, sizeof *o->buckets), .bucket_bits = BITS_FIRST};
    return o->buckets ? 0 : err_sys(e, ENOMEM, "cannot follow the trace's I/O");
}

static void list_add(struct bt_list *l, struct bt_io *io)
{
    io->next = NULL;
    io->prev = l->last;
    *(l->last ? &l->last->next : &l->first) = io;
    l->last = io;
    l->count++;
}

static void list_remove(struct bt_list *l, struct bt_io *io)
{
    *(io->prev ? &io->prev->next : &l->first) = io->next;
    *(io->next ? &io->next->prev : &l->last) = io->prev;
    l->count--;
}

static void free_list(struct bt_io *io)
{
    while (io) {
        struct bt_io *next = io->next;
        while (io->pieces) {
            struct bt_piece *p = io->pieces;
            io->pieces = p->sibling;
            free(p);
        }
        free(io);
        io = next;
    }
}

void bt_open_release(struct bt_open *o)
{
    free_list(o->held.first);
    free_list(o->late.first);
    free_list(o->free_ios);
    while (o->free_pieces) {
        struct bt_piece *p = o->free_pieces;
        o->free_pieces = p->sibling;
        free(p);
    }
    free(o->buckets);
    *o = (struct bt_open){0};
}

/* ---- I/Os ---- */

struct bt_io *bt_io_new(struct bt_open *o)
{
    struct bt_io *io = o->free_ios;

    if (io)
        o->free_ios = io->next;
    else
        io = malloc(sizeof *io);
    if (!io)
        return NULL;
    *io = (struct bt_io){0};
    list_add(&o->held, io);
    return io;
}

void bt_io_free(struct bt_open *o, struct bt_io *io)
{
    while (io->pieces)
        bt_piece_free(o, io->pieces);
    list_remove(io->late ? &o->late : &o->held, io);
    io->next = o->free_ios;
    o->free_ios = io;
}

void bt_io_make_late(struct bt_open *o, struct bt_io *io)
{
    list_remove(&o->held, io);
    io->late = true;
    list_add(&o->late, io);
}

/* ---- pieces ---- */

static struct bt_bucket *bucket_of(
        const struct bt_open *o, uint16_t device, enum bt_class class, uint64_t sector)
{
    uint64_t key = sector ^ (uint64_t)device << 44 ^ (uint64_t) class << 56;

    /* Fibonacci hashing: neighbouring sectors are spread by the golden ratio (Knuth, TAOCP 3, 6.4). */
    return &o->buckets[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - o->bucket_bits)];
}

static struct bt_bucket *bucket_of_piece(const struct bt_open *o, const struct bt_piece *p)
{
    return bucket_of(o, p->device, p->class, p->sector);
}

static void bucket_add(struct bt_open *o, struct bt_piece *p)
{
    struct bt_bucket *b = bucket_of_piece(o, p);

    p->next = NULL;
    p->prev = b->last;
    *(b->last ? &b->last->next : &b->first) = p;
    b->last = p;
}

static void bucket_remove(struct bt_open *o, struct bt_piece *p)
{
    struct bt_bucket *b = bucket_of_piece(o, p);

    *(p->prev ? &p->prev->next : &b->first) = p->next;
    *(p->next ? &p->next->prev : &b->last) = p->prev;
}

/* More buckets, so that each has two pieces or less. Without memory for them they stay as they are. */
static void buckets_grow(struct bt_open *o)
{
    size_t bits = o->bucket_bits + 2, count = (size_t)1 << o->bucket_bits;
    struct bt_bucket *old = o->buckets, *more;

    if (o->piece_count < 2 * count || o->bucket_bits >= BITS_MAX)
        return;
    more = calloc((size_t)1 << bits, sizeof *more);
    if (!more)
        return;
    o->buckets = more;
    o->bucket_bits = bits;
    for (size_t i = 0; i < count; i++) {
        for (struct bt_piece *p = old[i].first, *next; p; p = next) {
            next = p->next;
            bucket_add(o, p); /* in their order, so that the oldest stay first */
        }
    }
    free(old);
}

struct bt_piece *bt_piece_new(struct bt_open *o, struct bt_io *io, uint16_t device, enum bt_class class,
        uint64_t sector, uint32_t bytes)
{
    struct bt_piece *p = o->free_pieces;

    if (o->piece_count == BT_PIECES_MAX)
        return NULL;
    if (p)
        o->free_pieces = p->sibling;
    else
        p = malloc(sizeof *p);
    if (!p)
        return NULL;
    *p = (struct bt_piece){.io = io,
            .device = device,
            .class = (uint8_t) class,
            .sector = sector,
            .bytes = bytes,
            .sibling = io->pieces};
    if (p->sibling)
        p->sibling->sibling_prev = p;
    io->pieces = p;
    o->piece_count++;
    buckets_grow(o);
    bucket_add(o, p);
    return p;
}

void bt_piece_free(struct bt_open *o, struct bt_piece *p)
{
    bt_piece_expect(o, p, false);
    bucket_remove(o, p);
    *(p->sibling_prev ? &p->sibling_prev->sibling : &p->io->pieces) = p->sibling;
    if (p->sibling)
        p->sibling->sibling_prev = p->sibling_prev;
    p->sibling = o->free_pieces;
    o->free_pieces = p;
    o->piece_count--;
}

void bt_piece_expect(struct bt_open *o, struct bt_piece *p, bool expected)
{
    o->expected_count += (size_t)expected - (size_t)p->expected;
    p->expected = expected;
}

void bt_piece_move(struct bt_open *o, struct bt_piece *p, uint64_t sector, uint32_t bytes)
{
    bucket_remove(o, p);
    p->sector = sector;
    p->bytes = bytes;
    bucket_add(o, p);
}

static struct bt_piece *find_from(struct bt_piece *p, uint16_t device, enum bt_class class, uint64_t sector)
{
    while (p && (p->sector != sector || p->device != device || p->class != class))
        p = p->next;
    return p;
}

struct bt_piece *bt_piece_at(const struct bt_open *o, uint16_t device, enum bt_class class, uint64_t sector)
{
    return find_from(bucket_of(o, device, class, sector)->first, device, class, sector);
}

struct bt_piece *bt_piece_next(const struct bt_piece *p)
{
    return find_from(p->next, p->device, p->class, p->sector);
}
