/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Domains while they are recorded: what leaves, and what joins.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void mark_left(
        const struct wanted_recording *r, const struct wanted_guest *g, const char *name, uint64_t t_ns)
{
    char key[176], time[UNITS_TEXT_BYTES];
    snprintf(key, sizeof key, "left_ns.%s", name);
    tape_writer_count(r->w, key, t_ns);
    fprintf(stderr, "iotape-record: %s: %s left after %s\n", g->shown, name, units_duration(t_ns, time));
}

/* What of `before` is not in `after` any more. */
static void leave(struct wanted *p, const struct wanted_recording *r, const struct wanted_guest *g,
        const struct guest *after, uint64_t t_ns)
{
    char name[160];
    for (size_t i = 0; i < g->now.disk_count; i++) {
        const struct guest_disk *d = &g->now.disks[i];
        name_of(g, d->name, name);
        if (!has_disk(after, d) && streams_leave(p->streams, name, t_ns))
            mark_left(r, g, name, t_ns);
    }
    for (size_t i = 0; i < g->now.net_count; i++) {
        name_of(g, g->now.nets[i].name, name);
        if (!has_net(after, &g->now.nets[i]))
            mark_left(r, g, name, t_ns);
    }
}

/* ---- joining ---- */

static int record_disk(
        struct wanted *p, const struct wanted_recording *r, const struct stream_spec *spec, struct err *why)
{
    bool is_new = false;
    size_t count;
    if (!r->source || !r->ops->join || !r->config->growing)
        return err_set(why, ENOTSUP,
                "this recording cannot grow (that needs --keep-privileges, --source bpf and a disk from the "
                "start)");
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
    char name[160], time[UNITS_TEXT_BYTES];
    struct err why = {0};
    name_of(g, d->name, name);
    int status = facts_set(&d->facts, e, "joined_ns", "%" PRIu64, t_ns);
    if (status < 0)
        return status;
    const struct stream_spec spec = {.is = d->is, .path = d->path, .name = name, .facts = &d->facts};
    status = record_disk(p, r, &spec, &why);
    if (status == -EEXIST)
        return 0; /* an image below another one, which is recorded */
    fprintf(stderr, "iotape-record: %s: %s was plugged in after %s%s%s\n", g->shown, name,
            units_duration(t_ns, time), status < 0 ? " and is not recorded: " : "",
            status < 0 ? why.text : "");
    if (status < 0)
        tape_writer_count(r->w, "plugged_in_not_recorded", 1);
    return 0;
}

static int join(struct wanted *p, const struct wanted_recording *r, const struct wanted_guest *g,
        const struct guest *after, uint64_t t_ns, struct err *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < after->disk_count; i++)
        if (!has_disk(&g->now, &after->disks[i]))
            status = join_disk(p, r, g, &after->disks[i], t_ns, e);
    for (size_t i = 0; status == 0 && i < after->net_count; i++) {
        if (has_net(&g->now, &after->nets[i]))
            continue;
        fprintf(stderr,
                "iotape-record: %s: interface %s was plugged in and is not recorded: interfaces must be "
                "there "
                "from the start\n",
                g->shown, after->nets[i].name);
        tape_writer_count(r->w, "plugged_in_not_recorded", 1);
    }
    return status;
}

/* ---- events ---- */

int wanted_watch(struct wanted *p, struct err *e)
{
    return p->o->vms.count ? watch_open(&p->watch, p->virt, p->o->vms.list, p->o->vms.count, e) : 0;
}

static int follow(
        struct wanted *p, const struct wanted_recording *r, const struct watch_event *event, struct err *e)
{
    struct wanted_guest *g = &p->guests[event->domain]; /* domains come first */
    struct guest after = {0};
    struct err why = {0};
    uint64_t t_ns = event->at_ns > r->start_ns ? event->at_ns - r->start_ns : 0;
    if (event->xml && guest_of_xml(event->xml, &after, &why) < 0) {
        guest_release(&after);
        return why.code == ENOMEM ? err_set(e, why.code, "%s", why.text) : 0; /* the next one may be better */
    }
    leave(p, r, g, &after, t_ns);
    p->guests_left += !event->xml && !g->left;
    p->guests_left -= event->xml && g->left;
    g->left = !event->xml;
    int status = join(p, r, g, &after, t_ns, e);
    guest_release(&g->now);
    g->now = after;
    return status;
}

int wanted_follow(struct wanted *p, const struct wanted_recording *r, struct err *e)
{
    struct watch_event event;
    int status = 0;
    while (p->watch && status == 0 && watch_take(p->watch, &event)) {
        status = follow(p, r, &event, e);
        free(event.xml);
    }
    return status;
}

bool wanted_left(const struct wanted *p)
{
    return p->guest_count && p->guests_left == p->guest_count && streams_present(p->streams) == 0 &&
           p->o->interfaces.count == 0;
}
