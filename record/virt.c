/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * libvirt's API, https://libvirt.org/html/index.html. It prints what goes wrong unless it is told not to.
 */
#include "record/virt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "formats/base/cleanup.h"

struct virt {
    virConnectPtr connection;
};

static void be_silent(void *context, virErrorPtr error)
{
    (void)context;
    (void)error;
}

static const char *reason(void)
{
    const char *text = virGetLastErrorMessage();
    return text && text[0] ? text : "no reason given";
}

int virt_open(struct virt **out, const char *uri, struct err *e)
{
    struct virt *v = calloc(1, sizeof *v);
    if (!v)
        return err_sys(e, ENOMEM, "cannot connect to libvirt");
    virSetErrorFunc(NULL, be_silent);
    v->connection = virInitialize() == 0 ? virConnectOpenReadOnly(uri) : NULL;
    if (!v->connection) {
        free(v);
        return err_set(e, EIO,
                "cannot connect to libvirt%s%s%s: %s (--connect names another one; --qemu-pid and --disk "
                "need "
                "none)",
                uri ? " at '" : "", uri ? uri : "", uri ? "'" : "", reason());
    }
    *out = v;
    return 0;
}

void virt_close(struct virt *v)
{
    if (!v)
        return;
    virConnectClose(v->connection);
    free(v);
}

static void cleanup_domain(virDomainPtr *d)
{
    if (*d)
        virDomainFree(*d);
}

static int unknown_domain(const char *domain, struct err *e)
{
    int code = virGetLastErrorCode();
    if (code == VIR_ERR_NO_DOMAIN || code == VIR_ERR_INVALID_ARG)
        return err_set(e, ENOENT, "libvirt knows no domain '%s' (virsh list --all)", domain);
    return err_set(e, EIO, "cannot ask libvirt about domain '%s': %s", domain, reason());
}

int virt_describe(struct virt *v, const char *domain, char **xml, struct err *e)
{
    CLEANUP(cleanup_domain) virDomainPtr d = virDomainLookupByName(v->connection, domain);
    if (!d)
        d = virDomainLookupByUUIDString(v->connection, domain);
    if (!d)
        return unknown_domain(domain, e);
    int active = virDomainIsActive(d);
    if (active == 0)
        return err_set(e, ESRCH, "domain '%s' does not run", domain);
    *xml = active < 0 ? NULL : virDomainGetXMLDesc(d, 0);
    if (!*xml)
        return unknown_domain(domain, e);
    return 0;
}

/* ---- volumes ---- */

static void cleanup_pool(virStoragePoolPtr *p)
{
    if (*p)
        virStoragePoolFree(*p);
}

static void cleanup_volume(virStorageVolPtr *v)
{
    if (*v)
        virStorageVolFree(*v);
}

static int find_volume(void *self, const char *pool_name, const char *name, char **path, bool *is_device)
{
    struct virt *v = self;
    virStorageVolInfo info;
    CLEANUP(cleanup_pool)
    virStoragePoolPtr pool = virStoragePoolLookupByName(v->connection, pool_name);
    CLEANUP(cleanup_volume) virStorageVolPtr volume = pool ? virStorageVolLookupByName(pool, name) : NULL;
    if (!volume || virStorageVolGetInfo(volume, &info) < 0)
        return -ENOENT;
    if (info.type != VIR_STORAGE_VOL_FILE && info.type != VIR_STORAGE_VOL_BLOCK)
        return -ENOTSUP;
    *path = virStorageVolGetPath(volume);
    *is_device = info.type == VIR_STORAGE_VOL_BLOCK;
    return *path ? 0 : -ENOENT;
}

int virt_guest(struct virt *v, const char *xml, struct guest *g, struct err *e)
{
    const struct guest_volumes volumes = {find_volume, v};
    return guest_of_xml(xml, &volumes, g, e);
}
