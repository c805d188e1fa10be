/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_event.h"

#include <string.h>

#include "formats/base/units.h"

#define MAGIC        0x65617400u
#define MAGIC_MASK   0xffffff00u
#define CGROUP_BYTES 8

static uint32_t get32(const struct bt_layout *l, const uint8_t *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return l->swapped ? __builtin_bswap32(v) : v;
}

static uint64_t get64(const struct bt_layout *l, const uint8_t *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return l->swapped ? __builtin_bswap64(v) : v;
}

static uint16_t get16(const struct bt_layout *l, const uint8_t *at)
{
    uint16_t v;

    memcpy(&v, at, sizeof v);
    return l->swapped ? __builtin_bswap16(v) : v;
}

/* Remap and split payloads are big-endian whatever the machine (__be32, __be64). */
static uint64_t get_be(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = 0; i < bytes; i++)
        v = v << 8 | at[i];
    return v;
}

/* ---- one event ---- */

static void payload_take(
        const struct bt_layout *l, struct bt_event *ev, const uint8_t *pdu, size_t len, bool cgroup)
{
    if (cgroup && len >= CGROUP_BYTES) {
        pdu += CGROUP_BYTES;
        len -= CGROUP_BYTES;
    }
    if (ev->category & BT_NOTIFY) {
        if (ev->action == BT_NOTE_PROCESS)
            memcpy(ev->name, pdu, len < sizeof ev->name - 1 ? len : sizeof ev->name - 1);
        else if (ev->action == BT_NOTE_TIMESTAMP && len >= 8)
            ev->wall_ns = get32(l, pdu) * NS_PER_S + get32(l, pdu + 4);
    } else if (ev->action == BT_REMAP && len >= 16) {
        ev->remap.from = (uint32_t)get_be(pdu, 4);
        ev->remap.to = (uint32_t)get_be(pdu + 4, 4);
        ev->remap.from_sector = get_be(pdu + 8, 8);
    } else if (ev->action == BT_SPLIT && len >= 8) {
        ev->split = get_be(pdu, 8);
    }
}

/* The kernel stores -errno in 16 bits; old ones stored it as it was. */
static uint16_t errno_of(uint16_t stored)
{
    return stored & 0x8000 ? (uint16_t)-stored : stored;
}

/* Where the fields lie. */
struct places {
    uint8_t version, bytes, action, action_bytes, pid, device, cpu, error, pdu_len;
};

static const struct places versions[] = {
        {7, 48, 28, 4, 32, 36, 40, 44, 46}, {8, 64, 32, 8, 28, 40, 44, 48, 50}};

static const struct places *places_of(const struct bt_layout *l)
{
    return &versions[l->version - versions[0].version];
}

bool bt_layout_find(struct bt_layout *l, const uint8_t *at)
{
    struct bt_layout try = {0};

    for (int swapped = 0; swapped < 2; swapped++) {
        try.swapped = swapped;
        uint32_t magic = get32(&try, at);
        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
            if (magic != (MAGIC | versions[i].version))
                continue;
            *l = (struct bt_layout){swapped, versions[i].version, versions[i].bytes};
            return true;
        }
    }
    return false;
}

unsigned bt_version_of(const uint8_t *at)
{
    uint32_t magic;

    memcpy(&magic, at, sizeof magic);
    if ((magic & MAGIC_MASK) == MAGIC)
        return magic & 0xff;
    magic = __builtin_bswap32(magic);
    return (magic & MAGIC_MASK) == MAGIC ? magic & 0xff : 0;
}

size_t bt_pdu_len(const struct bt_layout *l, const uint8_t *at)
{
    return get16(l, at + places_of(l)->pdu_len);
}

void bt_event_decode(const struct bt_layout *l, const uint8_t *at, size_t pdu_len, struct bt_event *ev,
        struct bt_numbers *n)
{
    const struct places *p = places_of(l);
    uint64_t action = p->action_bytes == 8 ? get64(l, at + p->action) : get32(l, at + p->action);

    *ev = (struct bt_event){
            .t_ns = get64(l, at + 8),
            .sector = get64(l, at + 16),
            .bytes = get32(l, at + 24),
            .category = (uint32_t)(action >> 16),
            .action = (uint16_t)(action & ~(uint64_t)BT_CGROUP),
            .pid = get32(l, at + p->pid),
            .device = get32(l, at + p->device),
            .error = errno_of(get16(l, at + p->error)),
    };
    payload_take(l, ev, at + p->bytes, pdu_len, action & BT_CGROUP);
    *n = (struct bt_numbers){get32(l, at + 4), get32(l, at + p->cpu)};
}
