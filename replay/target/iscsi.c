/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * LUNs of iSCSI targets, by libiscsi: no initiator of the kernel's, no root.
 */
#include "replay/target/iscsi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "replay/pace.h"

/* A path that does not answer for so long is dropped, or a third of the stall timeout if that is less. */
#define PATH_TIMEOUT_NS    UINT64_C(5000000000)
#define STALL_DEFAULT_NS   UINT64_C(30000000000)
#define LUN_FLAT           0x4000 /* SAM-5, 4.7.7.4 */
#define LUN_PERIPHERAL_MAX 255
#define WAIT_NS            UINT64_C(50000000)
#define LOOKS              3

extern const struct target_ops target_iscsi;

static void iscsi_close(struct target *t)
{
    struct isc_lun *l = isc_lun_of(t);
    isc_lun_abandon(l);
    for (unsigned i = 0; i < l->paths; i++)
        isc_path_close(&l->path[i]);
    explicit_bzero(&l->url, sizeof l->url);
    free(l->command);
    free(l->zeros);
    free(l->base.url);
    free(l);
}

/* ---- opening ---- */

/* Another address of the same portal, or where it sent us, may do. */
static bool another_way(const struct isc_path *p)
{
    return p->redirect[0] || p->next_address < p->addresses;
}

/* Brings all paths up: one that cannot be had is an error, since it was asked for. */
static int connect_all(struct isc_lun *l, struct err *e)
{
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < l->paths; i++)
        isc_path_start(&l->path[i], now_ns);
    while (l->up < l->paths) {
        isc_paths_serve(l, WAIT_NS);
        now_ns = pace_now_ns();
        for (unsigned i = 0; i < l->paths; i++) {
            struct isc_path *p = &l->path[i];
            if (p->state == ISC_DOWN && another_way(p))
                isc_path_start(p, now_ns);
            else if (p->state == ISC_DOWN)
                return isc_path_error(p, e);
            else
                isc_path_tick(p, now_ns);
        }
    }
    return 0;
}

static int make_commands(struct isc_lun *l, struct err *e)
{
    unsigned count = l->paths * ISC_PATH_COMMANDS;
    l->command = calloc(count, sizeof *l->command);
    l->zeros = calloc(1, l->facts.block_bytes);
    if (!l->command || !l->zeros)
        return err_sys(e, ENOMEM, "cannot open '%s'", l->base.url);
    for (unsigned i = 0; i < count; i++)
        TAILQ_INSERT_TAIL(&l->unused, &l->command[i], link);
    return 0;
}

static int open_lun(struct isc_lun *l, const char *url, struct err *e)
{
    int r = isc_url_parse(&l->url, url, &l->base.url, e);
    if (r == 0)
        r = isc_url_secrets(&l->url, l->base.url, e);
    if (r < 0)
        return r;
    isc_initiator_name(l->initiator);
    l->lun = (uint16_t)(l->url.lun > LUN_PERIPHERAL_MAX ? LUN_FLAT | l->url.lun : l->url.lun);
    r = isc_paths_init(l, e);
    if (r == 0)
        r = connect_all(l, e);
    if (r == 0)
        r = isc_probe(&l->path[0], pace_now_ns() + l->stall_ns, e);
    if (r == 0)
        r = make_commands(l, e);
    l->base.size_bytes = l->facts.blocks * l->facts.block_bytes;
    l->base.sector_bytes = l->facts.block_bytes;
    l->opened = r == 0;
    return r;
}

static int iscsi_open(struct target **out, const char *url, const struct target_options *o, struct err *e)
{
    struct isc_lun *l = calloc(1, sizeof *l);
    if (!l)
        return err_sys(e, ENOMEM, "cannot open an iSCSI target");
    l->base.ops = &target_iscsi;
    l->read_only = o->read_only;
    l->stall_ns = o->stall_timeout_ns ? o->stall_timeout_ns : STALL_DEFAULT_NS;
    l->path_timeout_ns = l->stall_ns / 3 < PATH_TIMEOUT_NS ? l->stall_ns / 3 : PATH_TIMEOUT_NS;
    TAILQ_INIT(&l->unused);
    TAILQ_INIT(&l->again);
    TAILQ_INIT(&l->active);
    TAILQ_INIT(&l->waiting);
    int r = open_lun(l, url, e);
    if (r < 0) {
        iscsi_close(&l->base);
        return r;
    }
    *out = &l->base;
    return 0;
}

/* ---- describing ---- */

static int describe_limits(const struct isc_facts *s, struct facts *f, struct err *e)
{
    char size[UNITS_TEXT_BYTES];
    uint64_t block = s->block_bytes;
    int r = facts_set(f, e, "max_transfer", "%s", units_size(s->transfer_blocks * block, size));
    if (r == 0)
        r = facts_set(f, e, "fua", "%s", s->fua ? "yes" : "no (a flush after the write)");
    if (r == 0)
        r = facts_set(f, e, "write_cache", "%s", !s->cache_known ? "unknown" : s->cache ? "yes" : "no");
    if (r == 0 && s->unmap)
        r = facts_set(f, e, "discard", "UNMAP, at most %s", units_size(s->unmap_blocks * block, size));
    else if (r == 0)
        r = facts_set(f, e, "discard", "%s", s->erase ? "WRITE SAME" : "no");
    if (r == 0 && s->zero)
        r = facts_set(
                f, e, "write_zeroes", "WRITE SAME, at most %s", units_size(s->same_blocks * block, size));
    else if (r == 0)
        r = facts_set(f, e, "write_zeroes", "no");
    return r;
}

static int iscsi_describe(struct target *t, struct facts *f, struct err *e)
{
    const struct isc_lun *l = isc_lun_of(t);
    const struct isc_facts *s = &l->facts;
    int r = facts_set(f, e, "type", "iSCSI LUN");
    if (r == 0)
        r = facts_set(f, e, "driver", "libiscsi");
    if (r == 0)
        r = facts_set(f, e, "model", "%s %s", s->vendor, s->product);
    if (r == 0)
        r = facts_set(f, e, "revision", "%s", s->revision);
    if (r == 0)
        r = facts_set(f, e, "logical_block_size", "%u", (unsigned)s->block_bytes);
    if (r == 0)
        r = facts_set(f, e, "provisioning", "%s", s->thin ? "thin" : "full");
    if (r == 0)
        r = facts_set(f, e, "commands", "READ (%d), WRITE (%d)", s->cdb16 ? 16 : 10, s->cdb16 ? 16 : 10);
    if (r == 0)
        r = facts_set(f, e, "paths", "%u", l->paths);
    if (r == 0)
        r = facts_set(f, e, "commands_per_path", "%d", ISC_PATH_COMMANDS);
    return r < 0 ? r : describe_limits(s, f, e);
}

/* A server may have asked for a sign of life meanwhile, or ended sessions that gave none; libiscsi needs two
 * looks to notice that. */
static void iscsi_ready(struct target *t)
{
    struct isc_lun *l = isc_lun_of(t);
    uint64_t now_ns = pace_now_ns(), end_ns = now_ns + l->path_timeout_ns;
    for (unsigned looks = 0; looks < LOOKS || (l->up < l->paths && now_ns < end_ns); looks++) {
        isc_paths_serve(l, looks < LOOKS ? 0 : WAIT_NS);
        now_ns = pace_now_ns();
        isc_lun_tick(l, now_ns);
    }
    l->missing = l->paths - l->up;
}

static void iscsi_events(struct target *t, struct target_events *ev)
{
    *ev = isc_lun_of(t)->events;
}

static const char *const prefixes[] = {"iscsi:", NULL};

const struct target_ops target_iscsi = {
        .name = "iscsi",
        .help = "iscsi://[USER@]HOST[:PORT][,HOST[:PORT]...]/TARGET/LUN\n"
                "                 a LUN, by libiscsi; several portals are paths, used in turn. The secret of "
                "USER "
                "(CHAP)\n"
                "                 comes from IOTAPE_CHAP_SECRET or the file that IOTAPE_CHAP_SECRET_FILE "
                "names; "
                "for mutual\n"
                "                 CHAP also IOTAPE_CHAP_MUTUAL_USER and IOTAPE_CHAP_MUTUAL_SECRET or "
                "..._FILE. "
                "The\n"
                "                 initiator's name is IOTAPE_ISCSI_INITIATOR, else the host's",
        .prefixes = prefixes,
        .stores = true,
        .open = iscsi_open,
        .close = iscsi_close,
        .describe = iscsi_describe,
        .ready = iscsi_ready,
        .events = iscsi_events,
        .queue_open = isc_queue_open,
        .queue_close = isc_queue_close,
        .submit = isc_submit,
        .reap = isc_reap,
};
