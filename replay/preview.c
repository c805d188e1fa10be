/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/preview.h"

#include <errno.h>
#include <stdio.h>

#include "formats/base/units.h"
#include "replay/guard.h"

static void print_side(const struct session *s, const struct session_side *side)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    const struct plan *p = &side->plan;
    printf("%s\n  records: %llu", side->name, (unsigned long long)p->records);
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        if (p->ops[op])
            printf(", %s %llu", block_op_name(op), (unsigned long long)p->ops[op]);
    printf("\n  read %s, written %s, each repetition\n", units_size(p->read_bytes, a),
            units_size(p->written_bytes, b));
    printf("  most in flight when recorded: %llu\n", (unsigned long long)p->depth_recorded);
    const struct feed_counts *c = &p->counts;
    if (c->wrapped || c->skipped || c->widened)
        printf("  does not fit: wrapped %llu, skipped %llu, widened %llu\n", (unsigned long long)c->wrapped,
                (unsigned long long)c->skipped, (unsigned long long)c->widened);
    if (c->readonly_skipped)
        printf("  left out by --read-only: %llu\n", (unsigned long long)c->readonly_skipped);
    double speed = s->settings.speed;
    uint64_t repetitions = s->settings.runs + s->settings.warmup;
    if (s->settings.timing == TIMING_ASAP)
        printf("  a repetition takes what the target takes (as recorded: %s)\n",
                units_duration(p->span_ns, a));
    else
        printf("  a repetition takes at least %s; %llu of them, %s\n",
                units_duration((uint64_t)((double)(s->settings.timing == TIMING_CLOSED ? p->zero_latency_ns
                                                                                       : p->span_ns) /
                                          speed),
                        a),
                (unsigned long long)repetitions,
                s->settings.timing == TIMING_CLOSED ? "plus the target's own time" : "at recorded times");
}

static void print_target(const struct session *s, const struct session_target *t)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    const struct target *target = t->target;
    printf("%s\n  ", target->url);
    if (!target->ops->stores) {
        printf("keeps nothing\n");
        return;
    }
    printf("touched: %s", units_size(ranges_bytes(&t->touched), a));
    if (target->absent)
        printf(", would be created");
    else
        printf(" of %s", units_size(target->size_bytes, b));
    if (!s->settings.read_only)
        printf(", to be filled first: %s", units_size(ranges_bytes(&t->refill), a));
    printf(", up to byte %llu\n", (unsigned long long)t->end_bytes);
}

int preview_print(struct session *s, const volatile sig_atomic_t *stop, struct err *e)
{
    for (size_t i = 0; i < s->sides; i++)
        print_side(s, &s->side[i]);
    int r = guard_check(s, stop, e);
    for (size_t i = 0; i < s->targets && r == 0; i++)
        print_target(s, &s->target[i]);
    if (r == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        return err_sys(e, errno, "cannot write to standard output");
    if (r < 0)
        err_prefix(e, "would be refused");
    return r;
}
