/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the files of the iscsi target: iscsi.c opens and describes it, iscsi_url.c reads its URL,
 * iscsi_path.c keeps its sessions, iscsi_probe.c asks what the LUN is, iscsi_command.c makes SCSI commands
 * and judges their answers, iscsi_lun.c moves I/O over the paths that are alive, iscsi_queue.c serves them
 * all.
 *
 * One session (one libiscsi context) for each portal. An I/O consists of steps (flush before, the thing
 * itself, flush after), a step of commands that the server's limits allow. A command is on one path or waits
 * to be issued again. Nothing here frees a context inside one of its own callbacks: they only take notes.
 */
#ifndef IOTAPE_ISCSI_H
#define IOTAPE_ISCSI_H

#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <poll.h>
#include <stddef.h>
#include <sys/queue.h>

#include "replay/target.h"
#include "replay/target/iscsi_url.h"

/* Commands on a path at once. Servers grant windows of 64 and more; a probe (NOP-OUT) must fit in, too, and
 * libiscsi's lists are searched from the front. */
#define ISC_PATH_COMMANDS  60
#define ISC_ADDRESSES_MAX  4
#define ISC_REASON_BYTES   256
#define ISC_IDENTITY_BYTES 256

struct isc_lun;
struct isc_path;

/* ---- commands ---- */

enum isc_kind {
    ISC_READ,
    ISC_WRITE,
    ISC_FLUSH, /* SYNCHRONIZE CACHE */
    ISC_UNMAP,
    ISC_ERASE, /* WRITE SAME with its UNMAP bit: for LUNs that know no UNMAP */
    ISC_ZERO,  /* WRITE SAME */
};

struct isc_command {
    TAILQ_ENTRY(isc_command) link; /* of its path, of the LUN's `again`, or of the LUN's `unused` */
    struct isc_lun *lun;
    struct isc_path *path; /* NULL while it is on none */
    struct target_io *io;
    struct scsi_task *task;
    struct scsi_iovec data;
    uint64_t lba;
    uint32_t blocks;
    enum isc_kind kind;
    unsigned tries;
    bool lost;              /* with a path that died */
    uint64_t not_before_ns; /* of issuing it again */
};
TAILQ_HEAD(isc_commands, isc_command);

/* ---- what the LUN is ---- */

struct isc_facts {
    char vendor[9], product[17], revision[5];
    uint64_t blocks;
    uint32_t block_bytes;
    bool cdb16; /* READ (16) and WRITE (16) work */
    bool write_protected, fua, thin;
    bool cache_known, cache; /* a volatile write cache */
    bool unmap, erase, zero;
    uint64_t transfer_blocks, unmap_blocks, same_blocks; /* of one command, at most */
};

/* ---- paths ---- */

enum isc_state { ISC_DOWN, ISC_CONNECTING, ISC_LOGIN, ISC_CHECK, ISC_IDENTIFY, ISC_UP };

struct isc_path {
    struct isc_lun *lun;
    const struct isc_portal *portal;
    char address[ISC_ADDRESSES_MAX][ISC_TEXT_BYTES]; /* numeric, so that connecting again asks no resolver */
    unsigned addresses, next_address;
    uint32_t isid; /* the same after every login: the server ends what the session before left behind */
    struct iscsi_context *context;
    enum isc_state state;
    bool broken; /* noted in a callback: to be dropped */
    bool unsent; /* has commands that were not handed to the socket yet */
    bool probing;
    unsigned attentions, commands;
    struct isc_commands running;
    uint64_t deadline_ns; /* of logging in */
    uint64_t retry_ns;    /* when to connect again */
    uint64_t busy_ns;     /* since when something is expected from it */
    int reason_code;      /* why it is down: errno and text */
    char reason[ISC_REASON_BYTES];
    char redirect[ISC_TEXT_BYTES]; /* where the portal sent us */
};

struct isc_lun {
    struct target base;
    struct isc_url url;
    char initiator[ISC_TEXT_BYTES];
    bool read_only;
    bool opened; /* from now on changes of paths count */
    struct isc_facts facts;
    uint16_t lun; /* as the header has it */
    unsigned char identity[ISC_IDENTITY_BYTES];
    size_t identity_bytes; /* 0: not known (yet) */
    struct isc_path path[ISC_PORTALS_MAX];
    unsigned paths, up, next_path;
    uint64_t stall_ns, path_timeout_ns;
    uint64_t lost_ns; /* since when no path is up */
    bool gone;        /* for longer than stall_ns */
    struct isc_command *command;
    struct isc_commands unused, again;
    TAILQ_HEAD(, isc_io) active, waiting; /* not completed, the one without an answer for longest first */
    unsigned char *zeros;                 /* a block of them */
    uint32_t drops;                       /* of paths */
    struct target_events events;
    unsigned missing; /* paths that were down when a repetition began: they count as changes of it */
};

/* ---- I/Os: what target_io.space holds ---- */

enum isc_step { ISC_BEGIN, ISC_FLUSH_BEFORE, ISC_MAIN, ISC_FLUSH_AFTER, ISC_END };

struct isc_io {
    struct target_queue *queue;
    TAILQ_ENTRY(isc_io) active_link, waiting_link;
    uint64_t next_bytes;    /* of the step: what was made into commands */
    uint64_t progress_ns;   /* when something of it was last answered */
    uint64_t missing_bytes; /* that the server left out */
    uint32_t commands;      /* not answered */
    int32_t error;          /* -errno */
    uint8_t step;
    bool waits; /* has more commands to be made */
    bool lost;  /* its path died, and it was not issued again yet */
};

static inline struct isc_io *isc_io_of(struct target_io *io)
{
    return (struct isc_io *)io->space;
}

static inline struct target_io *isc_target_io(struct isc_io *s)
{
    return (struct target_io *)((char *)s - offsetof(struct target_io, space));
}

static inline struct isc_lun *isc_lun_of(struct target *t)
{
    return (struct isc_lun *)t;
}

/* `now_ns` may have been read before something set `then_ns`. */
static inline uint64_t isc_since_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* ---- iscsi_path.c ---- */

/* Looks up the portals' addresses and makes a path of each. */
int isc_paths_init(struct isc_lun *l, struct err *e);
/* Begins to connect; failures show in `state` and `reason`. */
void isc_path_start(struct isc_path *p, uint64_t now_ns);
/* Ends its session; its commands go to the LUN's `again`. Never inside a callback. */
void isc_path_drop(struct isc_path *p, uint64_t now_ns);
/* Reads and writes what the socket allows: `events` as poll() returned them. Drops a path that broke. */
void isc_path_service(struct isc_path *p, short events, uint64_t now_ns);
/* Deadlines, probes, connecting again. */
void isc_path_tick(struct isc_path *p, uint64_t now_ns);
/* Logs out in good order, if that goes quickly. */
void isc_path_close(struct isc_path *p);
/* Why it is down, as an error. */
int isc_path_error(const struct isc_path *p, struct err *e);
/* What poll() should wait for, -1 for `fd` where it is nothing. */
struct pollfd isc_path_poll(const struct isc_path *p);
/* Waits for all paths of a LUN, at most `timeout_ns`, and serves them. */
void isc_paths_serve(struct isc_lun *l, uint64_t timeout_ns);

/* ---- iscsi_probe.c ---- */

/* Asks over a path that is up what the LUN is, and whether we may use it. */
int isc_probe(struct isc_path *p, uint64_t deadline_ns, struct err *e);
/* The parts of the device identification page (SPC-4, 7.8.6) that name the LUN itself, whatever the path. */
size_t isc_identity(const unsigned char *page, size_t page_bytes, unsigned char out[ISC_IDENTITY_BYTES]);

/* ---- iscsi_command.c ---- */

enum isc_verdict {
    ISC_DONE,
    ISC_FAILED,
    ISC_AGAIN, /* at once */
    ISC_LATER, /* after a pause */
};

/* Hands a command to a path's session. False: the session did not take it, it is broken. */
bool isc_command_issue(struct isc_command *c, struct isc_path *p, iscsi_command_cb done);
/* What an answer means; *error is set to -errno where it failed. Notes what the LUN turned out not to know.
 */
enum isc_verdict isc_command_judge(
        struct isc_command *c, int status, const struct scsi_task *task, int *error);
/* The same without a command: what went wrong with a request of isc_probe's. 0 where it went well. */
int isc_sense_errno(int status, const struct scsi_task *task);
bool isc_unit_attention(int status, const struct scsi_task *task);

/* ---- iscsi_lun.c ---- */

/* Takes an I/O on. */
void isc_lun_begin(struct isc_lun *l, struct target_queue *q, struct target_io *io, uint64_t now_ns);
/* Issues what can be issued. */
void isc_lun_pump(struct isc_lun *l, uint64_t now_ns);
/* Looks at deadlines. */
void isc_lun_tick(struct isc_lun *l, uint64_t now_ns);
/* Forgets every I/O without completing it, so that nothing touches their data any more. */
void isc_lun_abandon(struct isc_lun *l);
/* A path's command was lost with its session. */
void isc_lun_lost(struct isc_command *c);

/* ---- iscsi_queue.c ---- */

void isc_queue_completed(struct target_queue *q, struct target_io *io);
int isc_queue_open(struct target_queue **q, unsigned depth, struct err *e);
void isc_queue_close(struct target_queue *q);
int isc_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e);
int isc_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e);

#endif
