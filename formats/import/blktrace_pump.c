/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_pump.h"

#include <errno.h>

#include "formats/base/cleanup.h"
#include "formats/import/blktrace_match.h"
#include "formats/import/sorter.h"

struct pump {
    const struct bt_events *from;
    struct sorter *sorter;
    struct bt_matcher *matcher;
    bool skip_bad;
    uint64_t skipped, untimely;
};

static void pump_release(struct pump *p)
{
    sorter_close(p->sorter);
    bt_matcher_close(p->matcher);
}

/* An event's error names its file and place, or is counted. */
static int refuse(struct pump *p, const struct bt_event *ev, struct err *bad, struct err *e)
{
    if (bad->code == EBADMSG && p->skip_bad) {
        p->skipped++;
        return 0;
    }
    if (bad->code == EBADMSG || bad->code == EINVAL)
        p->from->blame(p->from->self, ev, bad);
    if (e)
        *e = *bad;
    return -bad->code;
}

/* 1, 0 where the sorter is empty, or -errno. */
static int match_one(struct pump *p, struct err *e)
{
    const struct bt_event *ev = sorter_pop(p->sorter);
    struct err bad;
    int rc;

    if (!ev)
        return 0;
    err_clear(&bad);
    if (bt_matcher_take(p->matcher, ev, &bad) == 0)
        return 1;
    rc = refuse(p, ev, &bad, e);
    return rc ? rc : 1;
}

static int pump_all(struct pump *p, struct err *e)
{
    int rc = 0;

    while (rc == 0) {
        struct bt_event *ev;
        struct err bad;
        if (sorter_full(p->sorter) && (rc = match_one(p, e)) < 0)
            return rc;
        ev = sorter_slot(p->sorter);
        if (!ev)
            return err_sys(e, ENOMEM, "cannot sort by time");
        rc = p->from->next(p->from->self, ev, e);
        if (rc <= 0)
            break;
        err_clear(&bad);
        rc = sorter_push(p->sorter, ev->t_ns, ev, &bad);
        p->untimely += rc == -EBADMSG;
        if (rc)
            rc = refuse(p, ev, &bad, e);
    }
    while (rc == 0 && (rc = match_one(p, e)) > 0)
        rc = 0;
    return rc;
}

int bt_pump(const struct bt_events *from, const char *path, const struct import_options *opts,
        struct import_out *out, uint64_t *skipped, uint64_t *disorder, struct err *e)
{
    CLEANUP(pump_release) struct pump p = {.from = from, .skip_bad = opts->skip_bad};
    uint64_t records, elapsed_ns;
    int rc = sorter_open(&p.sorter, sizeof(struct bt_event), import_window(opts), e);

    if (!rc)
        rc = bt_matcher_open(&p.matcher, out, opts->keep_names, e);
    if (!rc)
        rc = pump_all(&p, e);
    if (!rc)
        rc = bt_matcher_finish(p.matcher, &records, &elapsed_ns, e);
    if (rc)
        return rc;
    if (p.untimely > records)
        return import_untimely(path, p.untimely, e);
    if (!records)
        return err_set(e, EINVAL, "'%s': there is no I/O in the trace", path);
    import_out_elapsed(out, elapsed_ns);
    *skipped = p.skipped;
    *disorder = sorter_disorder(p.sorter);
    return 0;
}
