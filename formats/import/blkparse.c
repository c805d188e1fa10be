/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What blkparse prints by default (blkparse(1), "OUTPUT DESCRIPTION AND FORMATTING"; blktrace,
 * blkparse_fmt.c):
 *
 *       8,0    3        1     0.000000000   697  Q   R 223490 + 8 [kjournald]
 *     device  CPU  sequence  seconds         PID action RWBS sector + sectors [process or error]
 *     "A": sector + sectors <- (device) sector; "X": sector / sector of the rest; no "+ sectors": a flush, or
 * what is passed through
 *
 * Lines become events as those of blktrace's files, and I/Os by the same rules. The statistics at the end and
 * the names of input files at the begin are skipped. Losses cannot be seen.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/import/blktrace_pump.h"
#include "formats/import/blktrace_rwbs.h"
#include "formats/import/trace_names.h"
#include "formats/import/number.h"

#define SECTOR     512
#define MINOR_BITS 20

struct text {
    struct input in;
    struct trace_names named; /* processes whose name has been told, by their id */
    struct bt_event pending;  /* told next */
    bool has_pending, keep_names, skip_bad;
    uint64_t bad;
};

static void text_release(struct text *t)
{
    input_release(&t->in);
    trace_names_release(&t->named);
}

/* ---- one line ---- */

static const struct {
    const char *letters;
    uint16_t action;
} actions[] = {{"Q", BT_QUEUE}, {"M", BT_BACKMERGE}, {"F", BT_FRONTMERGE}, {"G", BT_GETRQ}, {"S", BT_SLEEPRQ},
        {"R", BT_REQUEUE}, {"D", BT_ISSUE}, {"C", BT_COMPLETE}, {"P", BT_PLUG}, {"U", BT_UNPLUG_IO},
        {"UT", BT_UNPLUG_TIMER}, {"T", BT_UNPLUG_TIMER}, {"I", BT_INSERT}, {"X", BT_SPLIT}, {"B", BT_BOUNCE},
        {"W", BT_BOUNCE}, {"A", BT_REMAP}};

#define UNKNOWN_ACTION 0xff

static uint16_t action_of(const char *letters)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].letters, letters) == 0)
            return actions[i].action;
    return UNKNOWN_ACTION;
}

static int device_of(char *text, uint32_t *device, struct err *e)
{
    uint64_t major, minor;
    char *comma = strchr(text, ',');

    if (!comma)
        return err_set(e, EBADMSG, "'%.32s' is not a device (MAJOR,MINOR)", text);
    *comma = '\0';
    int rc = number_whole(text, "major number", &major, e);
    if (!rc)
        rc = number_whole(comma + 1, "minor number", &minor, e);
    if (!rc && (major >= 1 << (32 - MINOR_BITS) || minor >= 1 << MINOR_BITS))
        rc = err_set(e, EBADMSG, "there is no device %s,%s", text, comma + 1);
    if (!rc)
        *device = (uint32_t)(major << MINOR_BITS | minor);
    return rc;
}

static char *word(char **at)
{
    return strtok_r(NULL, " \t\r", at);
}

/* "<- (8,1) 2048" */
static int remap_of(char **at, struct bt_event *ev, struct err *e)
{
    char *arrow = word(at), *device = word(at), *sector = word(at);
    size_t len = device ? strlen(device) : 0;

    if (!sector || strcmp(arrow, "<-") != 0 || len < 3 || device[0] != '(' || device[len - 1] != ')')
        return err_set(e, EBADMSG, "a remap without '<- (MAJOR,MINOR) SECTOR'");
    device[len - 1] = '\0';
    ev->remap.to = ev->device;
    int rc = device_of(device + 1, &ev->remap.from, e);
    return rc ? rc : number_whole(sector, "sector", &ev->remap.from_sector, e);
}

static int sectors_of(char **at, struct bt_event *ev, struct err *e)
{
    uint64_t sectors;
    char *text = word(at);
    int rc = text ? number_whole(text, "number of sectors", &sectors, e)
                  : err_set(e, EBADMSG, "nothing behind '+'");

    if (!rc && sectors > UINT32_MAX / SECTOR)
        rc = err_set(e, EBADMSG, "%s sectors in one I/O", text);
    if (!rc)
        ev->bytes = (uint32_t)(sectors * SECTOR);
    return rc;
}

/* "[5]" behind a completion. */
static int error_of(const char *rest, struct bt_event *ev, struct err *e)
{
    const char *open = rest ? strrchr(rest, '[') : NULL;
    char digits[16];
    uint64_t error;

    if (!open)
        return err_set(e, EBADMSG, "a completion without [ERROR]");
    open += 1 + (open[1] == '-');
    size_t len = strspn(open, "0123456789");
    snprintf(digits, sizeof digits, "%.*s", (int)(len < 15 ? len : 15), open);
    int rc = open[len] == ']' ? number_whole(digits, "error", &error, e)
                              : err_set(e, EBADMSG, "a completion without [ERROR]");
    if (!rc)
        ev->error = (uint16_t)error;
    return rc;
}

/* What follows RWBS. */
static int place_of(char *rest, struct bt_event *ev, struct err *e)
{
    char *at = rest, *sector = word(&at), *sign;
    int rc = 0;

    if (!sector || !isdigit((unsigned char)*sector)) {
        /* "[process]" alone: a request for a flush, or, passed through, "(bytes) [error]" */
        if (!(ev->category & BT_FLUSH))
            ev->category |= BT_PASSTHROUGH;
        return 0;
    }
    rc = number_whole(sector, "sector", &ev->sector, e);
    sign = rc ? NULL : word(&at);
    if (sign && strcmp(sign, "+") == 0)
        rc = sectors_of(&at, ev, e);
    else if (sign && strcmp(sign, "/") == 0)
        rc = (sign = word(&at)) ? number_whole(sign, "sector", &ev->split, e)
                                : err_set(e, EBADMSG, "nothing behind '/'");
    else if (!rc && !(ev->category & BT_FLUSH) && ev->action != BT_COMPLETE)
        ev->category |= BT_PASSTHROUGH; /* the number is of bytes */
    if (!rc && ev->action == BT_REMAP)
        rc = remap_of(&at, ev, e);
    return rc;
}

static bool has_place(uint16_t action)
{
    switch (action) {
    case BT_PLUG:
    case BT_UNPLUG_IO:
    case BT_UNPLUG_TIMER:
    case UNKNOWN_ACTION:
        return false;
    default:
        return true;
    }
}

enum { DEVICE, CPU, SEQUENCE, TIME, PID, ACTION, RWBS, FIELDS };

/* 1; 0 for a message; -EBADMSG. */
static int event_of(char *line, struct bt_event *ev, struct err *e)
{
    char *field[FIELDS], *rest = NULL;
    uint64_t pid;

    for (int i = 0; i < FIELDS; i++) {
        field[i] = i ? word(&rest) : strtok_r(line, " \t\r", &rest);
        if (!field[i])
            return err_set(e, EBADMSG, "%d fields instead of %d or more", i, FIELDS);
    }
    *ev = (struct bt_event){0};
    int rc = device_of(field[DEVICE], &ev->device, e);
    if (!rc)
        rc = number_decimal(field[TIME], "time", NS_PER_S, &ev->t_ns, e);
    if (!rc)
        rc = number_whole(field[PID], "process", &pid, e);
    if (rc || strcmp(field[ACTION], "m") == 0)
        return rc;
    ev->pid = (uint32_t)pid;
    ev->action = action_of(field[ACTION]);
    if (!has_place(ev->action))
        return 1;
    char *end = ev->action == BT_COMPLETE || ev->action == BT_REQUEUE ? strdupa(rest ? rest : "") : NULL;
    rc = bt_category_parse(field[RWBS], &ev->category)
                 ? 0
                 : err_set(e, EBADMSG, "unknown letter in '%.16s'", field[RWBS]);
    if (!rc)
        rc = place_of(rest, ev, e);
    if (!rc && end)
        rc = error_of(end, ev, e);
    return rc ? rc : 1;
}

/* ---- the file ---- */

/* The name in "[name]" at the line's end, which may contain blanks. */
static void tell_name(struct text *t, const char *line_end, const struct bt_event *ev, struct bt_event *note)
{
    const char *open = line_end;
    char pid[16];
    uint32_t told;

    snprintf(pid, sizeof pid, "%u", ev->pid);
    if (!t->keep_names || ev->action != BT_QUEUE ||
            trace_names_find(&t->named, pid, strlen(pid), &told, NULL) || told != UINT32_MAX || !open[0])
        return;
    trace_names_set(&t->named, pid, strlen(pid), 0);
    *note = (struct bt_event){.t_ns = ev->t_ns,
            .pid = ev->pid,
            .category = BT_NOTIFY,
            .action = BT_NOTE_PROCESS,
            .at_byte = ev->at_byte};
    snprintf(note->name, sizeof note->name, "%s", open);
}

static void name_of(const char *line, char name[16])
{
    const char *open = strchr(line, '['), *close = strrchr(line, ']');

    name[0] = '\0';
    if (open && close && close > open)
        snprintf(name, 16, "%.*s", (int)(close - open - 1), open + 1);
}

static bool is_statistics(const char *line)
{
    return strncmp(line, "CPU", 3) == 0 || strncmp(line, "Total", 5) == 0;
}

/* 1, 0 for a line that is no event, -EBADMSG. */
static int line_take(struct text *t, char *line, struct bt_event *ev, struct err *e)
{
    char name[16];

    if (line[strspn(line, " \t\r")] == '\0' || strncmp(line, "Input file ", 11) == 0)
        return 0;
    name_of(line, name);
    int rc = event_of(line, ev, e);
    ev->at_byte = t->in.line;
    if (rc > 0) {
        struct bt_event note = {0};
        tell_name(t, name, ev, &note);
        if (note.category) {
            t->pending = *ev;
            t->has_pending = true;
            *ev = note;
        }
    }
    return rc;
}

static int blame_line(const struct text *t, uint64_t line, struct err *e)
{
    return err_prefix(e, "'%s':%" PRIu64, t->in.path, line);
}

static int blame(void *self, const struct bt_event *ev, struct err *e)
{
    return blame_line(self, ev->at_byte, e);
}

static int next(void *self, struct bt_event *ev, struct err *e)
{
    struct text *t = self;
    struct err bad;
    char *line;

    if (t->has_pending) {
        *ev = t->pending;
        t->has_pending = false;
        return 1;
    }
    for (;;) {
        err_clear(&bad);
        int rc = input_line(&t->in, &line, &bad);
        if (rc == 0 || (rc > 0 && is_statistics(line)))
            return 0;
        if (rc > 0) {
            rc = line_take(t, line, ev, &bad);
            if (rc > 0)
                return 1;
            if (rc < 0)
                blame_line(t, t->in.line, &bad);
        }
        if (rc < 0 && (rc != -EBADMSG || !t->skip_bad)) {
            if (e)
                *e = bad;
            return rc;
        }
        t->bad += rc < 0;
    }
}

static int text_read(const char *const *paths, size_t count, const struct import_options *opts,
        struct import_out *out, struct err *e)
{
    CLEANUP(text_release) struct text t = {.keep_names = opts->keep_names, .skip_bad = opts->skip_bad};
    uint64_t skipped = 0, disorder = 0;

    if (count != 1)
        return err_set(e, EINVAL, "'%s': one text of blkparse makes one tape", paths[1]);
    int rc = input_open(&t.in, paths[0], opts->standard, e);
    if (!rc)
        rc = bt_pump(&(struct bt_events){&t, next, blame}, paths[0], opts, out, &skipped, &disorder, e);
    if (rc)
        return rc;
    if (t.bad + skipped)
        import_out_count(out, "bad", t.bad + skipped);
    if (disorder)
        import_out_count(out, "out_of_order", disorder);
    return 0;
}

/* The first line that names no input file. */
static bool text_probe(const uint8_t *head, size_t len)
{
    const char *p = (const char *)head, *stop = p + len;
    char line[256];
    struct bt_event ev;

    while (p < stop) {
        const char *end = memchr(p, '\n', (size_t)(stop - p));
        size_t n = end ? (size_t)(end - p) : 0;
        if (!end || n >= sizeof line || memchr(p, 0, n))
            return false;
        memcpy(line, p, n);
        line[n] = '\0';
        if (n && strncmp(line, "Input file ", 11) != 0)
            return event_of(line, &ev, NULL) >= 0;
        p = end + 1;
    }
    return false;
}

const struct import_ops import_blkparse = {
        .name = "blkparse",
        .help = "what blkparse prints by default",
        .probe = text_probe,
        .read = text_read,
};
