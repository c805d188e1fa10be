/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a URL of an NFS file says: nfs://HOST/DIR/FILE?NAME=VALUE&NAME=VALUE, after libnfs's form.
 *
 * version=3|4 (3), nfsport= and mountport= (0: ask the portmapper), uid= and gid= (those of this process),
 * connections= (1), stable=0|1 (0; 1: every write is a stable one). Percent escapes count in HOST and the
 * path.
 */
#ifndef IOTAPE_NFS_ADDRESS_H
#define IOTAPE_NFS_ADDRESS_H

#include <stdint.h>

#include "formats/base/err.h"

#define NFS_CONNECTIONS_MAX 64
#define NFS_OWN_ID          UINT64_MAX

struct nfs_address {
    char *host; /* without the brackets of an IPv6 address */
    char *dir;  /* begins with '/', ends without one but for "/" itself */
    char *file; /* a name, without '/' */
    uint64_t version, nfs_port, mount_port, connections, stable;
    uint64_t uid, gid; /* NFS_OWN_ID: this process's */
};

/* -EINVAL with a text that quotes `url` and says what is wrong. `a` need not be initialised; on failure
 * nothing is held. */
int nfs_address_parse(struct nfs_address *a, const char *url, struct err *e);
void nfs_address_release(struct nfs_address *a);

#endif
