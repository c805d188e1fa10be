/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_pcap.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/net_packet.h"

#define SECONDS_MAX INT64_C(9000000000) /* the year 2255 */

struct net_pcap {
    pcap_t *pcap;
    int link;
    char *name; /* for errors */
    uint32_t dropped_last;
    uint64_t dropped;
};

/* DLT_ numbers are LINKTYPE_ numbers, but for raw IP and some that differ between systems
 * (https://www.tcpdump.org/linktypes.html). */
static int link_of(int dlt)
{
    return dlt == DLT_RAW ? NET_LINK_RAW : dlt;
}

static int finish_open(struct net_pcap *c, struct net_pcap **out, struct err *e)
{
    c->link = link_of(pcap_datalink(c->pcap));
    if (!net_link_known(c->link)) {
        const char *name = pcap_datalink_val_to_name(pcap_datalink(c->pcap));
        int r = err_set(
                e, EINVAL, "'%s': link type %d (%s) is not known", c->name, c->link, name ? name : "no name");
        net_pcap_close(c);
        return r;
    }
    *out = c;
    return 0;
}

static struct net_pcap *new_capture(const char *name, struct err *e)
{
    struct net_pcap *c = calloc(1, sizeof *c);
    if (c && (c->name = strdup(name)))
        return c;
    free(c);
    err_sys(e, ENOMEM, "cannot open '%s'", name);
    return NULL;
}

int net_pcap_open_file(struct net_pcap **out, const char *path, struct err *e)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    struct net_pcap *c = new_capture(path, e);
    if (!c)
        return -ENOMEM;
    FILE *f = fopen(path, "re");
    if (!f) {
        int r = err_sys(e, errno, "cannot read '%s'", path);
        net_pcap_close(c);
        return r;
    }
    c->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, why);
    if (!c->pcap) {
        fclose(f);
        net_pcap_close(c);
        return err_set(e, EBADMSG, "'%s': %s", path, why);
    }
    return finish_open(c, out, e);
}

static int refuse(struct net_pcap *c, int status, struct err *e)
{
    int code = status == PCAP_ERROR_NO_SUCH_DEVICE ? ENODEV : status == PCAP_ERROR_PERM_DENIED ? EPERM : EIO;
    const char *why = pcap_geterr(c->pcap);
    bool more = *why && strcmp(why, pcap_statustostr(status)) != 0; /* some are said twice */
    return err_set(e, code, "cannot record interface '%s': %s%s%s", c->name, pcap_statustostr(status),
            more ? ": " : "", more ? why : "");
}

/* Immediate mode has the kernel fill slots of the snapshot's size (TPACKET_V2 of packet(7)). Otherwise
 * libpcap takes blocks (TPACKET_V3), into which the kernel copies whole packets, of 64 KiB where they are
 * joined: a ring holds 1,000 of them instead of 190,000. */
static int set_up(struct net_pcap *c, const char *filter, struct err *e)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    struct bpf_program program;
    pcap_set_snaplen(c->pcap, NET_PCAP_SNAP_BYTES);
    pcap_set_promisc(c->pcap, 1);
    pcap_set_immediate_mode(c->pcap, 1);
    pcap_set_buffer_size(c->pcap, NET_PCAP_RING_BYTES);
    pcap_set_tstamp_precision(c->pcap, PCAP_TSTAMP_PRECISION_NANO);
    int status = pcap_activate(c->pcap);
    if (status < 0)
        return refuse(c, status, e);
    if (pcap_get_tstamp_precision(c->pcap) != PCAP_TSTAMP_PRECISION_NANO)
        return err_set(e, EIO, "interface '%s' has no time stamps of nanoseconds", c->name);
    if (filter && pcap_compile(c->pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
        return err_set(e, EINVAL, "filter '%s': %s", filter, pcap_geterr(c->pcap));
    if (filter) {
        status = pcap_setfilter(c->pcap, &program);
        pcap_freecode(&program);
        if (status < 0)
            return err_set(e, EIO, "filter '%s': %s", filter, pcap_geterr(c->pcap));
    }
    if (pcap_setnonblock(c->pcap, 1, why) < 0)
        return err_set(e, EIO, "interface '%s': %s", c->name, why);
    return 0;
}

int net_pcap_open_interface(struct net_pcap **out, const char *interface, const char *filter, struct err *e)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    struct net_pcap *c = new_capture(interface, e);
    if (!c)
        return -ENOMEM;
    c->pcap = pcap_create(interface, why);
    int r = c->pcap ? set_up(c, filter, e)
                    : err_set(e, EIO, "cannot record interface '%s': %s", interface, why);
    if (r < 0) {
        net_pcap_close(c);
        return r;
    }
    return finish_open(c, out, e);
}

void net_pcap_close(struct net_pcap *c)
{
    if (!c)
        return;
    if (c->pcap)
        pcap_close(c->pcap);
    free(c->name);
    free(c);
}

int net_pcap_link(const struct net_pcap *c)
{
    return c->link;
}

/* libpcap has one status for all, and other words where an interface is gone (pcap-linux.c, from 1.10 on). */
static int code_of(pcap_t *pcap)
{
    if (pcap_file(pcap))
        return EBADMSG;
    return strcmp(pcap_geterr(pcap), "The interface disappeared") == 0 ? ENODEV : EIO;
}

int net_pcap_next(struct net_pcap *c, struct net_frame *f, struct err *e)
{
    struct pcap_pkthdr *h;
    int status = pcap_next_ex(c->pcap, &h, &f->data);
    if (status == 0 || status == PCAP_ERROR_BREAK)
        return 0;
    if (status < 0)
        return err_set(e, code_of(c->pcap), "'%s': %s", c->name, pcap_geterr(c->pcap));
    /* With nanoseconds asked for, tv_usec holds these (pcap_set_tstamp_precision(3)). */
    if (h->ts.tv_sec < 0 || h->ts.tv_sec > SECONDS_MAX || h->ts.tv_usec < 0 ||
            h->ts.tv_usec >= (long)NS_PER_S)
        return err_set(e, EBADMSG, "'%s': a time stamp of %lld s is out of bounds", c->name,
                (long long)h->ts.tv_sec);
    f->unix_ns = (uint64_t)h->ts.tv_sec * NS_PER_S + (uint64_t)h->ts.tv_usec;
    f->captured = h->caplen;
    f->wire_bytes = h->len;
    return 1;
}

int net_pcap_fd(const struct net_pcap *c)
{
    return pcap_get_selectable_fd(c->pcap);
}

uint64_t net_pcap_dropped(struct net_pcap *c)
{
    struct pcap_stat s;
    if (pcap_stats(c->pcap, &s) == 0) {
        c->dropped += s.ps_drop - c->dropped_last; /* of 32 bits */
        c->dropped_last = s.ps_drop;
    }
    return c->dropped;
}
