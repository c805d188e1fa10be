/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Open addressing with linear probing; removal moves up what follows (Knuth, TAOCP 3, 6.4, algorithm R).
 */
#include "analyze/profile/underway.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void underway_release(struct underway *u)
{
    free(u->places);
    *u = (struct underway){0};
}

void underway_reset(struct underway *u)
{
    if (u->count)
        memset(u->places, 0, u->room * sizeof *u->places);
    u->count = 0;
}

/* Where the search for a key begins: multiplicative hashing by 2^64 / golden ratio. */
static size_t home(const struct underway *u, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (u->room - 1);
}

/* The place of the key, or the free one where it would be put. */
static struct underway_one *place_of(const struct underway *u, uint64_t key)
{
    size_t i = home(u, key);
    while (u->places[i].key && u->places[i].key != key)
        i = (i + 1) & (u->room - 1);
    return &u->places[i];
}

static int grow(struct underway *u, struct err *e)
{
    struct underway larger = {.room = u->room ? u->room * 2 : 64, .count = u->count};
    larger.places = calloc(larger.room, sizeof *larger.places);
    if (!larger.places)
        return err_sys(e, ENOMEM, "cannot follow the conversations that are open");
    for (size_t i = 0; i < u->room; i++)
        if (u->places[i].key)
            *place_of(&larger, u->places[i].key) = u->places[i];
    free(u->places);
    *u = larger;
    return 0;
}

int underway_add(struct underway *u, struct underway_one one, struct err *e)
{
    int rc = u->count >= u->room / 2 ? grow(u, e) : 0;
    if (rc < 0)
        return rc;
    *place_of(u, one.key) = one;
    u->count++;
    return 0;
}

struct underway_one *underway_find(const struct underway *u, uint32_t number)
{
    struct underway_one *one = u->room ? place_of(u, number + UINT64_C(1)) : NULL;
    return one && one->key ? one : NULL;
}

void underway_remove(struct underway *u, struct underway_one *one)
{
    size_t mask = u->room - 1, hole = (size_t)(one - u->places);
    for (size_t i = (hole + 1) & mask; u->places[i].key; i = (i + 1) & mask) {
        if (((i - home(u, u->places[i].key)) & mask) < ((i - hole) & mask))
            continue;
        u->places[hole] = u->places[i];
        hole = i;
    }
    u->places[hole].key = 0;
    u->count--;
}
