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
    struct blkcg_gq *bi_blkg;
} KERNEL;

struct request {
    struct bio *bio;
    void *end_io;
} KERNEL;

/* include/linux/blk_types.h; the same from 4.20 to 6.18. */
#define REQ_OP_MASK         0xff
#define REQ_OP_DISCARD      3 /* and below: read, write, flush */
#define REQ_OP_SECURE_ERASE 5
#define REQ_OP_WRITE_ZEROES 9
#define REQ_FUA             (1 << 17)
#define REQ_PREFLUSH        (1 << 18)
#define BLK_STS_AGAIN       12
#define MINORBITS           20 /* include/linux/kdev_t.h */

/* Bios of one request that are looked at: 8 MiB in pages. */
#define WALK_MAX 2048
/* A bio split on its way through stacked devices: clones of clones. */
#define CHAIN_MAX 4

const volatile __u32 target_count = 0;
const volatile __u32 target_dev[BLOCK_TARGETS_MAX] = {}; /* kernel's dev_t: major << 20 | minor */
const volatile bool any_disk = false; /* one of them is a whole disk, which partitions' I/O belongs to, too */
const volatile bool nested = false;   /* a disk and a partition of it are recorded */
const volatile bool any_stacked = false; /* bios of one complete in requests of other devices */
const volatile bool growing = false;     /* targets may be added while they run; the two above are true */
const volatile bool keep_names = false;
const volatile __u32 open_mask = 0;                   /* entries in the table less one */
const volatile __u32 ring_count = 1, ring_events = 0; /* powers of two; events of each ring */

const volatile bool any_filter = false; /* others' I/O passes by: their completions have no arrival here */

struct block_counts counts = {};
struct block_joined joined = {};
struct block_ends ends[BLOCK_RINGS_MAX] = {};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct block_open);
} open_bios SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct block_event);
} rings SEC(".maps");

/* Names of processes, only with keep_names: each where its number says. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, BLOCK_NAMES);
    __type(key, __u32);
    __type(value, struct block_name);
} names SEC(".maps");

/* A static function, found in kallsyms; where that is hidden, every parent counts as a chain's. */
extern const void bio_chain_endio __ksym __weak;

/* Stores a value that says that all stores before it are done. x86 keeps the order of stores, and there a
 * locked instruction would wait for lines of the rings to come from memory. */
#ifdef __TARGET_ARCH_x86
#define publish(place, value)                                                                                \
    do {                                                                                                     \
        barrier();                                                                                           \
        *(volatile __typeof__(*(place)) *)(place) = (value);                                                 \
        barrier();                                                                                           \
    } while (0)
#else
#define publish(place, value) ((void)__sync_lock_test_and_set(place, value)) /* a full barrier in eBPF */
#endif

#include "record/source/block_filter.bpf.h"

/* The compiler may compare a copy of an index, of which the verifier then knows the bound: not of the index. */
#define one_copy(index) asm volatile("" : "+r"(index))

static __always_inline void count_lost(__u16 stream, __u16 also)
{
    __u64 one = stream, other = also;
    one_copy(one);
    one_copy(other);
    if (one < BLOCK_TARGETS_MAX)
        __sync_fetch_and_add(&counts.lost[one], 1);
    if (other < BLOCK_TARGETS_MAX)
        __sync_fetch_and_add(&counts.lost[other], 1);
}

/* ---- which device ---- */

/* A global function, since the verifier looks at those once, not for each path that calls it. */
__noinline __u32 find_joined(__u32 dev)
{
    for (__u32 i = 0; i < BLOCK_TARGETS_MAX && i < joined.count; i++)
        if (joined.dev[i] == dev)
            return target_count + i;
    return BLOCK_STREAM_NONE;
}

static __always_inline __u16 find_target(__u32 dev)
{
    for (__u32 i = 0; i < BLOCK_TARGETS_MAX && i < target_count; i++)
        if (target_dev[i] == dev)
            return i;
    return growing ? (__u16)find_joined(dev) : BLOCK_STREAM_NONE;
}

/* The streams that I/O to this device belongs to. */
static __always_inline __u16 find_streams(struct block_device *bdev, __u16 *also)
{
    __u32 dev = bdev->bd_dev;
    __u16 stream = find_target(dev);
    *also = BLOCK_STREAM_NONE;
    if (!any_disk || (stream != BLOCK_STREAM_NONE && !nested))
        return stream;
    struct gendisk *disk = bdev->bd_disk;
    __u32 whole = (__u32)disk->major << MINORBITS | (__u32)disk->first_minor;
    if (whole == dev)
        return stream;
    if (stream == BLOCK_STREAM_NONE)
        return find_target(whole);
    *also = find_target(whole);
    return stream;
}

/* ---- the rings ---- */

/* Sends the event. It must be there before the bio leaves the table: user space looks into the table
 * first and then empties the rings, and would otherwise see the bio in neither. */
static __always_inline void send(const struct block_open *o, __u64 latency_ns, __s32 error)
{
    __u32 ring = bpf_get_smp_processor_id() & (ring_count - 1) & (BLOCK_RINGS_MAX - 1);
    struct block_ends *end = &ends[ring];
    if (end->head - *(volatile __u64 *)&end->tail + BLOCK_RING_SLACK > ring_events) {
        count_lost(o->stream, o->also);
        return;
    }
    __u64 position = __sync_fetch_and_add(&end->head, 1);
    __u32 place = ring * ring_events + (position & (ring_events - 1));
    struct block_event *ev = bpf_map_lookup_elem(&rings, &place);
    if (!ev)
        return;
    ev->bio = o->bio;
    ev->t_ns = o->t_ns;
    ev->sector = o->sector;
    ev->latency_ns = latency_ns;
    ev->len = o->len;
    ev->opf = o->opf;
    ev->tgid = o->tgid;
    ev->stream = o->stream;
    ev->also = o->also;
    ev->error = error;
    publish(&ev->turn, position + 1);
}

/* ---- the table ---- */

/* A pointer's value as a number, which the verifier lets us compute with; a global function gives it that. */
__noinline __u64 as_number(__u64 *pointer)
{
    return pointer ? *pointer : 0;
}

/* Where in the table a bio is looked for first. Bios that are neighbours in memory have neighbouring entries,
 * so that few pages of the table are in use; what costs here are misses of cache and TLB. */
static __always_inline __u32 home_of(__u64 bio)
{
    __u32 region = (bio >> 15) * 0x9e3779b97f4a7c15ULL >> 40;
    return (region << 8 | (bio >> 7 & 255)) & open_mask;
}

static __always_inline struct block_open *entry_at(__u32 place)
{
    return bpf_map_lookup_elem(&open_bios, &place); /* which the verifier turns into a few instructions */
}

/* Where it is looked for next. Neighbours crowd: a page of bios of 192 bytes fills most of its eight ways,
 * and other memory may share them. */
static __always_inline __u32 second_home_of(__u64 bio)
{
    return (bio >> 7) * 0x9e3779b97f4a7c15ULL >> 40 & open_mask;
}

static __always_inline struct block_open *find_near(__u32 home, __u64 bio)
{
    for (__u32 i = 0; i < BLOCK_WAYS; i++) {
        struct block_open *o = entry_at(home ^ i);
        if (o && o->bio == bio)
            return o;
    }
    return NULL;
}

static __noinline struct block_open *find_far(__u64 bio)
{
    return find_near(second_home_of(bio), bio);
}

/* The entry of a bio, NULL where it has none. */
static __always_inline struct block_open *find_open(__u64 bio)
{
    struct block_open *o = find_near(home_of(bio), bio);
    return o ? o : find_far(bio);
}

static __always_inline void leave(struct block_open *o)
{
    o->t_ns = 0;
    publish(&o->bio, 0); /* after this the entry is another one's */
}

static __always_inline void finish(struct block_open *o, __s32 error)
{
    if (o->error)
        error = o->error;
    if (error == BLK_STS_AGAIN)
        __sync_fetch_and_add(&counts.retried, 1);
    else
        send(o, bpf_ktime_get_ns() - o->t_ns, error);
    leave(o);
}

/* A free entry for a bio near `home`, claimed; NULL where there is none. Where the bio has one already, its
 * end was not seen. */
static __always_inline struct block_open *claim_near(__u32 home, __u64 bio)
{
    for (__u32 i = 0; i < BLOCK_WAYS; i++) {
        struct block_open *o = entry_at(home ^ i);
        if (!o)
            return NULL;
        if (o->bio == bio) {
            send(o, ~0ULL, 0);
            leave(o);
        }
        if (o->bio == 0 && __sync_val_compare_and_swap(&o->bio, 0, bio) == 0)
            return o;
    }
    return NULL;
}

static __noinline struct block_open *claim_far(__u64 bio)
{
    return claim_near(second_home_of(bio), bio);
}

static __always_inline struct block_open *claim(__u64 bio)
{
    struct block_open *o = claim_near(home_of(bio), bio);
    return o ? o : claim_far(bio);
}

static __noinline void remember_name(__u32 tgid)
{
    __u32 place = tgid & (BLOCK_NAMES - 1);
    struct block_name *n = bpf_map_lookup_elem(&names, &place);
    if (!n || n->tgid == tgid)
        return;
    publish(&n->tgid, 0);
    bpf_get_current_comm(n->comm, sizeof n->comm);
    publish(&n->tgid, tgid);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_queue, struct bio *bio)
{
    __u16 also, stream = find_streams(bio->bi_bdev, &also);
    if (stream == BLOCK_STREAM_NONE)
        return 0;
    __u32 opf = bio->bi_opf, op = opf & REQ_OP_MASK;
    if (op > REQ_OP_DISCARD && op != REQ_OP_SECURE_ERASE && op != REQ_OP_WRITE_ZEROES) {
        __sync_fetch_and_add(&counts.other_ops, 1);
        return 0;
    }
    __u32 tgid = bpf_get_current_pid_tgid() >> 32;
    if (!is_asked_for(bio, tgid))
        return 0;
    __u64 now_ns = bpf_ktime_get_ns(), address = (__u64)bio;
    struct block_open *o = claim(as_number(&address));
    if (!o) {
        count_lost(stream, also);
        return 0;
    }
    o->sector = bio->bi_iter.bi_sector;
    o->len = o->remaining = bio->bi_iter.bi_size;
    o->opf = opf;
    o->tgid = tgid;
    o->stream = stream;
    o->also = also;
    o->flushing = 0;
    o->error = 0;
    publish(&o->t_ns, now_ns); /* now it counts */
    if (keep_names)
        remember_name(o->tgid);
    return 0;
}

/* ---- completion ---- */

/* The entry of the bio that `bio` is a part of. */
static __noinline struct block_open *find_parent(__u64 bio)
{
    struct bio *part = (struct bio *)bio;
    for (int i = 0; i < CHAIN_MAX; i++) {
        void *end_io = BPF_CORE_READ(part, bi_end_io);
        if (&bio_chain_endio && end_io != &bio_chain_endio)
            return NULL;
        part = BPF_CORE_READ(part, bi_private);
        struct block_open *o = find_open((__u64)part);
        if (o)
            return o;
    }
    return NULL;
}

/* A part of a bio, or a bio whose data and end come apart. */
static __always_inline void complete_part(
        struct block_open *o, bool part_done, __u32 bytes, __s32 error, bool flush_data)
{
    if (error && !o->error)
        o->error = error;
    if (flush_data && part_done)
        __sync_fetch_and_add(&o->flushing, 1);
    __u32 left = bytes ? __sync_fetch_and_sub(&o->remaining, bytes) - bytes : o->remaining;
    if (flush_data || !part_done)
        return;
    __u32 flushing = o->flushing;
    if (!bytes && flushing) /* the true end of a part whose data came before */
        flushing = __sync_fetch_and_sub(&o->flushing, 1) - 1;
    if (!left && !flushing)
        finish(o, error);
}

/* `bytes` of the `size` that were left of a bio in a request completed. A global function, since the verifier
 * looks at those once, not once for each turn of the loop that calls it. */
__noinline int complete(__u64 *address, __u32 size, __u32 bytes, __s32 error, __u32 in_machinery)
{
    if (!address)
        return 0;
    struct block_open *o = find_open(*address);
    if (!o) {
        o = find_parent(*address);
        if (!o) {
            if (!any_filter)
                __sync_fetch_and_add(&counts.unmatched, 1);
            return 0;
        }
    }
    bool flush_data = in_machinery && (o->opf & (REQ_PREFLUSH | REQ_FUA));
    if (bytes == size && size == o->len && !flush_data) /* most: neither split nor flushed */
        finish(o, error);
    else
        complete_part(o, bytes == size, bytes, error, flush_data);
    return 0;
}

/* `error` is a blk_status_t; up to 5.15 a negative errno. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_request, struct request *rq, int error, unsigned int nr_bytes)
{
    struct bio *bio = rq->bio;
    if (!bio)
        return 0;
    __u16 also;
    if (!any_stacked && find_streams(bio->bi_bdev, &also) == BLOCK_STREAM_NONE)
        return 0;
    __u32 in_machinery = rq->end_io != NULL;
    for (int i = 0; i < WALK_MAX; i++) {
        __u32 size = bio->bi_iter.bi_size, bytes = size < nr_bytes ? size : nr_bytes;
        __u64 address = (__u64)bio;
        complete(&address, size, bytes, error, in_machinery);
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
    __u16 also;
    if (!any_stacked && find_streams(bio->bi_bdev, &also) == BLOCK_STREAM_NONE)
        return 0;
    __u64 address = (__u64)bio;
    struct block_open *o = find_open(as_number(&address));
    if (o)
        finish(o, bio->bi_status);
    return 0;
}
