/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How many I/Os by time and latency, and by time and place: what heat maps are drawn from. In the second
 * pass, since only then the extent of each stream is known.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/aspect.h"

#define FIRST_ROW_BITS 10 /* row 0 ends at 2^10 ns */

struct heat_state {
    bool second;
    struct profile_place_map **map_of; /* of each stream, NULL for none */
};

uint64_t profile_latency_row_ns(size_t row)
{
    if (!row)
        return 0;
    size_t octave = (row - 1) / 4 + FIRST_ROW_BITS, quarter = (row - 1) % 4;
    return (4 + quarter) << (octave - 2);
}

static size_t latency_row(uint64_t ns)
{
    if (ns < UINT64_C(1) << FIRST_ROW_BITS)
        return 0;
    unsigned octave = 63U - (unsigned)__builtin_clzll(ns);
    size_t row = 1 + (octave - FIRST_ROW_BITS) * 4 + (ns >> (octave - 2) & 3);
    return row < PROFILE_LATENCY_ROWS ? row : PROFILE_LATENCY_ROWS - 1;
}

static void heat_close(void *state)
{
    struct heat_state *h = state;
    if (h)
        free(h->map_of);
    free(h);
}

static int heat_open(void **state, struct profile *p, struct err *e)
{
    struct heat_state *h = calloc(1, sizeof *h);
    if (h)
        h->map_of = calloc(p->stream_count + 1, sizeof *h->map_of);
    if (!h || !h->map_of) {
        heat_close(h);
        return err_sys(e, ENOMEM, "cannot profile the tape");
    }
    *state = h;
    return 0;
}

static int heat_feed(void *state, struct profile *p, const struct block_chunk *c, struct err *e)
{
    const struct heat_state *h = state;
    const struct profile_timeline *t = &p->timeline;
    size_t at = profile_slot_of(t, c);
    (void)e;
    if (!h->second)
        return 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct profile_place_map *map = h->map_of[c->stream[i]];
        at = profile_slot_at(t, c->t_ns[i], at);
        if (c->latency_ns[i] != TAPE_UNKNOWN)
            p->heat.latency[at][latency_row(c->latency_ns[i])]++;
        if (!map || !profile_is_data(c->op[i]))
            continue;
        uint64_t row = (c->offset_bytes[i] - p->streams[c->stream[i]].places.lowest_bytes) >>
                       __builtin_ctzll(map->row_bytes);
        row = row < PROFILE_PLACE_ROWS ? row : PROFILE_PLACE_ROWS - 1; /* zero bytes at the very end */
        (c->op[i] == BLOCK_WRITE ? map->writes : map->reads)[at][row]++;
    }
    return 0;
}

/* The stream with most data I/O among those without a map; stream_count where there is none. */
static size_t busiest(const struct heat_state *h, const struct profile *p)
{
    size_t best = p->stream_count;
    for (size_t i = 0; i < p->stream_count; i++)
        if (!h->map_of[i] && p->streams[i].places.count &&
                (best == p->stream_count || p->streams[i].places.count > p->streams[best].places.count))
            best = i;
    return best;
}

static int make_maps(struct heat_state *h, struct profile *p, struct err *e)
{
    while (p->heat.places < PROFILE_PLACE_MAPS) {
        size_t stream = busiest(h, p);
        if (stream == p->stream_count)
            break;
        struct profile_place_map *map = calloc(1, sizeof *map);
        if (!map)
            return err_sys(e, ENOMEM, "cannot profile the tape");
        const struct profile_places *s = &p->streams[stream].places;
        map->stream = (uint32_t)stream;
        map->row_bytes = 512;
        while ((s->end_bytes - s->lowest_bytes) / map->row_bytes >= PROFILE_PLACE_ROWS)
            map->row_bytes *= 2;
        h->map_of[stream] = p->heat.place[p->heat.places++] = map;
    }
    return 1;
}

static int heat_next(void *state, struct profile *p, struct err *e)
{
    struct heat_state *h = state;
    if (h->second)
        return 0;
    h->second = true;
    return make_maps(h, p, e);
}

const struct profile_aspect profile_heat = {
        .name = "heat",
        .open = heat_open,
        .feed = heat_feed,
        .next = heat_next,
        .close = heat_close,
};
