/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/wanted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

static int add_words(struct wanted *p, enum stream_path is, const struct words *words, struct err *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < words->count; i++) {
        const char *slash = strrchr(words->list[i], '/'), *name = slash ? slash + 1 : words->list[i];
        const struct stream_spec spec = {.is = is,
                .path = words->list[i],
                .name = is == STREAM_FILE && p->o->keep_names ? name : NULL};
        status = streams_add(p->streams, &spec, e);
    }
    return status;
}

static int add_net(struct wanted *p, const char *interface, const char *name, struct err *e)
{
    struct net_spec *more = reallocarray(p->nets, p->net_count + 1, sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot record '%s'", interface);
    p->nets = more;
    struct net_spec *n = &more[p->net_count++];
    *n = (struct net_spec){strdup(interface), name ? strdup(name) : NULL};
    return n->interface && (n->name || !name) ? 0 : err_sys(e, ENOMEM, "cannot record '%s'", interface);
}

/* ---- guests ---- */

/* On the terminal and, without the domain's name, in the tape. */
static int note(struct wanted *p, const struct wanted_guest *g, const char *text, struct err *e)
{
    char key[32];
    fprintf(stderr, "iotape-record: %s: %s\n", g->shown, text);
    snprintf(key, sizeof key, "note%zu", p->notes.count + 1);
    return facts_set(&p->notes, e, key, "%s%s", g->prefix, text);
}

/* Disks that are on no device of this host do not keep the others from being recorded. */
static int add_disk(struct wanted *p, const struct wanted_guest *g, const struct guest_disk *d, struct err *e)
{
    char name[160], text[ERR_TEXT_BYTES + 64];
    struct err why = {0};
    snprintf(name, sizeof name, "%s%s", g->prefix, d->name);
    const struct stream_spec spec = {.is = d->is, .path = d->path, .name = name, .facts = &d->facts};
    int status = streams_add(p->streams, &spec, &why);
    if (status == -EEXIST && facts_get(&d->facts, "guest_access") == NULL &&
            facts_get(&d->facts, "guest_base_of") == NULL)
        return err_set(e, EEXIST, "%s: %s: %s", g->shown, d->name, why.text);
    if (status == -EOPNOTSUPP || status == -EEXIST) { /* images to read may be shared by guests */
        snprintf(text, sizeof text, "%s is not recorded: %s", d->name, why.text);
        return note(p, g, text, e);
    }
    return status < 0 ? err_set(e, why.code, "%s: %s: %s", g->shown, d->name, why.text) : 0;
}

static int add_guest(struct wanted *p, const struct wanted_guest *g, struct err *e)
{
    size_t before = streams_count(p->streams) + p->net_count;
    int status = 0;
    for (size_t i = 0; status == 0 && i < g->now.disk_count; i++)
        status = add_disk(p, g, &g->now.disks[i], e);
    for (size_t i = 0; status == 0 && i < g->now.net_count; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", g->prefix, g->now.nets[i].name);
        status = add_net(p, g->now.nets[i].interface, name, e);
    }
    for (size_t i = 0; status == 0 && i < g->now.note_count; i++)
        status = note(p, g, g->now.notes[i], e);
    if (status == 0 && streams_count(p->streams) + p->net_count == before)
        return err_set(e, ENOENT, "%s has nothing that can be recorded on this host", g->shown);
    return status;
}

/* Names of domains are personal; process ids mean nothing later. */
static int name_guest(const struct wanted *p, struct wanted_guest *g, bool is_domain, struct err *e)
{
    size_t number = (size_t)(g - p->guests) + 1, all = p->o->vms.count + p->o->qemu_pids.count;
    char *shown = NULL, *prefix = NULL;
    int len = asprintf(&shown, is_domain ? "domain '%s'" : "process %s", g->asked);
    g->shown = len < 0 ? NULL : shown;
    if (len >= 0 && all == 1)
        prefix = strdup("");
    else if (len >= 0 && is_domain && p->o->keep_names)
        len = asprintf(&prefix, "%.64s.", g->asked);
    else if (len >= 0)
        len = asprintf(&prefix, "vm%zu.", number);
    g->prefix = len < 0 ? NULL : prefix;
    return g->prefix ? 0 : err_sys(e, ENOMEM, "cannot keep a guest's name");
}

static int find_domain(struct wanted *p, struct wanted_guest *g, struct err *e)
{
    CLEANUP_FREE char *xml = NULL;
    int status = virt_describe(p->virt, g->asked, &xml, e);
    if (status == 0)
        status = virt_guest(p->virt, xml, &g->now, e);
    return status < 0 && status != -ENOENT && status != -ESRCH ? err_prefix(e, "%s", g->shown) : status;
}

/* Before it is looked at, so that it is the same one. None on kernels before 5.3. */
static int process_of(const char *pid)
{
    return (int)syscall(SYS_pidfd_open, atoi(pid), 0);
}

static int add_guests(struct wanted *p, const struct words *words, bool are_domains, struct err *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < words->count; i++) {
        struct wanted_guest *g = &p->guests[p->guest_count++];
        g->asked = words->list[i];
        g->is_domain = are_domains;
        g->process = are_domains ? -1 : process_of(g->asked);
        status = name_guest(p, g, are_domains, e);
        if (status == 0)
            status = are_domains ? find_domain(p, g, e) : guest_of_process(g->asked, &g->now, e);
        if (status == 0)
            status = add_guest(p, g, e);
    }
    return status;
}

int wanted_make(struct wanted *p, const struct options *o, struct streams *streams, struct err *e)
{
    *p = (struct wanted){.o = o, .streams = streams};
    p->guests = calloc(o->vms.count + o->qemu_pids.count + 1, sizeof *p->guests);
    int status = p->guests ? add_words(p, STREAM_DISK, &o->disks, e)
                           : err_sys(e, ENOMEM, "cannot begin to record");
    if (status == 0)
        status = add_words(p, STREAM_FILE, &o->image_files, e);
    for (size_t i = 0; status == 0 && i < o->interfaces.count; i++)
        status = add_net(p, o->interfaces.list[i], NULL, e);
    if (status == 0 && o->vms.count)
        status = virt_open(&p->virt, o->connect, e);
    if (status == 0)
        status = add_guests(p, &o->vms, true, e);
    return status ? status : add_guests(p, &o->qemu_pids, false, e);
}

void wanted_release(struct wanted *p)
{
    if (watch_close(p->watch))
        virt_close(p->virt);
    for (size_t i = 0; i < p->guest_count; i++) {
        free(p->guests[i].shown);
        free(p->guests[i].prefix);
        if (p->guests[i].process > 0)
            close(p->guests[i].process);
        guest_release(&p->guests[i].now);
    }
    for (size_t i = 0; i < p->net_count; i++) {
        free(p->nets[i].interface);
        free(p->nets[i].name);
    }
    free(p->guests);
    free(p->nets);
    facts_release(&p->notes);
}
