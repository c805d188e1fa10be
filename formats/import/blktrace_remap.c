/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_state.h"

/* "X 0 / 128": what is to be done from sector 128 on is another request, and before Linux 4.14 was queued
 * again. */
int bt_take_split(struct bt_matcher *m, const struct bt_event *ev, uint16_t device)
{
    enum bt_class class = bt_class_of(ev);
    struct bt_piece *p = bt_piece_for(m, device, class, ev->sector, BT_ANY), *rest;
    uint64_t front;

    if (!p || ev->split <= ev->sector || ev->split - ev->sector >= p->bytes / BT_SECTOR)
        return 0;
    front = (ev->split - ev->sector) * BT_SECTOR;
    rest = bt_piece_new(&m->open, p->io, device, class, ev->split, p->bytes - (uint32_t)front);
    if (!rest)
        return 0; /* its completion will not be found */
    rest->below = p->below;
    bt_piece_expect(&m->open, rest, true);
    ++*(p->below ? &p->io->below : &p->io->own);
    bt_piece_move(&m->open, p, p->sector, (uint32_t)front);
    return 0;
}

/* A stripe begins within its I/O: the latest one of the device above that holds the range. */
static struct bt_piece *piece_around(struct bt_matcher *m, const struct bt_event *ev, uint16_t from)
{
    enum bt_class class = bt_class_of(ev);
    uint64_t sector = ev->remap.from_sector, sectors = ev->bytes / BT_SECTOR;
    struct bt_io *io = m->devices.list[from].queues ? m->open.held.last : NULL;
    int looked = 0;

    for (; io && looked < BT_SEARCH_MAX; io = io->prev, looked++)
        for (struct bt_piece *p = io->pieces; p && looked < BT_SEARCH_MAX; p = p->sibling, looked++)
            if (p->device == from && p->class == class && p->sector <= sector &&
                    sector - p->sector + sectors <= p->bytes / BT_SECTOR)
                return p;
    return NULL;
}

/* The piece of the device above that a remap is about: one that has not been remapped yet if possible, else
 * one that has (a mirror's second side). */
static struct bt_piece *remapped_piece(struct bt_matcher *m, const struct bt_event *ev, uint16_t from)
{
    enum bt_class class = bt_class_of(ev);
    struct bt_piece *p = bt_piece_at(&m->open, from, class, bt_place_of(class, ev->remap.from_sector));
    struct bt_piece *mirror = NULL;

    for (int i = 0; p && i < BT_SEARCH_MAX; i++, p = bt_piece_next(p)) {
        if (p->bytes == ev->bytes && !p->remapped)
            return p;
        if (p->bytes >= ev->bytes)
            mirror = p;
    }
    return mirror ? mirror : piece_around(m, ev, from);
}

int bt_take_remap(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    enum bt_class class = bt_class_of(ev);
    uint64_t sector = bt_place_of(class, ev->sector);
    struct bt_piece *p, *lower;
    uint16_t from, to;
    int rc;

    if (!ev->remap.from)
        return 0; /* its payload is not there */
    rc = bt_device_find(&m->devices, ev->remap.from, &from, e);
    if (!rc)
        rc = bt_device_find(&m->devices, ev->remap.to, &to, e);
    if (rc)
        return rc;
    if (from == device) { /* the traced partition itself, on its way to the disk */
        if (ev->sector >= ev->remap.from_sector)
            m->devices.list[device].start_sector = ev->sector - ev->remap.from_sector;
        return 0;
    }
    if (!m->devices.list[to].logs)
        m->devices.list[to].logged_as = device;
    from = m->devices.list[from].logged_as;
    if (from == device) { /* a partition of the traced disk: what was remapped to it moves on */
        p = bt_piece_expected(m, device, class, bt_place_of(class, ev->remap.from_sector), ev->bytes);
        if (p)
            bt_piece_move(&m->open, p, sector, p->bytes);
        return 0;
    }
    p = remapped_piece(m, ev, from);
    lower = p ? bt_piece_new(&m->open, p->io, device, class, sector, ev->bytes) : NULL;
    if (lower) {
        p->remapped = true;
        lower->below = true;
        bt_piece_expect(&m->open, lower, true);
        lower->io->below++;
    }
    return 0;
}
