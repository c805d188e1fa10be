/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files on an NFS server, straight from user space. What NFS version 3 has not is not done, and said:
 * discarding and writing zeros are unsupported (holes are punched by version 4.2 only), and nothing keeps
 * others from the file, since locks are a protocol of their own (NLM) that binds nobody who does not ask.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/target/nfs.h"

#define SECTOR_BYTES 512 /* any byte will do; what block I/O counts in */

extern const struct target_ops target_nfs;

static void nfs_target_close(struct target *base)
{
    struct nfs_target *t = nfs_target_of(base);
    if (t->queue)
        nfs_queue_forget(t->queue, t);
    nfs_conns_close(t);
    nfs_fail_pending(t, -ESHUTDOWN);
    while (t->spare) {
        struct nfs_piece *p = t->spare;
        t->spare = p->next;
        free(p);
    }
    nfs_log_release(&t->log);
    nfs_address_release(&t->address);
    free(t->server);
    free(t->base.url);
    free(t);
}

static int check_version(const struct nfs_target *t, struct err *e)
{
    if (t->address.version == 3 || t->options.read_only)
        return 0;
    return err_set(e, EPROTONOSUPPORT,
            "cannot write to '%s': with NFS version 4 files are only read (--read-only), since libnfs 4.0.0 "
            "cannot write more than 2 KiB with it; use version=3, or mount it and name the file's path",
            t->base.url);
}

static int open_target(struct nfs_target *t, struct err *e)
{
    int r = check_version(t, e);
    if (r == 0)
        r = t->address.version == 4 ? nfs4_find(t, e) : nfs_find(t, e);
    return r < 0 ? r : nfs_conns_open(t, e);
}

static int nfs_target_open(
        struct target **out, const char *url, const struct target_options *o, struct err *e)
{
    struct nfs_target *t = calloc(1, sizeof *t);
    if (!t)
        return err_sys(e, ENOMEM, "cannot open '%s'", url);
    t->base.ops = &target_nfs;
    t->base.sector_bytes = SECTOR_BYTES;
    t->options = *o;
    t->base.url = strdup(url);
    int r = t->base.url ? nfs_address_parse(&t->address, url, e)
                        : err_sys(e, ENOMEM, "cannot open '%s'", url);
    if (r == 0)
        r = open_target(t, e);
    if (r < 0) {
        nfs_target_close(&t->base);
        return r;
    }
    *out = &t->base;
    return 0;
}

static int nfs_target_create(struct target *base, uint64_t size_bytes, struct err *e)
{
    size_bytes &= ~(uint64_t)(SECTOR_BYTES - 1);
    int r = nfs_make(nfs_target_of(base), size_bytes, e);
    if (r < 0)
        return r;
    base->size_bytes = size_bytes;
    base->absent = false;
    return 0;
}

static int nfs_target_describe(struct target *base, struct facts *f, struct err *e)
{
    const struct nfs_target *t = nfs_target_of(base);
    int r = facts_set(f, e, "type", "file on an NFS server");
    if (r == 0)
        r = facts_set(f, e, "protocol", "NFS version %u over TCP, libnfs", (unsigned)t->address.version);
    if (r == 0)
        r = facts_set(f, e, "connections", "%u", t->conns);
    if (r == 0)
        r = facts_set(f, e, "read_max_bytes", "%u", t->read_max_bytes);
    if (r == 0)
        r = facts_set(f, e, "write_max_bytes", "%u", t->write_max_bytes);
    if (r == 0 && t->address.stable)
        r = facts_set(f, e, "writes", "stable");
    if (r == 0 && !t->address.stable)
        r = facts_set(f, e, "writes", "unstable until COMMIT (at a flush, and every %u MiB), FUA stable",
                (unsigned)(NFS_LOG_COMMIT_BYTES >> 20));
    if (r == 0)
        r = facts_set(f, e, "unsupported", "discard, write_zeroes");
    return r;
}

static void nfs_target_events(struct target *base, struct target_events *ev)
{
    *ev = nfs_target_of(base)->events;
}

static const char *const prefixes[] = {"nfs://", NULL};

const struct target_ops target_nfs = {
        .name = "nfs",
        .help = "nfs://HOST/DIR/FILE[?NAME=VALUE&...]\n"
                "                 a file on an NFS server (version 3; with version=4 only for --read-only "
                "and\n"
                "                 --verify-only), by libnfs, without a mount; created\n"
                "                 where absent. nfsport=N and mountport=N instead of asking the portmapper;\n"
                "                 connections=N, uid=N, gid=N; stable=1: every write is stable when it is "
                "done,\n"
                "                 else what is flushed or FUA. After 32 MiB of writes without a\n"
                "                 flush a COMMIT is sent that is not in the tape. No lock keeps others from\n"
                "                 the file. Discard and write-zeroes are unsupported",
        .prefixes = prefixes,
        .stores = true,
        .open = nfs_target_open,
        .close = nfs_target_close,
        .create = nfs_target_create,
        .describe = nfs_target_describe,
        .events = nfs_target_events,
        .queue_open = nfs_queue_open,
        .queue_close = nfs_queue_close,
        .submit = nfs_queue_submit,
        .reap = nfs_queue_reap,
};
