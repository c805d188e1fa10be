/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Finding the file: portmapper (RFC 1833), MOUNT (RFC 1813, appendix I), LOOKUP, FSINFO, ACCESS. Each call is
 * waited for, on a connection of its own that ends with it. Nothing is changed but by nfs_make.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "replay/target/nfs_session.h"

#define PORTMAPPER_PORT 111
#define FILE_MODE       0600

/* ---- ports ---- */

static void on_port(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    if (nfs_session_answer(s, status))
        s->port = *(const uint32_t *)data;
}

static int ask_port(
        struct nfs_session *s, int program, int version, const char *name, unsigned *port, struct err *e)
{
    if (*port)
        return 0;
    int r = nfs_session_await(
            s, rpc_pmap2_getport_async(s->rpc, program, version, IPPROTO_TCP, on_port, s), e);
    if (r == 0 && (s->port == 0 || s->port > 65535))
        r = err_set(e, EPROTONOSUPPORT, "'%s' offers no %s over TCP", s->t->address.host, name);
    *port = s->port;
    return r;
}

static int find_ports(struct nfs_target *t, struct err *e)
{
    t->nfs_port = (unsigned)t->address.nfs_port;
    t->mount_port = (unsigned)t->address.mount_port;
    if (t->nfs_port && t->mount_port)
        return 0;
    NFS_SESSION s = {.t = t};
    int r = nfs_session_begin(
            &s, PORTMAPPER_PORT, "portmapper (port 111; else give ?nfsport= and ?mountport=)", e);
    if (r == 0)
        r = ask_port(&s, NFS_PROGRAM, NFS_V3, "NFS version 3", &t->nfs_port, e);
    return r < 0 ? r : ask_port(&s, MOUNT_PROGRAM, MOUNT_V3, "MOUNT version 3", &t->mount_port, e);
}

/* ---- mount ---- */

static void on_mounted(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    const mountres3 *res = data;
    if (!nfs_session_answer(s, status))
        return;
    s->status = res->fhs_status;
    if (s->status == MNT3_OK)
        nfs_session_keep_handle(s, res->mountres3_u.mountinfo.fhandle.fhandle3_len,
                res->mountres3_u.mountinfo.fhandle.fhandle3_val);
}

/* Mounts the longest part of `dir` that the server exports: which part is a mount point, it alone knows.
 * *rest is what is left to look up. */
static int mount_dir(struct nfs_target *t, const char **rest, struct err *e)
{
    NFS_SESSION s = {.t = t};
    CLEANUP_FREE char *dir = strdup(t->address.dir);
    if (!dir)
        return err_sys(e, ENOMEM, "cannot open '%s'", t->base.url);
    int r = nfs_session_begin(&s, t->mount_port, "MOUNT server", e);
    uint32_t first = MNT3_OK;
    while (r == 0) {
        r = nfs_session_await(&s, rpc_mount3_mnt_async(s.rpc, on_mounted, dir, &s), e);
        if (r == 0 && s.status == MNT3_OK) {
            t->dir_handle_bytes = s.handle_bytes;
            memcpy(t->dir_handle, s.handle, s.handle_bytes);
            *rest = t->address.dir + (dir[1] ? strlen(dir) : 0);
            return s.handle_bytes ? 0 : err_set(e, EPROTO, "the MOUNT server's answer makes no sense");
        }
        first = first ? first : s.status;
        if (r == 0 && !dir[1]) {
            int error = -nfsstat3_to_errno((int)first); /* the numbers are the same */
            return err_sys(e, error, "'%s' exports no directory that has '%s' in it to this host",
                    t->address.host, t->address.dir);
        }
        char *slash = strrchr(dir, '/');
        slash[slash == dir] = '\0';
    }
    return r;
}

/* ---- NFS ---- */

static void on_lookup(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    const LOOKUP3res *res = data;
    if (!nfs_session_answer(s, status))
        return;
    s->status = res->status;
    if (s->status == NFS3_OK)
        nfs_session_keep_handle(s, res->LOOKUP3res_u.resok.object.data.data_len,
                res->LOOKUP3res_u.resok.object.data.data_val);
}

/* `name` in the directory of the target; the session's handle and status tell what is there. */
static int look_up(struct nfs_session *s, char *name, struct err *e)
{
    struct nfs_target *t = s->t;
    LOOKUP3args args = {.what.dir.data = {t->dir_handle_bytes, t->dir_handle}, .what.name = name};
    int r = nfs_session_await(s, rpc_nfs3_lookup_async(s->rpc, on_lookup, &args, s), e);
    if (r == 0 && s->status == NFS3_OK && s->handle_bytes == 0)
        r = err_set(e, EPROTO, "the NFS server's answer makes no sense");
    return r;
}

/* Goes down from the mounted directory to the file's. */
static int descend(struct nfs_session *s, const char *path, struct err *e)
{
    struct nfs_target *t = s->t;
    CLEANUP_FREE char *copy = strdup(path);
    char *rest = copy, *name;
    if (!copy)
        return err_sys(e, ENOMEM, "cannot open '%s'", t->base.url);
    while ((name = strsep(&rest, "/"))) {
        if (!*name)
            continue;
        int r = look_up(s, name, e);
        if (r < 0)
            return r;
        if (s->status != NFS3_OK)
            return err_sys(e, nfsstat3_to_errno((int)s->status), "cannot find directory '%s' of '%s'", name,
                    t->base.url);
        t->dir_handle_bytes = s->handle_bytes;
        memcpy(t->dir_handle, s->handle, s->handle_bytes);
    }
    return 0;
}

static void on_attributes(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    const GETATTR3res *res = data;
    if (!nfs_session_answer(s, status))
        return;
    s->status = res->status;
    if (s->status == NFS3_OK)
        s->attributes = res->GETATTR3res_u.resok.obj_attributes;
}

static void on_access(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    const ACCESS3res *res = data;
    if (!nfs_session_answer(s, status))
        return;
    s->status = res->status;
    s->granted = s->status == NFS3_OK ? res->ACCESS3res_u.resok.access : 0;
}

static void on_limits(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    const FSINFO3res *res = data;
    if (!nfs_session_answer(s, status))
        return;
    s->status = res->status;
    if (s->status == NFS3_OK)
        s->limits = res->FSINFO3res_u.resok;
}

/* `rights` on a file or directory, or an error that says which one is missing. */
static int check_rights(
        struct nfs_session *s, nfs_fh3 object, uint32_t rights, const char *what, struct err *e)
{
    ACCESS3args args = {.object = object, .access = rights};
    int r = nfs_session_await(s, rpc_nfs3_access_async(s->rpc, on_access, &args, s), e);
    if (r < 0)
        return r;
    if (s->status != NFS3_OK)
        return nfs_session_failed(s, "ask for rights on", e);
    if ((s->granted & rights) == rights)
        return 0;
    return err_set(e, EACCES,
            "the server grants no right to %s '%s' (a read-only export, its mode, or ?uid=)", what,
            s->t->base.url);
}

static int check_file(struct nfs_session *s, struct err *e)
{
    struct nfs_target *t = s->t;
    nfs_fh3 file = {.data = {t->handle_bytes, t->handle}};
    GETATTR3args args = {.object = file};
    int r = nfs_session_await(s, rpc_nfs3_getattr_async(s->rpc, on_attributes, &args, s), e);
    if (r < 0)
        return r;
    if (s->status != NFS3_OK)
        return nfs_session_failed(s, "open", e);
    if (s->attributes.type != NF3REG)
        return err_set(e, EINVAL, "'%s' is no regular file (links are not followed)", t->base.url);
    t->base.size_bytes = s->attributes.size;
    t->base.absent = s->attributes.size == 0 && !t->options.read_only;
    if (t->options.read_only)
        return check_rights(s, file, ACCESS3_READ, "read", e);
    return check_rights(s, file, ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND, "write to", e);
}

static int check_absent(struct nfs_session *s, struct err *e)
{
    struct nfs_target *t = s->t;
    if (s->status != NFS3ERR_NOENT || t->options.read_only)
        return nfs_session_failed(s, "open", e);
    t->base.absent = true;
    nfs_fh3 dir = {.data = {t->dir_handle_bytes, t->dir_handle}};
    return check_rights(s, dir, ACCESS3_MODIFY | ACCESS3_EXTEND, "create", e);
}

static int ask_limits(struct nfs_session *s, struct err *e)
{
    struct nfs_target *t = s->t;
    FSINFO3args args = {.fsroot.data = {t->dir_handle_bytes, t->dir_handle}};
    int r = nfs_session_await(s, rpc_nfs3_fsinfo_async(s->rpc, on_limits, &args, s), e);
    if (r < 0)
        return r;
    if (s->status != NFS3_OK)
        return nfs_session_failed(s, "ask for the limits of", e);
    t->read_max_bytes = nfs_transfer_bytes(s->limits.rtmax);
    t->write_max_bytes = nfs_transfer_bytes(s->limits.wtmax);
    if (t->read_max_bytes == 0 || t->write_max_bytes == 0)
        return err_set(e, EPROTO, "the NFS server of '%s' takes no transfer of 512 bytes", t->address.host);
    return 0;
}

static int look_at_file(struct nfs_session *s, struct err *e)
{
    struct nfs_target *t = s->t;
    int r = look_up(s, t->address.file, e);
    if (r < 0)
        return r;
    if (s->status != NFS3_OK)
        return check_absent(s, e);
    t->handle_bytes = s->handle_bytes;
    memcpy(t->handle, s->handle, s->handle_bytes);
    return check_file(s, e);
}

int nfs_find(struct nfs_target *t, struct err *e)
{
    const char *rest = "";
    int r = nfs_session_resolve(t, e);
    if (r == 0)
        r = find_ports(t, e);
    if (r == 0)
        r = mount_dir(t, &rest, e);
    if (r < 0)
        return r;
    NFS_SESSION s = {.t = t};
    r = nfs_session_begin(&s, t->nfs_port, "NFS server", e);
    if (r == 0)
        r = descend(&s, rest, e);
    if (r == 0)
        r = look_at_file(&s, e);
    if (r == 0)
        r = ask_limits(&s, e);
    if (t->base.absent)
        t->base.size_bytes = TARGET_ENDLESS;
    return r;
}

/* ---- creation ---- */

static void on_created(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    const CREATE3res *res = data;
    s->handle_bytes = 0;
    if (!nfs_session_answer(s, status))
        return;
    s->status = res->status;
    const post_op_fh3 *made = &res->CREATE3res_u.resok.obj;
    if (s->status == NFS3_OK && made->handle_follows)
        nfs_session_keep_handle(
                s, made->post_op_fh3_u.handle.data.data_len, made->post_op_fh3_u.handle.data.data_val);
}

static int create_file(struct nfs_session *s, struct err *e)
{
    struct nfs_target *t = s->t;
    sattr3 mode = {.mode = {.set_it = 1, .set_mode3_u.mode = FILE_MODE}};
    CREATE3args args = {.where = {.dir.data = {t->dir_handle_bytes, t->dir_handle}, .name = t->address.file},
            .how = {.mode = GUARDED, .createhow3_u.g_obj_attributes = mode}};
    int r = nfs_session_await(s, rpc_nfs3_create_async(s->rpc, on_created, &args, s), e);
    if (r == 0 && s->status != NFS3_OK)
        r = nfs_session_failed(s, "create", e);
    if (r == 0 && s->handle_bytes == 0) { /* the server may keep it to itself */
        r = look_up(s, t->address.file, e);
        if (r == 0 && s->status != NFS3_OK)
            r = nfs_session_failed(s, "create", e);
    }
    t->handle_bytes = s->handle_bytes;
    memcpy(t->handle, s->handle, s->handle_bytes);
    return r;
}

static void on_resized(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_session *s = private_data;
    if (nfs_session_answer(s, status))
        s->status = ((const SETATTR3res *)data)->status;
}

int nfs_make(struct nfs_target *t, uint64_t size_bytes, struct err *e)
{
    NFS_SESSION s = {.t = t};
    int r = nfs_session_begin(&s, t->nfs_port, "NFS server", e);
    if (r == 0 && t->handle_bytes == 0)
        r = create_file(&s, e);
    if (r < 0)
        return r;
    SETATTR3args args = {.object.data = {t->handle_bytes, t->handle},
            .new_attributes.size = {.set_it = 1, .set_size3_u.size = size_bytes}};
    r = nfs_session_await(&s, rpc_nfs3_setattr_async(s.rpc, on_resized, &args, &s), e);
    if (r == 0 && s.status != NFS3_OK)
        r = nfs_session_failed(&s, "set the size of", e);
    return r;
}
