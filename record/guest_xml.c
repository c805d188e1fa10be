/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest by its domain's description, https://libvirt.org/formatdomain.html, of a running domain: with the
 * chain of its images and the names of its interfaces on the host. Read with libxml2.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include "formats/base/cleanup.h"
#include "record/guest.h"

#define XML_BYTES_MAX (16 << 20)
#define CHAIN_MAX     64 /* images below an image */

static const xmlNode *child(const xmlNode *n, const char *name)
{
    for (const xmlNode *c = n ? n->children : NULL; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && strcmp((const char *)c->name, name) == 0)
            return c;
    return NULL;
}

/* An attribute's text; NULL where there is none. Owned by the document. */
static const char *attribute(const xmlNode *n, const char *name)
{
    for (const xmlAttr *a = n ? n->properties : NULL; a; a = a->next)
        if (strcmp((const char *)a->name, name) == 0)
            return a->children && a->children->content ? (const char *)a->children->content : "";
    return NULL;
}

static const char *or_else(const char *text, const char *other)
{
    return text && text[0] ? text : other;
}

/* What is added to, and who knows volumes. */
struct world {
    struct guest *guest;
    const struct guest_volumes *volumes;
};

/* ---- disks ---- */

/* How QEMU is told to open it; what is not said is the hypervisor's default. */
static int describe_driver(const xmlNode *disk, struct facts *f, struct err *e)
{
    static const char *const names[] = {
            "name", "type", "cache", "io", "discard", "detect_zeroes", "queues", "iothread"};
    static const char *const keys[] = {"guest_driver", "guest_format", "guest_cache", "guest_aio",
            "guest_discard", "guest_detect_zeroes", "guest_queues", "guest_iothread"};
    const xmlNode *driver = child(disk, "driver");
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof names / sizeof *names; i++) {
        const char *value = attribute(driver, names[i]);
        if (value && value[0])
            status = facts_set(f, e, keys[i], "%s", value);
    }
    const char *bus = attribute(child(disk, "target"), "bus");
    if (status == 0 && bus)
        status = facts_set(f, e, "guest_bus", "%s", bus);
    if (status == 0 && child(disk, "readonly"))
        status = facts_set(f, e, "guest_access", "read only");
    return status;
}

/* Why an image of this kind is on no disk of this host; NULL where it is. */
static const char *why_not(const char *type)
{
    static const struct {
        const char *type, *why;
    } all[] = {{"network", "is a network disk, which the hypervisor itself reaches: record inside the guest "
                           "(--disk), or on the storage's server"},
            {"nvme", "is an NVMe device passed through to the guest: record inside the guest (--disk)"},
            {"vhostuser",
                    "is served by another process over vhost-user: record that one's storage (--disk or "
                    "--qemu-pid)"},
            {"vhostvdpa", "is a vDPA device, which the host does not see: record inside the guest (--disk)"},
            {"dir", "is a directory shown as a disk: record the disk that it is on (--disk)"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(type, all[i].type) == 0)
            return all[i].why;
    return NULL;
}

static int add_volume(
        struct world *w, const xmlNode *source, const char *name, struct guest_disk **d, struct err *e)
{
    const char *pool = attribute(source, "pool"), *volume = attribute(source, "volume");
    CLEANUP_FREE char *path = NULL;
    bool is_device = false;
    if (!pool || !volume || !w->volumes ||
            w->volumes->find(w->volumes->self, pool, volume, &path, &is_device) < 0)
        return guest_note(w->guest, e,
                "%s is a volume of a storage pool that libvirt does not tell the path of: give it (virsh "
                "vol-path) with --disk or --file, or record inside the guest",
                name);
    int status = guest_add_disk(w->guest, is_device ? STREAM_DISK : STREAM_FILE, name, path, d, e);
    return status ? status : facts_set(&(*d)->facts, e, "guest_volume", "yes");
}

/* One image: `n` is a <disk> or a <backingStore> in it. */
static int add_image(
        struct world *w, const xmlNode *n, const char *name, struct guest_disk **d, struct err *e)
{
    struct guest *g = w->guest;
    const char *type = or_else(attribute(n, "type"), "");
    const xmlNode *source = child(n, "source");
    const char *path = attribute(source, strcmp(type, "block") == 0 ? "dev" : "file");
    *d = NULL;
    if (why_not(type))
        return guest_note(g, e, "%s %s", name, why_not(type));
    if (strcmp(type, "volume") == 0)
        return add_volume(w, source, name, d, e);
    if (strcmp(type, "block") != 0 && strcmp(type, "file") != 0)
        return type[0] ? guest_note(g, e, "%s is of a kind that is not known here ('%s')", name, type) : 0;
    if (!path || !path[0])
        return 0; /* an empty drive */
    return guest_add_disk(g, strcmp(type, "block") == 0 ? STREAM_DISK : STREAM_FILE, name, path, d, e);
}

/* The images that an image builds upon: reads of what it does not have go there. */
static int add_chain(struct world *w, const xmlNode *disk, const char *name, struct err *e)
{
    int status = 0, depth = 1;
    for (const xmlNode *n = child(disk, "backingStore"); status == 0 && n && depth <= CHAIN_MAX;
            n = child(n, "backingStore"), depth++) {
        char below[96];
        struct guest_disk *d;
        snprintf(below, sizeof below, "%.64s.base%d", name, depth);
        status = add_image(w, n, below, &d, e);
        const char *format = attribute(child(n, "format"), "type");
        if (status == 0 && d && format)
            status = facts_set(&d->facts, e, "guest_format", "%s", format);
        if (status == 0 && d)
            status = facts_set(&d->facts, e, "guest_base_of", "%s", name);
    }
    return status;
}

/* What is said of a disk that is recorded. */
static int add_notes(struct guest *g, const struct guest_disk *d, const char *name, struct err *e)
{
    const char *format = or_else(facts_get(&d->facts, "guest_format"), "raw");
    const char *cache = or_else(facts_get(&d->facts, "guest_cache"), "default");
    int status = 0;
    if (strcmp(format, "raw") != 0)
        status = guest_note(g, e,
                "%s is a %s image: offsets are those in the image, with its metadata, not the guest's", name,
                format);
    if (status == 0 && strcmp(cache, "none") != 0 && strcmp(cache, "directsync") != 0)
        status = guest_note(g, e,
                "%s goes through the host's page cache (cache=%s): what that absorbs is not recorded", name,
                cache);
    return status;
}

static int add_disk(struct world *w, const xmlNode *disk, struct err *e)
{
    const char *name = attribute(child(disk, "target"), "dev");
    struct guest_disk *d;
    if (!name || !name[0] || strlen(name) > 64)
        return err_set(e, EBADMSG, "the domain has a disk without a name");
    int status = add_image(w, disk, name, &d, e);
    if (status < 0 || !d)
        return status;
    status = describe_driver(disk, &d->facts, e);
    if (status == 0)
        status = add_notes(w->guest, d, name, e);
    return status ? status : add_chain(w, disk, name, e);
}

/* ---- interfaces ---- */

static int add_interface(struct guest *g, const xmlNode *n, struct err *e)
{
    const char *type = or_else(attribute(n, "type"), "");
    const char *interface = attribute(child(n, "target"), "dev");
    char name[80];
    snprintf(name, sizeof name, "net%zu", g->net_count);
    const char *alias = attribute(child(n, "alias"), "name");
    if (alias && alias[0] && strlen(alias) <= 64)
        snprintf(name, sizeof name, "%s", alias);
    if (strcmp(type, "hostdev") == 0 || strcmp(type, "vdpa") == 0)
        return guest_note(g, e, "%s is passed through to the guest: record inside the guest (--net)", name);
    if (strcmp(type, "vhostuser") == 0)
        return guest_note(
                g, e, "%s is served over vhost-user: record on the physical interface (--net)", name);
    if (!interface || !interface[0])
        return guest_note(g, e,
                "%s has no interface on the host (type '%s'): record inside the guest (--net)", name, type);
    return guest_add_net(g, name, interface, e);
}

static int add_devices(struct world *w, const xmlNode *devices, struct err *e)
{
    struct guest *g = w->guest;
    int status = 0;
    for (const xmlNode *n = devices ? devices->children : NULL; status == 0 && n; n = n->next) {
        if (n->type != XML_ELEMENT_NODE)
            continue;
        if (strcmp((const char *)n->name, "disk") == 0)
            status = add_disk(w, n, e);
        else if (strcmp((const char *)n->name, "interface") == 0)
            status = add_interface(g, n, e);
        else if (strcmp((const char *)n->name, "hostdev") == 0)
            status = guest_note(
                    g, e, "a host device is passed through to the guest: what it does is not recorded");
    }
    return status;
}

static void be_silent(void *context, xmlErrorPtr error)
{
    (void)context;
    (void)error;
}

static void cleanup_doc(xmlDoc **doc)
{
    xmlFreeDoc(*doc);
}

int guest_of_xml(const char *xml, const struct guest_volumes *volumes, struct guest *g, struct err *e)
{
    struct world w = {g, volumes};
    size_t len = strlen(xml);
    if (len > XML_BYTES_MAX)
        return err_set(e, EBADMSG, "the domain's description is longer than %d bytes", XML_BYTES_MAX);
    xmlSetStructuredErrorFunc(NULL, be_silent);
    CLEANUP(cleanup_doc)
    xmlDoc *doc = xmlReadMemory(xml, (int)len, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOCDATA);
    const xmlNode *domain = doc ? xmlDocGetRootElement(doc) : NULL;
    if (!domain || strcmp((const char *)domain->name, "domain") != 0)
        return err_set(e, EBADMSG, "the domain's description is no <domain> in XML");
    return add_devices(&w, child(domain, "devices"), e);
}
