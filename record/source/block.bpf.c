// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Block I/O in the kernel: remembers each bio where it is queued on a recorded device, and sends one event
 * where it completes. Three raw tracepoints with BTF arguments, no probes of functions, so that it loads
 * under lockdown (integrity) and on kernels without kprobes. Written for Linux 5.15 to 6.18.
 *
 * What completes a bio (block/blk-mq.c blk_update_request, block/blk-flush.c, block/bio.c bio_endio):
 * - A request completes bytes of the bios in its list, in order; a bio is done when none are left. A split
 *   bio's first parts are clones, chained to it; their bytes count for it.
 * - A bio in the flush machinery (preflush, FUA without support) completes its data first, while the
 *   request's end_io is the machinery's, and ends later with a completion of no bytes.
 * - A bio of a bio-based device (zram, dm, md), or one that failed before it became a request, ends in
 *   block_bio_complete.
 */
#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "record/source/block_event.h"

char LICENSE[] SEC("license") = "GPL";

/* The parts of the kernel's structs that are read here; CO-RE finds their places. */
#define KERNEL __attribute__((preserve_access_index))

struct gendisk {
    int major, first_minor;
} KERNEL;

struct block_device {
    struct gendisk *bd_disk;
    __u32 bd_dev;
} KERNEL;

struct bvec_iter {
    __u64 bi_sector;
    __u32 bi_size;
} KERNEL;

struct bio {
    struct bio *bi_next;
    struct block_device *bi_bdev;
    __u32 bi_opf;
    __u8 bi_status;
    struct bvec_iter bi_iter;
    void *bi_end_io;
    void *bi_private;
} KERNEL;

struct request {
    struct bio *bio;
    void *end_io;
} KERNEL;

/* include/linux/blk_types.h; the same from 4.20 to 6.18. */
#define REQ_OP_MASK         0xff
#define REQ_OP_READ         0
#define REQ_OP_WRITE        1
#define REQ_OP_FLUSH        2
#define REQ_OP_DISCARD      3
#define REQ_OP_SECURE_ERASE 5
#define REQ_OP_WRITE_ZEROES 9
#define REQ_FUA             (1 << 17)
#define REQ_PREFLUSH        (1 << 18)
#define BLK_STS_AGAIN       12
#define MINORBITS           20

/* Bios of one request: 4 MiB in single sectors would be more; 4 MiB in pages are 1024. */
#define WALK_MAX 2048
/* A bio split on its way through stacked devices: clones of clones. */
#define CHAIN_MAX 4

const volatile __u32 target_count = 0;
const volatile __u32 target_dev[BLOCK_TARGETS_MAX] = {}; /* kernel's dev_t: major << 20 | minor */
const volatile bool keep_names = false;

struct block_counts counts = {};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __type(key, __u64);
    __type(value, struct block_open);
} in_flight SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 16 << 20);
} events SEC(".maps");

/* Names of processes, only with keep_names. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, __u32);
    __type(value, char[16]);
} names SEC(".maps");

/* A static function, found in kallsyms; where that is hidden, every parent counts as a chain's. */
extern const void bio_chain_endio __ksym __weak;

static __always_inline void count_lost(__u16 stream, __u16 also)
{
    if (stream < BLOCK_TARGETS_MAX)
        __sync_fetch_and_add(&counts.lost[stream], 1);
    if (also < BLOCK_TARGETS_MAX)
        __sync_fetch_and_add(&counts.lost[also], 1);
}

static __always_inline __u16 find_target(__u32 dev)
{
    for (__u32 i = 0; i < BLOCK_TARGETS_MAX && i < target_count; i++)
        if (target_dev[i] == dev)
            return i;
    return BLOCK_STREAM_NONE;
}

static __always_inline __u32 disk_dev(struct gendisk *disk)
{
    return (__u32)disk->major << MINORBITS | (__u32)disk->first_minor;
}

static __always_inline bool op_is_recorded(__u32 opf)
{
    __u32 op = opf & REQ_OP_MASK;
    return op <= REQ_OP_DISCARD || op == REQ_OP_SECURE_ERASE || op == REQ_OP_WRITE_ZEROES;
}

/* Sends the event. It must be in the ring before the bio leaves the map: user space looks into the map
 * first and then empties the ring, and would otherwise see the bio in neither. */
static __always_inline void send(__u64 bio, const struct block_open *o, __u64 latency_ns, __s32 error)
{
    struct block_event *ev = bpf_ringbuf_reserve(&events, sizeof *ev, 0);
    if (!ev) {
        count_lost(o->stream, o->also);
        return;
    }
    ev->bio = bio;
    ev->t_ns = o->t_ns;
    ev->sector = o->sector;
    ev->latency_ns = latency_ns;
    ev->len = o->len;
    ev->opf = o->opf;
    ev->tgid = o->tgid;
    ev->stream = o->stream;
    ev->also = o->also;
    ev->error = error;
    bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

static __always_inline void finish(__u64 bio, struct block_open *o, __u64 now_ns, __s32 error)
{
    if (o->error)
        error = o->error;
    if (error == BLK_STS_AGAIN)
        __sync_fetch_and_add(&counts.retried, 1);
    else
        send(bio, o, now_ns - o->t_ns, error);
    bpf_map_delete_elem(&in_flight, &bio);
}

static __noinline void remember_name(__u32 tgid)
{
    char name[16];
    if (bpf_map_lookup_elem(&names, &tgid))
        return;
    bpf_get_current_comm(name, sizeof name);
    bpf_map_update_elem(&names, &tgid, name, BPF_ANY);
}

/* The map refused a new bio: its address is there from one whose end was not seen, or the map is full. */
static __noinline void insert_again(__u64 bio, struct block_open *o)
{
    struct block_open *stale = bpf_map_lookup_elem(&in_flight, &bio);
    if (stale) {
        send(bio, stale, ~0ULL, 0);
        if (!bpf_map_update_elem(&in_flight, &bio, o, BPF_ANY))
            return;
    }
    count_lost(o->stream, o->also);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_queue, struct bio *bio)
{
    struct block_device *bdev = bio->bi_bdev;
    __u32 dev = bdev->bd_dev, whole = disk_dev(bdev->bd_disk);
    __u16 stream = find_target(dev), also = BLOCK_STREAM_NONE;
    if (dev != whole) {
        also = find_target(whole);
        if (stream == BLOCK_STREAM_NONE) {
            stream = also;
            also = BLOCK_STREAM_NONE;
        }
    }
    if (stream == BLOCK_STREAM_NONE)
        return 0;
    __u32 opf = bio->bi_opf;
    if (!op_is_recorded(opf)) {
        __sync_fetch_and_add(&counts.other_ops, 1);
        return 0;
    }
    __u64 key = (__u64)bio;
    struct block_open o = {.t_ns = bpf_ktime_get_ns(),
            .sector = bio->bi_iter.bi_sector,
            .len = bio->bi_iter.bi_size,
            .remaining = bio->bi_iter.bi_size,
            .opf = opf,
            .tgid = bpf_get_current_pid_tgid() >> 32,
            .stream = stream,
            .also = also};
    if (keep_names)
        remember_name(o.tgid);
    if (bpf_map_update_elem(&in_flight, &key, &o, BPF_NOEXIST))
        insert_again(key, &o);
    return 0;
}

/* The bio that `bio` is a part of, and its entry. */
static __noinline struct block_open *find_parent(__u64 *key)
{
    struct bio *part = (struct bio *)*key;
    for (int i = 0; i < CHAIN_MAX; i++) {
        void *end_io = BPF_CORE_READ(part, bi_end_io);
        if (&bio_chain_endio && end_io != &bio_chain_endio)
            return NULL;
        part = BPF_CORE_READ(part, bi_private);
        *key = (__u64)part;
        struct block_open *o = bpf_map_lookup_elem(&in_flight, key);
        if (o)
            return o;
    }
    return NULL;
}

/* `bytes` of the `size` that were left of a bio in a request completed. A global function, since the verifier
 * looks at those once, not once for each turn of the loop that calls it. */
__noinline int complete_part(__u64 *address, __u32 size, __u32 bytes, __s32 error, __u32 in_machinery)
{
    if (!address)
        return 0;
    __u64 key = *address;
    bool part_done = bytes == size;
    struct block_open *o = bpf_map_lookup_elem(&in_flight, &key);
    if (!o) {
        o = find_parent(&key);
        if (!o) {
            __sync_fetch_and_add(&counts.unmatched, 1);
            return 0;
        }
    }
    bool flush_data = in_machinery && (o->opf & (REQ_PREFLUSH | REQ_FUA));
    if (part_done && size == o->len && !flush_data) { /* most: neither split nor flushed */
        finish(key, o, bpf_ktime_get_ns(), error);
        return 0;
    }
    if (error && !o->error)
        o->error = error;
    if (flush_data && part_done)
        __sync_fetch_and_add(&o->flushing, 1);
    __u32 left = bytes ? __sync_fetch_and_sub(&o->remaining, bytes) - bytes : o->remaining;
    if (flush_data || !part_done)
        return 0;
    __u32 flushing = 0;
    if (!bytes && o->flushing) /* the true end of a part whose data came before */
        flushing = __sync_fetch_and_sub(&o->flushing, 1) - 1;
    else
        flushing = o->flushing;
    if (!left && !flushing)
        finish(key, o, bpf_ktime_get_ns(), error);
    return 0;
}

/* `error` is a blk_status_t; up to 5.15 a negative errno. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_request, struct request *rq, int error, unsigned int nr_bytes)
{
    struct bio *bio = rq->bio;
    if (!bio)
        return 0;
    __u32 in_machinery = rq->end_io != NULL;
    for (int i = 0; i < WALK_MAX; i++) {
        __u32 size = bio->bi_iter.bi_size, bytes = size < nr_bytes ? size : nr_bytes;
        __u64 key = (__u64)bio;
        complete_part(&key, size, bytes, error, in_machinery);
        nr_bytes -= bytes;
        bio = bio->bi_next;
        if (!nr_bytes || !bio)
            return 0;
    }
    __sync_fetch_and_add(&counts.unwalked, 1);
    return 0;
}

SEC("tp_btf/block_bio_complete")
int BPF_PROG(on_bio, void *queue, struct bio *bio)
{
    __u64 key = (__u64)bio;
    struct block_open *o = bpf_map_lookup_elem(&in_flight, &key);
    if (o)
        finish(key, o, bpf_ktime_get_ns(), bio->bi_status);
    return 0;
}
