/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * NFS version 4.0 (RFC 7530), for reading. A file is found by one compound and read with the anonymous state
 * identifier (9.1.4.3), so that there is no client, lease or open to keep or to recover. For writing,
 * libnfs 4.0.0 will not do: it encodes a compound into 4 KiB, data included.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay/target/nfs_session.h"

#define PORT           2049
#define COMPONENTS_MAX 64
#define PATH_BYTES_MAX 2048 /* fits the 4 KiB together with the rest */
/* Attributes by number (RFC 7530, 5.6): bits of the first word of their bitmap, values in that order. */
#define ATTRIBUTE_TYPE    (UINT32_C(1) << 1)
#define ATTRIBUTE_SIZE    (UINT32_C(1) << 4)
#define ATTRIBUTE_MAXREAD (UINT32_C(1) << 30)

/* What the compound that finds a file brings. */
struct finding {
    struct nfs_session session; /* first: callbacks get this */
    unsigned results;           /* operations that were answered, the failed one included */
    bool malformed, is_file;
    uint64_t size_bytes, read_max_bytes;
};

/* ---- answers ---- */

struct values {
    const char *at;
    size_t left;
};

/* XDR (RFC 4506): big-endian words. False where there are none left. */
static bool take_u32(struct values *v, uint32_t *value)
{
    if (v->left < sizeof *value)
        return false;
    memcpy(value, v->at, sizeof *value);
    *value = ntohl(*value);
    v->at += sizeof *value;
    v->left -= sizeof *value;
    return true;
}

static bool take_u64(struct values *v, uint64_t *value)
{
    uint32_t high, low;
    if (!take_u32(v, &high) || !take_u32(v, &low))
        return false;
    *value = (uint64_t)high << 32 | low;
    return true;
}

static bool take_attributes(struct finding *f, const fattr4 *a)
{
    struct values v = {a->attr_vals.attrlist4_val, a->attr_vals.attrlist4_len};
    uint32_t type, mask = a->attrmask.bitmap4_len ? a->attrmask.bitmap4_val[0] : 0;
    f->read_max_bytes = NFS_TRANSFER_MAX_BYTES;
    if ((mask & ~(ATTRIBUTE_TYPE | ATTRIBUTE_SIZE | ATTRIBUTE_MAXREAD)) || !(mask & ATTRIBUTE_TYPE) ||
            !(mask & ATTRIBUTE_SIZE) || !take_u32(&v, &type) || !take_u64(&v, &f->size_bytes))
        return false;
    f->is_file = type == NF4REG;
    return !(mask & ATTRIBUTE_MAXREAD) || take_u64(&v, &f->read_max_bytes);
}

/* libnfs aligns what it decodes to 4 bytes only: a result is looked at where it is copied to. */
static nfs_resop4 result_at(const COMPOUND4res *res, unsigned i)
{
    nfs_resop4 op;
    memcpy(&op, (const char *)res->resarray.resarray_val + i * sizeof op, sizeof op);
    return op;
}

/* The last results are those of GETFH, GETATTR and ACCESS. */
static bool take_results(struct finding *f, const COMPOUND4res *res)
{
    nfs_resop4 fh = result_at(res, f->results - 3), attributes = result_at(res, f->results - 2);
    nfs_resop4 access = result_at(res, f->results - 1);
    if (fh.resop != OP_GETFH || attributes.resop != OP_GETATTR || access.resop != OP_ACCESS)
        return false;
    if (fh.nfs_resop4_u.opgetfh.status != NFS4_OK || attributes.nfs_resop4_u.opgetattr.status != NFS4_OK ||
            access.nfs_resop4_u.opaccess.status != NFS4_OK)
        return false; /* and the whole is said to have succeeded */
    const nfs_fh4 *handle = &fh.nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object;
    nfs_session_keep_handle(&f->session, handle->nfs_fh4_len, handle->nfs_fh4_val);
    f->session.granted = access.nfs_resop4_u.opaccess.ACCESS4res_u.resok4.access;
    return f->session.handle_bytes &&
           take_attributes(f, &attributes.nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes);
}

static void on_found(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct finding *f = private_data;
    const COMPOUND4res *res = data;
    if (!nfs_session_answer(&f->session, status))
        return;
    f->session.status = res->status;
    f->results = res->resarray.resarray_len;
    if (res->status == NFS4_OK)
        f->malformed = f->results < 3 || !take_results(f, res);
}

/* ---- finding ---- */

/* The compound: from the root down to the file. */
struct question {
    char path[PATH_BYTES_MAX]; /* cut into names */
    nfs_argop4 op[COMPONENTS_MAX + 4];
    unsigned ops;
    uint32_t attributes;
};

static int ask_names(struct question *q, const struct nfs_address *a, struct err *e)
{
    int len = snprintf(q->path, sizeof q->path, "%s/%s", a->dir, a->file);
    char *rest = q->path, *name;
    q->op[q->ops++].argop = OP_PUTROOTFH;
    while (len < (int)sizeof q->path && (name = strsep(&rest, "/"))) {
        if (!*name)
            continue;
        if (q->ops > COMPONENTS_MAX)
            break;
        q->op[q->ops++] = (nfs_argop4){
                .argop = OP_LOOKUP, .nfs_argop4_u.oplookup.objname = {(unsigned)strlen(name), name}};
    }
    return len < (int)sizeof q->path && !rest
                   ? 0
                   : err_set(e, ENAMETOOLONG, "the path '%s/%s' is too long for NFS version 4 here", a->dir,
                             a->file);
}

static int refused(const struct finding *f, const struct question *q, struct err *e)
{
    const struct nfs_session *s = &f->session;
    bool in_path = f->results > 1 && f->results < q->ops && q->op[f->results - 1].argop == OP_LOOKUP;
    int error = s->status == NFS4ERR_SYMLINK ? ELOOP : nfsstat3_to_errno((int)s->status);
    if (!in_path)
        return nfs_session_failed(s, "open", e);
    return err_sys(e, error,
            "cannot find '%s' of '%s' (links are not followed; with version 4 a path begins at "
            "the server's root of exports)",
            q->op[f->results - 1].nfs_argop4_u.oplookup.objname.utf8string_val, s->t->base.url);
}

static int accept_file(struct finding *f, struct err *e)
{
    struct nfs_target *t = f->session.t;
    if (f->malformed)
        return err_set(e, EPROTO, "the NFS server's answer makes no sense");
    if (!f->is_file)
        return err_set(e, EINVAL, "'%s' is no regular file (links are not followed)", t->base.url);
    if (!(f->session.granted & ACCESS4_READ))
        return err_set(e, EACCES, "the server grants no right to read '%s'", t->base.url);
    t->base.size_bytes = f->size_bytes;
    t->handle_bytes = f->session.handle_bytes;
    memcpy(t->handle, f->session.handle, t->handle_bytes);
    t->read_max_bytes = t->write_max_bytes = nfs_transfer_bytes(f->read_max_bytes);
    return t->read_max_bytes ? 0 : err_set(e, EPROTO, "the NFS server takes no transfer of 512 bytes");
}

static int find(struct finding *f, struct question *q, struct err *e)
{
    struct nfs_session *s = &f->session;
    int r = ask_names(q, &s->t->address, e);
    if (r < 0)
        return r;
    q->attributes = ATTRIBUTE_TYPE | ATTRIBUTE_SIZE | ATTRIBUTE_MAXREAD;
    q->op[q->ops++].argop = OP_GETFH;
    q->op[q->ops++] =
            (nfs_argop4){.argop = OP_GETATTR, .nfs_argop4_u.opgetattr.attr_request = {1, &q->attributes}};
    q->op[q->ops++] = (nfs_argop4){.argop = OP_ACCESS, .nfs_argop4_u.opaccess.access = ACCESS4_READ};
    COMPOUND4args args = {.argarray = {q->ops, q->op}};
    r = nfs_session_begin(s, s->t->nfs_port, "NFS server", e);
    if (r == 0)
        r = nfs_session_await(s, rpc_nfs4_compound_async(s->rpc, on_found, &args, f), e);
    if (r == 0 && s->status != NFS4_OK)
        r = refused(f, q, e);
    return r < 0 ? r : accept_file(f, e);
}

int nfs4_find(struct nfs_target *t, struct err *e)
{
    struct finding f = {.session.t = t};
    struct question q = {.ops = 0};
    t->nfs_port = t->address.nfs_port ? (unsigned)t->address.nfs_port : PORT;
    int r = nfs_session_resolve(t, e);
    if (r == 0)
        r = find(&f, &q, e);
    nfs_session_end(&f.session);
    return r;
}

/* ---- reading ---- */

int nfs4_call_read(struct nfs_conn *c, struct nfs_piece *p, rpc_cb cb)
{
    struct nfs_target *t = p->target;
    nfs_argop4 op[] = {{.argop = OP_PUTFH, .nfs_argop4_u.opputfh.object = {t->handle_bytes, t->handle}},
            {.argop = OP_READ, .nfs_argop4_u.opread = {.offset = p->offset_bytes, .count = p->len_bytes}}};
    COMPOUND4args args = {.argarray = {2, op}};
    return rpc_nfs4_compound_async(c->rpc, cb, &args, p);
}

bool nfs4_read_result(const void *result, READ4resok *ok)
{
    const COMPOUND4res *res = result;
    if (res->resarray.resarray_len != 2)
        return false;
    nfs_resop4 read = result_at(res, 1);
    *ok = read.nfs_resop4_u.opread.READ4res_u.resok4;
    return read.resop == OP_READ && read.nfs_resop4_u.opread.status == NFS4_OK;
}
