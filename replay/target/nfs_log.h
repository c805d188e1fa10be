/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writes that an NFS server has acknowledged and not yet committed. A server that restarts may lose them, and
 * shows that it did by another write verifier; the client must hold them until a COMMIT and send them again
 * (RFC 1813, 3.3.7 and 4.8). They are kept in the order of their replies, copies of the data included.
 */
#ifndef IOTAPE_NFS_LOG_H
#define IOTAPE_NFS_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct nfs_log_entry {
    struct nfs_log_entry *next;
    uint64_t seq; /* counted from 0 over the log's life */
    uint64_t offset_bytes;
    uint32_t len_bytes;
    bool stable; /* needs no COMMIT, but came after one that does and may overlap it */
    char data[];
};

/* Zero-initialised is empty and valid. */
struct nfs_log {
    struct nfs_log_entry *first, *last;
    uint64_t next_seq;
    uint64_t bytes; /* of memory */
};

/* Copies `data`. -ENOMEM. */
int nfs_log_add(struct nfs_log *l, uint64_t offset_bytes, const void *data, uint32_t len_bytes, bool stable);
/* Drops all before `seq`: they are committed. */
void nfs_log_trim(struct nfs_log *l, uint64_t seq);
void nfs_log_release(struct nfs_log *l);

#endif
