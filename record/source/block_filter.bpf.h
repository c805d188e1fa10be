/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whose I/O is taken, part of the programs of block.bpf.c. An I/O passes where any of what was asked for
 * holds:
 * - its cgroup: the one that the kernel itself charges it to (bio->bi_blkg, Linux block/blk-cgroup.c
 *   bio_associate_blkg), or one above that. Writeback, journals and workers of loop devices act for others;
 *   the kernel has put the bio to these where it can.
 * - the cgroup of the task that queues it (cgroup v2), where the first cannot be known;
 * - the process that queues it.
 * What a kernel thread queues for nobody that is known passes none of them and is counted.
 *
 * The flags are read-only data: what is not asked for is no code once the program is loaded.
 */
#ifndef IOTAPE_BLOCK_FILTER_BPF_H
#define IOTAPE_BLOCK_FILTER_BPF_H

struct kernfs_node {
    __u64 id;
} KERNEL;

struct cgroup_subsys_state {
    struct cgroup *cgroup;
    struct cgroup_subsys_state *parent;
} KERNEL;

struct cgroup {
    struct cgroup_subsys_state self;
    struct kernfs_node *kn;
} KERNEL;

struct css_set {
    struct cgroup *dfl_cgrp;
} KERNEL;

struct blkcg {
    struct cgroup_subsys_state css;
} KERNEL;

struct blkcg_gq {
    struct blkcg *blkcg;
} KERNEL;

struct task_struct {
    unsigned int flags;
    int pid, tgid;
    __u64 start_time;
    struct css_set *cgroups;
} KERNEL;

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define LEVELS_MAX 16         /* of cgroups that are looked at, from the I/O's upwards */

const volatile bool by_process = false;
const volatile __u32 charged_count = 0, task_count = 0;
const volatile __u64 charged_id[BLOCK_CGROUPS_MAX] =
        {};                                           /* in the hierarchy of the io (v1: blkio) controller */
const volatile __u64 task_id[BLOCK_CGROUPS_MAX] = {}; /* in cgroup v2 */

/* Process ids, and the times on CLOCK_MONOTONIC when these processes began; 0: not known. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, BLOCK_PROCESSES_MAX);
    __type(key, __u32);
    __type(value, __u64);
} processes SEC(".maps");

/* Whether a cgroup or one above it is listed. */
static __always_inline bool is_within(
        struct cgroup_subsys_state *css, const volatile __u64 *ids, __u32 count, bool *is_root)
{
    for (int level = 0; level < LEVELS_MAX && css; level++) {
        __u64 id = css->cgroup->kn->id;
        for (__u32 i = 0; i < BLOCK_CGROUPS_MAX && i < count; i++)
            if (ids[i] == id)
                return true;
        css = css->parent;
        *is_root = !level && !css;
    }
    return false;
}

/* Whether the I/O, which the current task queues, is of those that are asked for. */
static __always_inline bool is_asked_for(struct bio *bio, __u32 tgid)
{
    if (!by_process && !charged_count && !task_count)
        return true;
    if (by_process && bpf_map_lookup_elem(&processes, &tgid))
        return true;
    struct task_struct *task = bpf_get_current_task_btf();
    bool unknown = true, root;
    if (charged_count && bpf_core_field_exists(bio->bi_blkg)) {
        struct blkcg_gq *charged = bio->bi_blkg;
        if (charged && is_within(&charged->blkcg->css, charged_id, charged_count, &unknown))
            return true;
    }
    if (task_count && is_within(&task->cgroups->dfl_cgrp->self, task_id, task_count, &root))
        return true;
    if (task->flags & PF_KTHREAD && (unknown || by_process || task_count))
        __sync_fetch_and_add(&counts.unattributed, 1);
    return false;
}

/* ---- following processes ---- */

/* Children of processes that are followed are followed, too. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
    __u32 from = parent->tgid, tgid = child->tgid;
    if (from == tgid || !bpf_map_lookup_elem(&processes, &from))
        return 0;
    __u64 began_ns = child->start_time;
    if (bpf_map_update_elem(&processes, &tgid, &began_ns, BPF_ANY))
        __sync_fetch_and_add(&counts.unfollowed, 1);
    return 0;
}

/* The last that is seen of a task: its number is another one's from now on, or has been for a moment. What a
 * process still writes while it exits has been queued. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
    __u32 tgid = task->tgid;
    if (task->pid != task->tgid)
        return 0;
    __u64 *began_ns = bpf_map_lookup_elem(&processes, &tgid);
    if (began_ns && (*began_ns == 0 || *began_ns == task->start_time))
        bpf_map_delete_elem(&processes, &tgid);
    return 0;
}

#endif
