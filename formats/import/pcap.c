/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Captures of packets by tcpdump, tshark and others: pcap and pcapng, as libpcap reads them. Several files
 * are one capture that was cut into parts (tcpdump -C, -G), whatever their order; they become one stream.
 * Stamps out of order are sorted within a window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/import.h"
#include "formats/import/sorter.h"
#include "formats/net_assemble.h"
#include "formats/net_pcap.h"

struct pcap_import {
    const struct import_options *opts;
    struct import_out *out;
    struct tape_writer *w; /* of `out` */
    struct sorter *sorter;
    struct net_assembler *assembler;
    uint64_t first_ns, last_ns; /* since 1970 */
    uint64_t end_ns;            /* of the part, since first_ns */
    uint64_t bad;
    uint32_t stream;
    bool begun;
};

static void import_release(struct pcap_import *im)
{
    sorter_close(im->sorter);
    net_assembler_close(im->assembler);
}

/* A file, and the time of its first packet. */
struct part {
    const char *path;
    uint64_t first_ns;
};

static int by_time(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

/* One that is empty or damaged from the beginning stands first, and is told of when it is read. */
static int part_begin(struct part *p, const char *path, struct err *e)
{
    struct net_pcap *c;
    struct net_frame f;
    *p = (struct part){path, 0};
    int r = net_pcap_open_file(&c, path, e);
    if (r < 0)
        return r;
    if (net_pcap_next(c, &f, NULL) == 1)
        p->first_ns = f.unix_ns;
    net_pcap_close(c);
    return 0;
}

static int packet_leave(struct pcap_import *im, struct err *e)
{
    struct net_packet *p = sorter_pop(im->sorter);
    if (!p)
        return 0;
    if (!im->begun) {
        im->begun = true;
        im->first_ns = im->last_ns = p->t_ns;
    }
    im->last_ns = p->t_ns;
    p->t_ns -= im->first_ns;
    if (p->t_ns < im->opts->part.from_ns || p->t_ns >= im->end_ns)
        return 1;
    p->t_ns -= im->opts->part.from_ns;
    int r = net_assembler_take(im->assembler, p, e);
    return r < 0 ? r : 1;
}

static int frame_take(struct pcap_import *im, int link, const struct net_frame *f, struct err *e)
{
    struct net_packet p;
    enum net_verdict v = net_packet_parse(link, f->data, f->captured, f->wire_bytes, &p);
    if (v != NET_PACKET_TAKEN) {
        net_assembler_skip(im->assembler, v);
        return 0;
    }
    p.t_ns = f->unix_ns;
    p.stream = im->stream;
    int r = sorter_full(im->sorter) ? packet_leave(im, e) : 0;
    return r < 0 ? r : sorter_push(im->sorter, p.t_ns, &p, e);
}

/* A frame that cannot be read leaves nothing to go on with, one that cannot be sorted does. */
static int part_read(struct pcap_import *im, const char *path, struct err *e)
{
    struct net_pcap *c;
    struct net_frame f;
    uint64_t number = 0;
    struct err bad = {0};
    int r = net_pcap_open_file(&c, path, e), more = 0;
    if (r < 0)
        return r;
    while (!r && (more = net_pcap_next(c, &f, &bad)) == 1) {
        number++;
        r = frame_take(im, net_pcap_link(c), &f, &bad);
        if (r < 0)
            err_prefix(&bad, "'%s': packet %llu", path, (unsigned long long)number);
        if (r == -EBADMSG && im->opts->skip_bad) {
            im->bad++;
            r = 0;
        }
    }
    net_pcap_close(c);
    r = r < 0 ? r : more;
    if (r == -EBADMSG && im->opts->skip_bad) {
        im->bad++;
        return 0;
    }
    if (r < 0 && e)
        *e = bad;
    return r < 0 ? r : 0;
}

static int import_begin(struct pcap_import *im, struct err *e)
{
    const struct net_assembler_options options = {.pause_ns = im->opts->pause_ns,
            .size_bucket_bytes = im->opts->size_bucket_bytes,
            .keep_names = im->opts->keep_names};
    struct tape_stream s = {.kind = TAPE_STREAM_NET, .name = (char *)"capture"};
    const struct import_part *part = &im->opts->part;
    if (!part->for_ns || __builtin_add_overflow(part->from_ns, part->for_ns, &im->end_ns))
        im->end_ns = UINT64_MAX;
    int r = import_out_stream(im->out, &s, &im->stream, e); /* for --only */
    if (!r)
        r = import_out_begin(im->out, &im->w, e);
    if (!r)
        r = tape_writer_stream(im->w, &s, &im->stream, e);
    if (!r)
        r = sorter_open(&im->sorter, sizeof(struct net_packet), import_window(im->opts), e);
    if (!r)
        r = net_assembler_open(&im->assembler, &options, im->w, e);
    return r;
}

static int import_finish(struct pcap_import *im, const char *path, struct err *e)
{
    int r;
    while ((r = packet_leave(im, e)) > 0)
        ;
    uint64_t length_ns = im->last_ns - im->first_ns, end_ns = length_ns < im->end_ns ? length_ns : im->end_ns;
    uint64_t from_ns = im->opts->part.from_ns;
    if (!r)
        r = net_assembler_finish(im->assembler, end_ns > from_ns ? end_ns - from_ns : 0, e);
    import_out_elapsed(im->out, length_ns);
    if (!r && !tape_writer_conversations(im->w))
        r = err_set(e, EINVAL, "'%s': there is no conversation of TCP or UDP in the capture", path);
    if (!r && im->bad)
        import_out_count(im->out, "bad", im->bad);
    if (!r && sorter_disorder(im->sorter))
        import_out_count(im->out, "out_of_order", sorter_disorder(im->sorter));
    return r;
}

static int pcap_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    CLEANUP(import_release) struct pcap_import im = {.opts = opts, .out = out};
    CLEANUP_FREE struct part *parts = calloc(count, sizeof *parts);
    int r = parts ? import_begin(&im, e) : err_sys(e, ENOMEM, "cannot import");
    for (size_t i = 0; !r && i < count; i++)
        r = part_begin(&parts[i], paths[i], e);
    if (!r)
        qsort(parts, count, sizeof *parts, by_time);
    for (size_t i = 0; !r && i < count; i++)
        r = part_read(&im, parts[i].path, e);
    if (!r)
        r = import_finish(&im, paths[0], e);
    return r;
}

/* pcap in both byte orders, with microseconds, nanoseconds, and as patched by Alexey Kuznetsov; pcapng. */
static bool pcap_probe(const uint8_t *head, size_t len)
{
    static const uint8_t magic[][4] = {{0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1},
            {0xa1, 0xb2, 0x3c, 0x4d}, {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0xcd, 0x34},
            {0x34, 0xcd, 0xb2, 0xa1}, {0x0a, 0x0d, 0x0d, 0x0a}};
    for (size_t i = 0; len >= 4 && i < sizeof magic / sizeof *magic; i++)
        if (memcmp(head, magic[i], 4) == 0)
            return true;
    return false;
}

const struct import_ops import_pcap = {
        .name = "pcap",
        .help = "captures of packets (tcpdump, tshark): pcap and pcapng, as socket conversations",
        .conversations = true,
        .probe = pcap_probe,
        .read = pcap_read,
};
