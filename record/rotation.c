/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/rotation.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

/* An open I/O holds others back for two seconds (recorder.c), and looks are a second apart. */
#define WAIT_MAX_NS (4 * NS_PER_S)

int rotation_init(struct rotation *r, const char *output, uint64_t keep, uint64_t save_ns, struct err *e)
{
    *r = (struct rotation){.save_ns = save_ns};
    return parts_init(&r->parts, output, (size_t)keep, e);
}

void rotation_release(struct rotation *r)
{
    parts_release(&r->parts);
}

int rotation_open(struct rotation *r, const struct rotation_tape *t, struct tape_writer **w, struct err *e)
{
    CLEANUP_FREE char *path = parts_path(&r->parts);
    if (!path)
        return err_sys(e, ENOMEM, "cannot begin the next part");
    t->info->started_unix_ns = r->start_unix_ns + r->part_ns;
    int status = facts_set(&t->info->options, e, "part", "%" PRIu64, r->parts.number);
    if (status == 0)
        status = tape_writer_open(w, path, t->info, e);
    if (status == 0)
        status = streams_begin(t->streams, t->start_ns, *w, e);
    return status;
}

int rotation_ended(struct rotation *r, struct err *e)
{
    return parts_finished(&r->parts, r->parts.number, e);
}

/* What was recorded up to here stays whole if it can. */
static void end_at_error(
        struct rotation *r, const struct rotation_tape *t, uint64_t cut_ns, const struct err *why)
{
    struct err ignored = {0};
    char ended[sizeof why->text + 16];
    snprintf(ended, sizeof ended, "error: %s", why->text);
    if (!t->net || net_source_finish(t->net, cut_ns, &ignored) == 0)
        tape_writer_finish(*t->w, ended, cut_ns - r->part_ns, &ignored);
}

int rotation_next(struct rotation *r, const struct rotation_tape *t, uint64_t elapsed_ns, struct err *e)
{
    struct tape_writer *next = NULL;
    uint64_t before_ns = r->part_ns, cut_ns = 0, end_ns = 0, finished = r->parts.number;
    int status = t->recorder ? recorder_cut(t->recorder, &cut_ns, e) : 0;
    if (status < 0)
        return status;
    r->part_ns = t->recorder ? cut_ns : elapsed_ns;
    parts_advance(&r->parts);
    status = rotation_open(r, t, &next, e);
    if (status < 0) {
        uint64_t until_ns = r->part_ns;
        r->part_ns = before_ns;
        end_at_error(r, t, until_ns, e);
        tape_writer_close(next, true);
        return status;
    }
    if (t->net)
        status = net_source_cut(t->net, &cut_ns, &end_ns, next, e);
    r->part_ns = cut_ns;
    if (status == 0)
        status = tape_writer_finish(*t->w, "rotation", (end_ns > cut_ns ? end_ns : cut_ns) - before_ns, e);
    if (status < 0) { /* nothing is in the next one yet */
        tape_writer_close(next, true);
        return status;
    }
    if (t->recorder)
        recorder_continue(t->recorder, cut_ns, next);
    tape_writer_close(*t->w, false);
    *t->w = next;
    return parts_finished(&r->parts, finished, e);
}

/* ---- saving ---- */

static bool is_asked(void)
{
    const struct timespec at_once = {0, 0};
    sigset_t save;
    sigemptyset(&save);
    sigaddset(&save, SIGUSR1);
    return sigtimedwait(&save, NULL, &at_once) == SIGUSR1;
}

static int save(struct rotation *r, struct err *e)
{
    uint64_t now_ns = parts_now(), first, last;
    size_t count;
    char length[UNITS_TEXT_BYTES];
    int status = parts_save(&r->parts, r->save_ns ? now_ns - r->save_ns : 0, &count, &first, &last, e);
    if (status == 0 && count)
        fprintf(stderr, "saved %s%s: %zu parts, %s/%s-saved-%06" PRIu64 "%s to %06" PRIu64 "\n",
                r->save_ns ? "the last " : "all", r->save_ns ? units_duration(r->save_ns, length) : "", count,
                r->parts.folder, r->parts.stem, first, r->parts.suffix, last);
    return status;
}

int rotation_save(struct rotation *r, const struct rotation_tape *t, uint64_t elapsed_ns, struct err *e)
{
    if (is_asked() && !r->asked_ns)
        r->asked_ns = elapsed_ns;
    if (!r->asked_ns)
        return 0;
    uint64_t written_ns = t->recorder ? recorder_status(t->recorder).released_ns : elapsed_ns;
    if (written_ns < r->asked_ns && elapsed_ns < r->asked_ns + WAIT_MAX_NS)
        return 0;
    r->asked_ns = 0;
    int status = rotation_next(r, t, elapsed_ns, e);
    return status < 0 ? status : save(r, e);
}
