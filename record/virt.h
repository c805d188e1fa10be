/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Virtual machines of libvirt. The only file that names libvirt's library is virt.c.
 */
#ifndef IOTAPE_VIRT_H
#define IOTAPE_VIRT_H

#include <stddef.h>

#include "formats/base/err.h"
#include "record/guest.h"

struct virt;

/* Connects for reading only. `uri` NULL: libvirt's own choice (virsh uri). */
int virt_open(struct virt **v, const char *uri, struct err *e);
void virt_close(struct virt *v); /* NULL is allowed */

/* The description of a running domain, by name or UUID; owned by the caller. What is wrong with any other:
 * -ENOENT, -ESRCH where it does not run, -EIO where libvirt does not say. */
int virt_describe(struct virt *v, const char *domain, char **xml, struct err *e);

/* What of it can be recorded: guest_of_xml, with the paths of volumes of storage pools as libvirt knows them.
 */
int virt_guest(struct virt *v, const char *xml, struct guest *g, struct err *e);

#endif
