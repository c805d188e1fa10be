/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guests while they are recorded: what leaves, and what joins.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "record/wanted.h"

static void name_of(const struct wanted_guest *g, const char *name, char text[160])
{
    snprintf(text, 160, "%s%s", g->prefix, name);
}

static bool has_disk(const struct guest *g, const struct guest_disk *d)
{
    for (size_t i = 0; i < g->disk_count; i++)
        if (strcmp(g->disks[i].name, d->name) == 0 && strcmp(g->disks[i].path, d->path) == 0)
            return true;
    return false;
}

static bool has_net(const struct guest *g, const struct guest_net *n)
{
    for (size_t i = 0; i < g->net_count; i++)
        if (strcmp(g->nets[i].interface, n->interface) == 0)
            return true;
    return false;
}

/* ---- leaving ---- */

static void say_left(const struct wanted_guest *g, const char *name, uint64_t t_ns)
{
    char time[UNITS_TEXT_BYTES];
    fprintf(stderr, "iotape-record: %s: %s left after %s\n", g->shown, name, units_duration(t_ns, time));
}

/* What of `before` is not in `after` any more. */
static void leave(struct wanted *p, const struct wanted_recording *r, const struct wanted_guest *g,
        const struct guest *after, uint64_t t_ns)
{
    char name[160], key[176];
    for (size_t i = 0; i < g->now.disk_count; i++) {
        const struct guest_disk *d = &g->now.disks[i];
        name_of(g, d->name, name);
        const char *in_tape = has_disk(after, d) ? NULL : streams_leave(p->streams, name, t_ns);
        if (!in_tape)
            continue;
        snprintf(key, sizeof key, "left_ns.%.160s", in_tape);
        tape_writer_count(r->w, key, t_ns);
        say_left(g, name, t_ns);
    }
    for (size_t i = 0; i < g->now.net_count; i++) {
        const struct guest_net *n = &g->now.nets[i];
        if (has_net(after, n) || !r->net || !net_source_leave(r->net, n->interface, t_ns))
            continue;
        name_of(g, n->name, name);
        say_left(g, name, t_ns);
    }
}

/* ---- joining ---- */

/* `why`: it is not recorded; NULL: it is. */
static void say_joined(const struct wanted_recording *r, const struct wanted_guest *g, const char *name,
        uint64_t t_ns, const struct err *why)
{
    char time[UNITS_TEXT_BYTES];
    fprintf(stderr, "iotape-record: %s: %s was plugged in after %s%s%s\n", g->shown, name,
            units_duration(t_ns, time), why ? " and is not recorded: " : "", why ? why->text : "");
    if (why)
        tape_writer_count(r->w, "plugged_in_not_recorded", 1);
}

static int cannot_grow(const char *from_start, struct err *why)
{
    return err_set(why, ENOTSUP,
            "this recording cannot grow (that needs --keep-privileges, and %s from the start)", from_start);
}

static int record_disk(
        struct wanted *p, const struct wanted_recording *r, const struct stream_spec *spec, struct err *why)
{
    bool is_new = false;
    size_t count;
    if (!r->source || !r->ops->join || !r->config->growing)
        return cannot_grow("--source bpf and a disk", why);
    int status = streams_join(p->streams, spec, r->w, &is_new, why);
    const struct source_target *targets = streams_targets(p->streams, &count);
    if (status == 0 && is_new)
        status = r->ops->join(r->source, &targets[count - 1], why);
    if (status == 0)
        r->config->target_count = count;
    return status;
}

/* A disk that cannot be followed does not end the recording of the others. */
static int join_disk(struct wanted *p, const struct wanted_recording *r, const struct wanted_guest *g,
        struct guest_disk *d, uint64_t t_ns, struct err *e)
{
    char name[160];
    struct err why = {0};
    name_of(g, d->name, name);
    int status = facts_set(&d->facts, e, "joined_ns", "%" PRIu64, t_ns);
    if (status < 0)
        return status;
    const struct stream_spec spec = {.is = d->is, .path = d->path, .name = name, .facts = &d->facts};
    status = record_disk(p, r, &spec, &why);
    if (status == -EEXIST)
        return 0; /* an image below another one, which is recorded */
    say_joined(r, g, name, t_ns, status < 0 ? &why : NULL);
    return 0;
}

static void join_net(const struct wanted_recording *r, const struct wanted_guest *g,
        const struct guest_net *n, uint64_t t_ns)
{
    char name[160];
    struct err why = {0};
    name_of(g, n->name, name);
    const struct net_spec spec = {.interface = n->interface, .name = name};
    int status = r->net && r->config->growing ? net_source_join(r->net, &spec, &why)
                                              : cannot_grow("an interface", &why);
    say_joined(r, g, name, t_ns, status < 0 ? &why : NULL);
}

static int join(struct wanted *p, const struct wanted_recording *r, const struct wanted_guest *g,
        const struct guest *after, uint64_t t_ns, struct err *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < after->disk_count; i++)
        if (!has_disk(&g->now, &after->disks[i]))
            status = join_disk(p, r, g, &after->disks[i], t_ns, e);
    for (size_t i = 0; i < after->net_count; i++)
        if (!has_net(&g->now, &after->nets[i]))
            join_net(r, g, &after->nets[i], t_ns);
    return status;
}

/* ---- events ---- */

int wanted_watch(struct wanted *p, struct err *e)
{
    return p->o->vms.count ? watch_open(&p->watch, p->virt, p->o->vms.list, p->o->vms.count, e) : 0;
}

/* Keeps the event's guest. */
static int follow(
        struct wanted *p, const struct wanted_recording *r, struct watch_event *event, struct err *e)
{
    struct wanted_guest *g = &p->guests[event->domain]; /* domains come first */
    struct guest *after = &event->guest;
    uint64_t t_ns = event->at_ns > r->start_ns ? event->at_ns - r->start_ns : 0;
    leave(p, r, g, after, t_ns);
    bool left = event->is_gone || (g->left && !r->config->growing); /* what is back cannot be recorded */
    p->guests_left += left && !g->left;
    p->guests_left -= !left && g->left;
    g->left = left;
    int status = join(p, r, g, after, t_ns, e);
    guest_release(&g->now);
    g->now = *after;
    return status;
}

/* Guests that are processes: they end, and nothing joins. */
static void follow_processes(struct wanted *p, const struct wanted_recording *r)
{
    const struct timespec at_once = {0, 0};
    struct timespec now;
    const struct guest nothing = {0};
    for (size_t i = p->o->vms.count; i < p->guest_count; i++) {
        struct wanted_guest *g = &p->guests[i];
        struct pollfd ended = {.fd = g->process, .events = POLLIN};
        if (g->left || g->process < 0 || ppoll(&ended, 1, &at_once, NULL) <= 0)
            continue;
        clock_gettime(CLOCK_MONOTONIC, &now);
        leave(p, r, g, &nothing, (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec - r->start_ns);
        g->left = true;
        p->guests_left++;
    }
}

int wanted_follow(struct wanted *p, const struct wanted_recording *r, struct err *e)
{
    struct watch_event event;
    int status = 0;
    follow_processes(p, r);
    while (p->watch && status == 0 && watch_take(p->watch, &event))
        status = follow(p, r, &event, e);
    return status;
}

bool wanted_left(const struct wanted *p)
{
    return p->guest_count && p->guests_left == p->guest_count && streams_present(p->streams) == 0 &&
           p->o->interfaces.count == 0;
}
