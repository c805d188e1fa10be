/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/target/nfs_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t entry_bytes(uint32_t len_bytes)
{
    return sizeof(struct nfs_log_entry) + len_bytes;
}

int nfs_log_add(struct nfs_log *l, uint64_t offset_bytes, const void *data, uint32_t len_bytes, bool stable)
{
    struct nfs_log_entry *n = malloc(entry_bytes(len_bytes));
    if (!n)
        return -ENOMEM;
    *n = (struct nfs_log_entry){
            .seq = l->next_seq++, .offset_bytes = offset_bytes, .len_bytes = len_bytes, .stable = stable};
    memcpy(n->data, data, len_bytes);
    if (l->last)
        l->last->next = n;
    else
        l->first = n;
    l->last = n;
    l->bytes += entry_bytes(len_bytes);
    return 0;
}

void nfs_log_trim(struct nfs_log *l, uint64_t seq)
{
    while (l->first && l->first->seq < seq) {
        struct nfs_log_entry *gone = l->first;
        l->first = gone->next;
        l->bytes -= entry_bytes(gone->len_bytes);
        free(gone);
    }
    if (!l->first)
        l->last = NULL;
}

void nfs_log_release(struct nfs_log *l)
{
    nfs_log_trim(l, UINT64_MAX);
}
