/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Capture by eBPF: loads the programs of block.bpf.c, reads their ring buffer and their map of open I/Os.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/host_sys.h"
#include "record/source.h"
#include "record/source/block_fields.h"
#include "record/source/bpf_filter.h"

#include "record/source/block_event.h" /* the skeleton has its structs */
#include "record/ring.h"

#include "record/source/block.skel.h"

#define RING_MIN 16384
#define RING_MAX (1 << 24)
#define OPEN_MIN 1024

struct source {
    struct block_bpf *skel;
    struct ring rings[BLOCK_RINGS_MAX];
    const struct block_open *open;                /* the table, mapped */
    const struct block_name *names;               /* likewise */
    uint32_t ring_count, ring_events, open_count; /* ring_events: of all rings together */
    const struct source_target *targets;
    size_t target_count;
    uint64_t start_ns;
    int fdinfo[3]; /* what the kernel says of the programs on_queue, on_request, on_bio; -1: nothing */
};

static int be_silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
    (void)level;
    (void)fmt;
    (void)args;
    return 0;
}

static int be_verbose(enum libbpf_print_level level, const char *fmt, va_list args)
{
    (void)level;
    return vfprintf(stderr, fmt, args);
}

/* Linux: include/linux/kdev_t.h. Differs from user space's encoding. */
static uint32_t kernel_dev(dev_t dev)
{
    return (uint32_t)major(dev) << 20 | (uint32_t)minor(dev);
}

/* Why a kernel does not let us, in one line. */
static int explain(struct err *e, int code, const char *what)
{
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
        return err_set(e, ENOENT,
                "this kernel has no type information (/sys/kernel/btf/vmlinux): recording needs one built "
                "with "
                "CONFIG_DEBUG_INFO_BTF, as the distributions' kernels since 2021 are; without it: --source "
                "tracefs");
    code = code < 0 ? -code : code;
    if (code == EPERM || code == EACCES)
        return err_set(e, code,
                "no permission to %s: run as root, or with the capabilities CAP_BPF and CAP_PERFMON (in a "
                "container also CAP_SYS_RESOURCE where memory may not be locked)",
                what);
    if (code == ENOMEM)
        return err_set(e, code,
                "cannot %s: the limit on locked memory or the cgroup's memory does not allow it (ulimit -l)",
                what);
    if (code == EINVAL || code == EFAULT || code == E2BIG)
        return err_set(
                e, code, "cannot %s: this kernel refuses the programs (--verbose shows its reasons)", what);
    return err_sys(e, code, "cannot %s", what);
}

static void configure_targets(struct block_bpf *skel, const struct source_config *config)
{
    bool any_partition = false;
    skel->rodata->target_count = (uint32_t)config->target_count;
    skel->rodata->keep_names = config->keep_names;
    for (size_t i = 0; i < config->target_count; i++) {
        const struct source_target *t = &config->targets[i];
        skel->rodata->target_dev[i] = kernel_dev(t->dev);
        skel->rodata->any_stacked |= t->stacked;
        bool partition = sys_device_is_partition(t->dev);
        any_partition |= partition;
        skel->rodata->any_disk |= !partition;
    }
    skel->rodata->nested = any_partition && skel->rodata->any_disk;
    if (config->growing)
        skel->rodata->growing = skel->rodata->any_disk = skel->rodata->nested = skel->rodata->any_stacked =
                true;
    if (!config->keep_names)
        bpf_map__set_max_entries(skel->maps.names, 1);
}

/* The sizes of table and rings: powers of two. As always the rings take 16 MiB: half a second of 500,000 I/Os
 * a second. */
static void configure_sizes(struct source *s, uint32_t open_max, uint64_t memory_bytes)
{
    uint64_t events = (memory_bytes ? memory_bytes : SOURCE_MEMORY_BYTES) / 6 / sizeof(struct block_event);
    s->ring_events = RING_MIN;
    while (s->ring_events < RING_MAX && s->ring_events * 2 <= events)
        s->ring_events *= 2;
    int cpus = libbpf_num_possible_cpus();
    s->ring_count = 1;
    while (s->ring_count < BLOCK_RINGS_MAX && (int)s->ring_count < cpus)
        s->ring_count *= 2;
    s->open_count = OPEN_MIN;
    while (s->open_count < open_max)
        s->open_count *= 2;
    s->skel->rodata->ring_count = s->ring_count;
    s->skel->rodata->ring_events = s->ring_events / s->ring_count;
    s->skel->rodata->open_mask = s->open_count - 1;
    bpf_map__set_max_entries(s->skel->maps.rings, s->ring_events);
    bpf_map__set_max_entries(s->skel->maps.open_bios, s->open_count);
}

static size_t array_bytes(const struct bpf_map *map)
{
    return (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
}

static const void *map_array(const struct bpf_map *map)
{
    const void *mapped =
            mmap(NULL, array_bytes(map), PROT_READ, MAP_SHARED | MAP_POPULATE, bpf_map__fd(map), 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static void unmap_array(const struct bpf_map *map, const void *mapped)
{
    if (mapped)
        munmap((void *)mapped, array_bytes(map));
}

/* Sees what the programs write without asking the kernel each time. */
static int map_memory(struct source *s, struct err *e)
{
    s->open = map_array(s->skel->maps.open_bios);
    s->names = s->open ? map_array(s->skel->maps.names) : NULL;
    const struct block_event *events = s->names ? map_array(s->skel->maps.rings) : NULL;
    if (!events)
        return err_sys(e, errno, "cannot map the programs' memory");
    for (uint32_t i = 0; i < s->ring_count; i++)
        s->rings[i] = (struct ring){events + (size_t)i * (s->ring_events / s->ring_count),
                &s->skel->bss->ends[i], s->ring_events / s->ring_count};
    return 0;
}

/* Completions first, so that no arrival is seen whose end is not. */
static int attach(struct source *s)
{
    struct block_bpf *skel = s->skel;
    skel->links.on_request = bpf_program__attach(skel->progs.on_request);
    if (!skel->links.on_request)
        return -errno;
    skel->links.on_bio = bpf_program__attach(skel->progs.on_bio);
    if (!skel->links.on_bio)
        return -errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    s->start_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    skel->links.on_queue = bpf_program__attach(skel->progs.on_queue);
    return skel->links.on_queue ? 0 : -errno;
}

/* Opened now since it takes the right to look at this process, which is given up later. One that has gained
 * capabilities by its file belongs to root in /proc, where it does not say otherwise (prctl(2)). */
static void open_fdinfo(struct source *s)
{
    const struct bpf_program *const programs[] = {
            s->skel->progs.on_queue, s->skel->progs.on_request, s->skel->progs.on_bio};
    int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        char path[48];
        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", bpf_program__fd(programs[i]));
        s->fdinfo[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (dumpable == 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void bpf_close(struct source *s)
{
    if (!s)
        return;
    for (int i = 0; i < 3; i++)
        if (s->fdinfo[i] >= 0)
            close(s->fdinfo[i]);
    if (s->skel) {
        unmap_array(s->skel->maps.open_bios, s->open);
        unmap_array(s->skel->maps.names, s->names);
        unmap_array(s->skel->maps.rings, s->rings[0].events);
    }
    block_bpf__destroy(s->skel);
    free(s);
}

static void cleanup_source(struct source **s)
{
    bpf_close(*s);
}

static int bpf_open(
        struct source **out, const struct source_config *config, uint64_t *start_ns, struct err *e)
{
    if (config->target_count > BLOCK_TARGETS_MAX)
        return err_set(e, E2BIG, "more than %d disks in one recording", BLOCK_TARGETS_MAX);
    libbpf_set_print(config->verbose ? be_verbose : be_silent);
    CLEANUP(cleanup_source) struct source *s = calloc(1, sizeof *s);
    if (!s)
        return err_sys(e, ENOMEM, "cannot begin to record");
    s->fdinfo[0] = s->fdinfo[1] = s->fdinfo[2] = -1;
    s->targets = config->targets;
    s->target_count = config->target_count;
    s->skel = block_bpf__open();
    if (!s->skel)
        return explain(e, errno, "prepare the eBPF programs");
    configure_targets(s->skel, config);
    configure_sizes(s, config->open_max, config->memory_bytes);
    bpf_filter_configure(s->skel, config->filter);
    int status = block_bpf__load(s->skel);
    if (status < 0)
        return explain(e, status, "load eBPF programs into the kernel");
    open_fdinfo(s);
    status = map_memory(s, e);
    if (status == 0)
        status = bpf_filter_attach(s->skel, config->filter, e);
    if (status < 0)
        return status;
    status = attach(s);
    if (status < 0)
        return explain(e, status, "attach to the kernel's block tracepoints");
    *start_ns = s->start_ns;
    *out = take_ptr(s);
    return 0;
}

struct delivery {
    struct source *s;
    const struct source_sink *sink;
};

/* Delivers one I/O to its stream, and to the second one that it may belong to. */
static int deliver(const struct delivery *d, struct captured *c, uint64_t sector, uint16_t stream,
        uint16_t also, struct err *e)
{
    uint16_t streams[2] = {stream, also};
    for (int i = 0; i < 2; i++) {
        if (streams[i] >= d->s->target_count)
            continue;
        c->r.stream = streams[i];
        c->r.offset_bytes = sector * 512 - d->s->targets[streams[i]].start_bytes;
        if (c->r.op == BLOCK_FLUSH)
            c->r.offset_bytes = 0;
        int status = d->sink->take(d->sink->self, c, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static int take_event(void *self, const struct block_event *ev, struct err *e)
{
    struct delivery *d = self;
    struct captured c = {.id = ev->bio,
            .r = {.t_ns = ev->t_ns - d->s->start_ns,
                    .len_bytes = ev->len,
                    .latency_ns = ev->latency_ns == UINT64_MAX ? TAPE_UNKNOWN : ev->latency_ns,
                    .issuer = ev->tgid,
                    .flags = block_flags_of(ev->opf),
                    .error = block_errno_of(ev->error),
                    .op = block_op_of(ev->opf, ev->len)}};
    return deliver(d, &c, ev->sector, ev->stream, ev->also, e);
}

static int bpf_drain(struct source *s, const struct source_sink *sink, struct err *e)
{
    struct delivery d = {s, sink};
    int all = 1;
    for (uint32_t i = 0; i < s->ring_count; i++) {
        int status = ring_drain(&s->rings[i], take_event, &d, e);
        if (status < 0)
            return status;
        all &= status;
    }
    return all;
}

static int take_open(const struct delivery *d, const struct block_open *o, struct err *e)
{
    struct captured c = {.id = o->bio,
            .r = {.t_ns = o->t_ns - d->s->start_ns,
                    .len_bytes = o->len,
                    .latency_ns = TAPE_UNKNOWN,
                    .issuer = o->tgid,
                    .flags = block_flags_of(o->opf),
                    .op = block_op_of(o->opf, o->len)}};
    return deliver(d, &c, o->sector, o->stream, o->also, e);
}

/* A copy of an entry as it was while one bio was in it: false where it is free, or being filled or emptied.
 */
static bool copy_open(const struct block_open *entry, struct block_open *copy)
{
    if (!__atomic_load_n(&entry->bio, __ATOMIC_ACQUIRE))
        return false;
    uint64_t t_ns = __atomic_load_n(&entry->t_ns, __ATOMIC_ACQUIRE);
    *copy = *entry;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy->t_ns = t_ns;
    return t_ns && __atomic_load_n(&entry->t_ns, __ATOMIC_RELAXED) == t_ns;
}

static int bpf_in_flight(struct source *s, const struct source_sink *sink, struct err *e)
{
    struct delivery d = {s, sink};
    for (uint32_t i = 0; i < s->open_count; i++) {
        struct block_open copy;
        if (!copy_open(&s->open[i], &copy))
            continue;
        int status = take_open(&d, &copy, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static int bpf_join(struct source *s, const struct source_target *target, struct err *e)
{
    struct block_joined *j = &s->skel->bss->joined;
    if (!s->skel->rodata->growing || s->target_count == BLOCK_TARGETS_MAX)
        return err_set(e, ENOSPC, "no more disks can be added to this recording");
    j->dev[j->count] = kernel_dev(target->dev);
    s->target_count++;
    __atomic_store_n(&j->count, j->count + 1, __ATOMIC_RELEASE);
    return 0;
}

static void bpf_stop(struct source *s)
{
    bpf_link__destroy(s->skel->links.on_queue);
    s->skel->links.on_queue = NULL;
}

static bool bpf_process_name(struct source *s, uint32_t pid, char *name)
{
    const struct block_name *n = &s->names[pid & (BLOCK_NAMES - 1)];
    if (!pid || __atomic_load_n(&n->tgid, __ATOMIC_ACQUIRE) != pid)
        return false;
    memcpy(name, n->comm, sizeof n->comm);
    name[sizeof n->comm - 1] = 0;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&n->tgid, __ATOMIC_RELAXED) == pid;
}

static uint64_t bpf_lost(const struct source *s, size_t stream)
{
    return __atomic_load_n(&s->skel->bss->counts.lost[stream], __ATOMIC_RELAXED);
}

/* The kernel does not run a program inside itself: where an interrupt comes while it runs (Linux 5.12 and
 * later, kernel/trace/bpf_trace.c). */
static uint64_t misses(int fdinfo)
{
    char text[1024], *at;
    ssize_t got = fdinfo < 0 ? -1 : pread(fdinfo, text, sizeof text - 1, 0);
    if (got <= 0)
        return 0;
    text[got] = 0;
    at = strstr(text, "recursion_misses:");
    return at ? strtoull(at + strlen("recursion_misses:"), NULL, 10) : 0;
}

static struct source_counts bpf_counts(const struct source *s)
{
    const struct block_counts *c = &s->skel->bss->counts;
    return (struct source_counts){c->unmatched, c->other_ops, c->retried, c->unwalked, misses(s->fdinfo[0]),
            misses(s->fdinfo[1]) + misses(s->fdinfo[2]), c->unattributed, c->unfollowed};
}

const struct source_ops source_bpf = {
        .name = "bpf",
        .help = "eBPF programs on the kernel's block tracepoints",
        .open = bpf_open,
        .drain = bpf_drain,
        .in_flight = bpf_in_flight,
        .join = bpf_join,
        .stop = bpf_stop,
        .process_name = bpf_process_name,
        .lost = bpf_lost,
        .counts = bpf_counts,
        .close = bpf_close,
};
