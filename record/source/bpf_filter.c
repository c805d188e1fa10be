/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/source/bpf_filter.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "record/processes.h"
#include "record/source/block_event.h"

#include "record/source/block.skel.h"

_Static_assert(SOURCE_CGROUPS_MAX == BLOCK_CGROUPS_MAX, "what is asked for fits");

void bpf_filter_configure(struct block_bpf *skel, const struct source_filter *f)
{
    bool by_process = f && f->process_count;
    bpf_program__set_autoload(skel->progs.on_fork, by_process && f->children);
    bpf_program__set_autoload(skel->progs.on_free, by_process);
    if (!by_process)
        bpf_map__set_max_entries(skel->maps.processes, 1);
    if (!f)
        return;
    skel->rodata->by_process = by_process;
    skel->rodata->charged_count = (uint32_t)f->charged_count;
    skel->rodata->task_count = (uint32_t)f->task_count;
    memcpy((void *)skel->rodata->charged_id, f->charged, sizeof f->charged);
    memcpy((void *)skel->rodata->task_id, f->tasks, sizeof f->tasks);
    skel->rodata->any_filter = by_process || f->charged_count || f->task_count;
}

static int add(int map, uint32_t process, struct err *e)
{
    uint64_t unknown = 0;
    if (bpf_map_update_elem(map, &process, &unknown, BPF_NOEXIST) == 0 || errno == EEXIST)
        return 0;
    return err_sys(e, errno, "cannot follow process %u", process);
}

struct search {
    int map;
    size_t found;
};

static int add_child(void *self, uint32_t process, uint32_t parent, struct err *e)
{
    struct search *s = self;
    uint64_t began_ns;
    if (bpf_map_lookup_elem(s->map, &parent, &began_ns) != 0 ||
            bpf_map_lookup_elem(s->map, &process, &began_ns) == 0)
        return 0;
    s->found++;
    return add(s->map, process, e);
}

/* Those that are made from now on the program on_fork adds. */
static int add_children(int map, struct err *e)
{
    struct search s = {.map = map};
    int status;
    do {
        s.found = 0;
        status = processes_each(add_child, &s, e);
    } while (status == 0 && s.found);
    return status;
}

int bpf_filter_attach(struct block_bpf *skel, const struct source_filter *f, struct err *e)
{
    if (!f || !f->process_count)
        return 0;
    int status = 0, map = bpf_map__fd(skel->maps.processes);
    skel->links.on_free = bpf_program__attach(skel->progs.on_free);
    if (skel->links.on_free && f->children)
        skel->links.on_fork = bpf_program__attach(skel->progs.on_fork);
    if (!skel->links.on_free || (f->children && !skel->links.on_fork))
        return err_sys(e, errno, "cannot follow processes");
    for (size_t i = 0; status == 0 && i < f->process_count; i++)
        status = add(map, f->processes[i], e);
    return status == 0 && f->children ? add_children(map, e) : status;
}
