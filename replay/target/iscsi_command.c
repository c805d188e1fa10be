/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SCSI commands for I/O, and what their answers mean (SAM-5, 5.3: status; SPC-4, 4.5: sense data).
 */
#include <errno.h>

#include "replay/target/iscsi.h"

/* How often the same command may be answered with a unit attention, and with a failure of transport. */
#define ATTENTIONS_MAX         32
#define TRANSPORT_TRIES        3

#define ASC(ascq)              ((ascq) >> 8)
#define ASC_INVALID_OPCODE     0x20
#define ASC_INVALID_FIELD_CDB  0x24
#define ASC_NO_LUN             0x25
#define ASC_INVALID_FIELD_LIST 0x26
#define ASC_NO_MEDIUM          0x3a
#define ASCQ_BECOMING_READY    0x0401
#define ASCQ_NO_SPACE          0x2707 /* space allocation failed write protect */

bool isc_unit_attention(int status, const struct scsi_task *task)
{
    return status == SCSI_STATUS_CHECK_CONDITION && task->sense.key == SCSI_SENSE_UNIT_ATTENTION;
}

static int check_errno(const struct scsi_sense *sense)
{
    switch ((int)sense->key) {
    case SCSI_SENSE_NO_SENSE:
    case SCSI_SENSE_RECOVERED_ERROR:
        return 0;
    case SCSI_SENSE_NOT_READY:
        return ASC(sense->ascq) == ASC_NO_MEDIUM ? -ENOMEDIUM : -EAGAIN;
    case SCSI_SENSE_ILLEGAL_REQUEST:
        if (ASC(sense->ascq) == ASC_INVALID_OPCODE)
            return -EOPNOTSUPP;
        return ASC(sense->ascq) == ASC_NO_LUN ? -ENXIO : -EINVAL;
    case SCSI_SENSE_DATA_PROTECTION:
        return sense->ascq == ASCQ_NO_SPACE ? -ENOSPC : -EROFS;
    }
    return -EIO;
}

int isc_sense_errno(int status, const struct scsi_task *task)
{
    switch (status) {
    case SCSI_STATUS_GOOD:
    case SCSI_STATUS_CONDITION_MET:
        return 0;
    case SCSI_STATUS_CHECK_CONDITION:
        return check_errno(&task->sense);
    case SCSI_STATUS_RESERVATION_CONFLICT:
        return -EBUSY;
    case SCSI_STATUS_BUSY:
    case SCSI_STATUS_TASK_SET_FULL:
        return -EAGAIN;
    case SCSI_STATUS_CANCELLED:
        return -ECONNRESET;
    }
    return -EIO;
}

static struct scsi_task *issue_data(struct isc_command *c, struct isc_path *p, iscsi_command_cb done)
{
    struct isc_lun *l = c->lun;
    int block = (int)l->facts.block_bytes;
    uint32_t len = c->blocks * l->facts.block_bytes;
    int fua = c->kind == ISC_WRITE && c->io->fua && l->facts.fua;
    struct scsi_iovec *v = &c->data;
    if (c->kind == ISC_READ && l->facts.cdb16)
        return iscsi_read16_iov_task(p->context, l->lun, c->lba, len, block, 0, 0, 0, 0, 0, done, c, v, 1);
    if (c->kind == ISC_READ)
        return iscsi_read10_iov_task(
                p->context, l->lun, (uint32_t)c->lba, len, block, 0, 0, 0, 0, 0, done, c, v, 1);
    if (l->facts.cdb16)
        return iscsi_write16_iov_task(
                p->context, l->lun, c->lba, NULL, len, block, 0, 0, fua, 0, 0, done, c, v, 1);
    return iscsi_write10_iov_task(
            p->context, l->lun, (uint32_t)c->lba, NULL, len, block, 0, 0, fua, 0, 0, done, c, v, 1);
}

bool isc_command_issue(struct isc_command *c, struct isc_path *p, iscsi_command_cb done)
{
    struct isc_lun *l = c->lun;
    struct unmap_list range = {.lba = c->lba, .num = c->blocks};
    switch (c->kind) {
    case ISC_READ:
    case ISC_WRITE:
        c->task = issue_data(c, p, done);
        break;
    case ISC_FLUSH: /* from block 0, 0 blocks: all */
        c->task = iscsi_synchronizecache10_task(p->context, l->lun, 0, 0, 0, 0, done, c);
        break;
    case ISC_UNMAP:
        c->task = iscsi_unmap_task(p->context, l->lun, 0, 0, &range, 1, done, c);
        break;
    case ISC_ERASE:
    case ISC_ZERO:
        c->task = iscsi_writesame16_task(p->context, l->lun, c->lba, l->zeros, l->facts.block_bytes,
                c->blocks, 0, c->kind == ISC_ERASE, 0, 0, done, c);
        break;
    }
    return c->task != NULL;
}

/* The command is not one of the LUN's: no more of these. */
static int unsupported(struct isc_command *c)
{
    struct isc_facts *f = &c->lun->facts;
    if (c->kind == ISC_UNMAP)
        f->unmap = false;
    else if (c->kind == ISC_ERASE)
        f->erase = false;
    else if (c->kind == ISC_ZERO)
        f->zero = false;
    return -EOPNOTSUPP;
}

static bool may_be_unsupported(enum isc_kind kind)
{
    return kind == ISC_UNMAP || kind == ISC_ERASE || kind == ISC_ZERO;
}

static enum isc_verdict judge_sense(struct isc_command *c, const struct scsi_sense *sense, int *error)
{
    int asc = ASC(sense->ascq);
    *error = check_errno(sense);
    if (*error == 0)
        return ISC_DONE;
    switch ((int)sense->key) {
    case SCSI_SENSE_UNIT_ATTENTION:
        *error = -EIO;
        return c->tries++ < ATTENTIONS_MAX ? ISC_AGAIN : ISC_FAILED;
    case SCSI_SENSE_NOT_READY: /* becoming ready, or this path is no good one at present (ALUA) */
        return *error == -EAGAIN ? ISC_LATER : ISC_FAILED;
    case SCSI_SENSE_COMMAND_ABORTED:
        return c->tries++ < TRANSPORT_TRIES ? ISC_LATER : ISC_FAILED;
    case SCSI_SENSE_ILLEGAL_REQUEST:
        if (asc == ASC_INVALID_OPCODE ||
                (may_be_unsupported(c->kind) &&
                        (asc == ASC_INVALID_FIELD_CDB || asc == ASC_INVALID_FIELD_LIST)))
            *error = unsupported(c);
        break;
    }
    return ISC_FAILED;
}

enum isc_verdict isc_command_judge(
        struct isc_command *c, int status, const struct scsi_task *task, int *error)
{
    *error = isc_sense_errno(status, task);
    switch (status) {
    case SCSI_STATUS_GOOD:
    case SCSI_STATUS_CONDITION_MET:
        return ISC_DONE;
    case SCSI_STATUS_CHECK_CONDITION:
        return judge_sense(c, &task->sense, error);
    case SCSI_STATUS_BUSY:
    case SCSI_STATUS_TASK_SET_FULL:
        return ISC_LATER;
    case SCSI_STATUS_RESERVATION_CONFLICT:
        return ISC_FAILED;
    }
    return c->tries++ < TRANSPORT_TRIES ? ISC_LATER : ISC_FAILED;
}
