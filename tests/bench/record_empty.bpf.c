// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control of record_cost: programs that do nothing on the hooks of record/source/block.bpf.c. What the
 * kernel's statistics say about them is the cost of being measured.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/block_bio_queue")
int empty_queue(void *ctx)
{
    return 0;
}

SEC("tp_btf/block_rq_complete")
int empty_request(void *ctx)
{
    return 0;
}

SEC("tp_btf/block_bio_complete")
int empty_bio(void *ctx)
{
    return 0;
}
