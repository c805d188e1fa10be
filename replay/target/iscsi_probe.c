/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a LUN is. Answers are read byte by byte as SPC-4 (INQUIRY 6.6, MODE SENSE 6.14, PERSISTENT RESERVE IN
 * 6.15) and SBC-3 (READ CAPACITY 5.15 and 5.16, block limits 6.6.4, provisioning 6.6.5) lay them out; a
 * server may answer less than was asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/pace.h"
#include "replay/target/iscsi.h"

/* Where a LUN names no limit: what Linux's sd driver takes for WRITE SAME, and a transfer that any buffer can
 * hold. */
#define SAME_BLOCKS_DEFAULT 65535
#define TRANSFER_BYTES_MAX  (UINT64_C(16) << 20)
#define CDB10_BLOCKS_MAX    65535
#define BLOCK_BYTES_MAX     65536
#define ATTENTIONS_MAX      32

#define WAIT_NS             UINT64_C(100000000)

/* One request over one path. */
struct probe {
    struct isc_path *path;
    uint64_t deadline_ns;
    bool done;
    int status;
    struct scsi_task *task;
};

static void on_answer(struct iscsi_context *context, int status, void *data, void *private)
{
    struct probe *b = private;
    (void)context;
    b->done = true;
    b->status = status;
    b->task = data;
}

static void forget(struct probe *b)
{
    if (b->task)
        scsi_free_scsi_task(b->task);
    b->task = NULL;
    b->done = false;
}

/* Waits for the answer: 0, or an error where the path broke or gave none in time. */
static int await(struct probe *b, struct err *e)
{
    struct isc_path *p = b->path;
    while (!b->done && p->context) {
        uint64_t now_ns = pace_now_ns();
        if (now_ns >= b->deadline_ns)
            break;
        uint64_t left_ns = b->deadline_ns - now_ns;
        isc_path_service(p, 0, now_ns);
        if (p->context)
            isc_paths_serve(p->lun, left_ns < WAIT_NS ? left_ns : WAIT_NS);
    }
    if (b->done && b->status != SCSI_STATUS_CANCELLED)
        return 0;
    if (!p->context)
        return isc_path_error(p, e);
    isc_path_drop(p, b->deadline_ns);
    return err_set(
            e, ETIMEDOUT, "'%s': portal '%s' does not answer any more", p->lun->base.url, p->portal->text);
}

/* The requests that are made. */
enum ask {
    TEST_READY,
    INQUIRY,
    PAGE_LIMITS,
    PAGE_PROVISIONING,
    CAPACITY16,
    CAPACITY10,
    MODES,
    RESERVATION,
    READ16
};

static struct scsi_task *send(struct probe *b, enum ask what)
{
    struct iscsi_context *x = b->path->context;
    int lun = b->path->lun->lun;
    int block = (int)b->path->lun->facts.block_bytes;
    switch (what) {
    case TEST_READY:
        return iscsi_testunitready_task(x, lun, on_answer, b);
    case INQUIRY:
        return iscsi_inquiry_task(x, lun, 0, 0, 255, on_answer, b);
    case PAGE_LIMITS:
        return iscsi_inquiry_task(x, lun, 1, SCSI_INQUIRY_PAGECODE_BLOCK_LIMITS, 255, on_answer, b);
    case PAGE_PROVISIONING:
        return iscsi_inquiry_task(
                x, lun, 1, SCSI_INQUIRY_PAGECODE_LOGICAL_BLOCK_PROVISIONING, 255, on_answer, b);
    case CAPACITY16:
        return iscsi_readcapacity16_task(x, lun, on_answer, b);
    case CAPACITY10:
        return iscsi_readcapacity10_task(x, lun, 0, 0, on_answer, b);
    case MODES:
        return iscsi_modesense6_task(
                x, lun, 0, SCSI_MODESENSE_PC_CURRENT, SCSI_MODEPAGE_RETURN_ALL_PAGES, 0, 255, on_answer, b);
    case RESERVATION:
        return iscsi_persistent_reserve_in_task(
                x, lun, SCSI_PERSISTENT_RESERVE_READ_RESERVATION, 255, on_answer, b);
    case READ16:
        return iscsi_read16_task(x, lun, 0, (uint32_t)block, block, 0, 0, 0, 0, 0, on_answer, b);
    }
    return NULL;
}

/* Asks, again after unit attentions: 1 with an answer in b->task, 0 where the LUN declined (b->task says
 * how), -errno where the path broke. */
static int ask(struct probe *b, enum ask what, struct err *e)
{
    for (unsigned i = 0; i < ATTENTIONS_MAX; i++) {
        forget(b);
        if (!b->path->context)
            return isc_path_error(b->path, e);
        if (!send(b, what))
            return err_set(e, EIO, "'%s': %s", b->path->lun->base.url, iscsi_get_error(b->path->context));
        int r = await(b, e);
        if (r < 0)
            return r;
        if (!isc_unit_attention(b->status, b->task))
            break;
    }
    return b->status == SCSI_STATUS_GOOD;
}

/* ---- answers ---- */

static bool has(const struct probe *b, int bytes)
{
    return b->task->datain.data && b->task->datain.size >= bytes;
}

static const unsigned char *answer(const struct probe *b)
{
    return b->task->datain.data;
}

/* A padded name; what is not printable ASCII becomes a '?'. */
static void copy_name(char *out, const unsigned char *from, size_t len)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        out[i] = from[i] >= ' ' && from[i] < 127 ? (char)from[i] : '?';
        if (from[i] != ' ')
            used = i + 1;
    }
    out[used] = '\0';
}

static int ask_inquiry(struct probe *b, struct err *e)
{
    struct isc_facts *f = &b->path->lun->facts;
    const char *url = b->path->lun->base.url;
    int r = ask(b, INQUIRY, e);
    if (r < 0)
        return r;
    if (r == 0 || !has(b, 36))
        return err_set(e, EPROTO, "'%s': the LUN does not say what it is (INQUIRY)", url);
    const unsigned char *a = answer(b);
    if (a[0] >> 5)
        return err_set(e, ENOENT, "'%s': the target has no such LUN", url);
    if ((a[0] & 0x1f) != SCSI_INQUIRY_PERIPHERAL_DEVICE_TYPE_DIRECT_ACCESS)
        return err_set(e, ENOTBLK, "'%s' is no disk (SCSI device type %u)", url, a[0] & 0x1fu);
    copy_name(f->vendor, a + 8, 8);
    copy_name(f->product, a + 16, 16);
    copy_name(f->revision, a + 32, 4);
    return 0;
}

static int ask_capacity(struct probe *b, struct err *e)
{
    struct isc_facts *f = &b->path->lun->facts;
    const char *url = b->path->lun->base.url;
    int r = ask(b, CAPACITY16, e);
    if (r == 1 && has(b, 15)) {
        f->blocks = scsi_get_uint64(answer(b)) + 1;
        f->block_bytes = scsi_get_uint32(answer(b) + 8);
        f->thin = answer(b)[14] & 0x80;
    } else if (r >= 0) {
        r = ask(b, CAPACITY10, e);
        if (r == 1 && has(b, 8)) {
            f->blocks = (uint64_t)scsi_get_uint32(answer(b)) + 1;
            f->block_bytes = scsi_get_uint32(answer(b) + 4);
        }
    }
    if (r < 0)
        return r;
    uint32_t size = f->block_bytes;
    if (size < 512 || size > BLOCK_BYTES_MAX || (size & (size - 1)) || f->blocks == 0 ||
            f->blocks > UINT64_MAX / 2 / size)
        return err_set(e, ENOTSUP, "'%s' has %llu blocks of %u bytes: iotape cannot use that", url,
                (unsigned long long)f->blocks, (unsigned)size);
    return 0;
}

static int ask_cdb16(struct probe *b, struct err *e)
{
    struct isc_facts *f = &b->path->lun->facts;
    int r = ask(b, READ16, e);
    if (r < 0)
        return r;
    f->cdb16 = isc_sense_errno(b->status, b->task) != -EOPNOTSUPP;
    if (!f->cdb16 && f->blocks > (UINT64_C(1) << 32))
        return err_set(
                e, ENOTSUP, "'%s' has more than 2^32 blocks and refuses READ (16)", b->path->lun->base.url);
    return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int ask_limits(struct probe *b, struct err *e)
{
    struct isc_facts *f = &b->path->lun->facts;
    f->transfer_blocks = least(TRANSFER_BYTES_MAX / f->block_bytes, CDB10_BLOCKS_MAX);
    f->same_blocks = SAME_BLOCKS_DEFAULT;
    f->unmap_blocks = UINT32_MAX;
    f->zero = true; /* until the first one is refused */
    int r = ask(b, PAGE_LIMITS, e);
    if (r < 0)
        return r;
    if (r == 1 && has(b, 12) && scsi_get_uint32(answer(b) + 8))
        f->transfer_blocks = least(f->transfer_blocks, scsi_get_uint32(answer(b) + 8));
    if (r == 1 && has(b, 28) && scsi_get_uint32(answer(b) + 20)) {
        f->unmap_blocks = scsi_get_uint32(answer(b) + 20);
        f->unmap = f->thin && scsi_get_uint32(answer(b) + 24);
    }
    if (r == 1 && has(b, 44) && scsi_get_uint64(answer(b) + 36))
        f->same_blocks = least(UINT32_MAX, scsi_get_uint64(answer(b) + 36));
    r = ask(b, PAGE_PROVISIONING, e);
    if (r == 1 && has(b, 6)) {
        f->unmap = answer(b)[5] & 0x80;
        f->erase = answer(b)[5] & 0x40;
    }
    return r < 0 ? r : 0;
}

/* Mode parameters: the header's device-specific byte (SBC-3, 6.5.1), and the caching page (SBC-3, 6.5.5). */
static int ask_modes(struct probe *b, struct err *e)
{
    struct isc_facts *f = &b->path->lun->facts;
    int r = ask(b, MODES, e);
    if (r < 1 || !has(b, 4))
        return r < 0 ? r : 0;
    const unsigned char *a = answer(b);
    int size = b->task->datain.size < a[0] + 1 ? b->task->datain.size : a[0] + 1;
    f->write_protected = a[2] & 0x80;
    f->fua = a[2] & 0x10;
    for (int at = 4 + a[3]; at + 2 < size;) {
        bool long_form = a[at] & 0x40;
        if ((a[at] & 0x7f) == 0x08) {
            f->cache_known = true;
            f->cache = a[at + 2] & 0x04;
        }
        if (long_form && at + 3 >= size)
            break;
        at += long_form ? 4 + scsi_get_uint16(a + at + 2) : 2 + a[at + 1];
    }
    return 0;
}

/* Types of reservation that only keep others from writing: SPC-4, table 157. */
static bool allows_reading(unsigned type)
{
    return type == 1 || type == 5 || type == 7;
}

static int ask_reservation(struct probe *b, struct err *e)
{
    struct isc_lun *l = b->path->lun;
    int r = ask(b, TEST_READY, e);
    if (r < 0)
        return r;
    if (b->status == SCSI_STATUS_RESERVATION_CONFLICT)
        return err_set(e, EBUSY, "'%s' is reserved by another initiator", l->base.url);
    r = ask(b, RESERVATION, e);
    if (r < 0)
        return r;
    if (b->status == SCSI_STATUS_RESERVATION_CONFLICT)
        return err_set(e, EBUSY, "'%s' is reserved by another initiator", l->base.url);
    if (r == 0 || !has(b, 24) || scsi_get_uint32(answer(b) + 4) == 0)
        return 0; /* it knows none, or there is none */
    unsigned type = answer(b)[21] & 0x0f;
    if (l->read_only && allows_reading(type))
        return 0;
    return err_set(e, EBUSY, "'%s' is reserved by another initiator (persistent reservation of type %u)",
            l->base.url, type);
}

int isc_probe(struct isc_path *p, uint64_t deadline_ns, struct err *e)
{
    struct probe b = {.path = p, .deadline_ns = deadline_ns};
    int (*const steps[])(struct probe *, struct err *) = {
            ask_inquiry, ask_reservation, ask_capacity, ask_cdb16, ask_limits, ask_modes};
    int r = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && r == 0; i++)
        r = steps[i](&b, e);
    forget(&b);
    if (r == 0 && p->lun->facts.write_protected && !p->lun->read_only)
        return err_set(e, EROFS, "'%s' is write-protected", p->lun->base.url);
    return r;
}

size_t isc_identity(const unsigned char *page, size_t page_bytes, unsigned char out[ISC_IDENTITY_BYTES])
{
    size_t n = 0;
    for (size_t at = 4; at + 4 <= page_bytes;) {
        size_t len = 4 + (size_t)page[at + 3];
        if (at + len > page_bytes)
            break;
        bool of_lun = ((page[at + 1] >> 4) & 3) == 0;
        if (of_lun && n + len <= ISC_IDENTITY_BYTES) {
            memcpy(out + n, page + at, len);
            n += len;
        }
        at += len;
    }
    return n;
}
