/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/blktrace_event.h"
#include "formats/import/blktrace_files.h"
#include "formats/import/input.h"

#define COUNTERS_MAX 64 /* sequences followed in one file */

/* The latest sequence number of a CPU, and that of one device on it. */
struct counter {
    uint32_t cpu, device, last;
};

struct cpu_file {
    struct input in;
    struct bt_event next;
    struct bt_layout layout;
    uint32_t magic; /* of that layout, as it stands in the file */
    uint64_t latest_ns;
    struct counter by_cpu[COUNTERS_MAX], by_device[COUNTERS_MAX];
    size_t cpus, devices;
    bool numbers_each_device; /* a CPU's numbers went back while a device's did not */
};

struct bt_input {
    struct bt_files names;
    struct cpu_file *files;
    uint16_t *heap; /* of files with a next event, the earliest at [0] */
    size_t heap_count;
    struct input *standard;
    bool skip_bad;
    uint64_t bad, disorder;
};

/* What is missing before sequence number `now`, modulo 2^32 as the kernel counts. A number that does not
 * go on (the first, a restart) says nothing; then *back is set. */
static uint32_t gap(struct counter *list, size_t *count, struct counter now, bool *back)
{
    size_t i = 0;

    while (i < *count && (list[i].cpu != now.cpu || list[i].device != now.device))
        i++;
    if (i == *count) {
        if (i < COUNTERS_MAX)
            list[(*count)++] = now;
        return 0;
    }
    uint32_t missing = now.last - list[i].last - 1;
    list[i].last = now.last;
    *back = missing > UINT32_MAX / 2;
    return *back ? 0 : missing;
}

/* The kernel numbers the events of each device and CPU, other writers those of each CPU: until a file
 * shows which, only what is missing by both is. Notes carry no number (Linux, kernel/trace/blktrace.c,
 * trace_note). */
static void count_lost(struct cpu_file *f, struct bt_event *ev, uint32_t sequence, uint32_t cpu)
{
    bool cpu_back = false, device_back = false;
    uint32_t by_cpu, by_device;

    if (ev->category & BT_NOTIFY)
        return;
    by_cpu = gap(f->by_cpu, &f->cpus, (struct counter){cpu, 0, sequence}, &cpu_back);
    by_device = gap(f->by_device, &f->devices, (struct counter){cpu, ev->device, sequence}, &device_back);
    f->numbers_each_device |= cpu_back && !device_back;
    ev->lost = by_device < by_cpu || f->numbers_each_device ? by_device : by_cpu;
}

static void take_event(struct cpu_file *f, size_t pdu_len, struct bt_event *ev)
{
    struct bt_numbers n;

    bt_event_decode(&f->layout, f->in.buffer + f->in.begin, pdu_len, ev, &n);
    ev->at_byte = f->in.byte;
    count_lost(f, ev, n.sequence, n.cpu);
    input_take(&f->in, f->layout.event_bytes + pdu_len);
}

/* Whether an event begins at `at`. A file has one version and byte order: that of its first event. */
static bool begins_event(struct cpu_file *f, const uint8_t *at)
{
    struct bt_layout l;
    uint32_t magic;

    memcpy(&magic, at, sizeof magic);
    if (f->layout.version && magic == f->magic)
        return true;
    if (!bt_layout_find(&l, at) ||
            (f->layout.version && (l.version != f->layout.version || l.swapped != f->layout.swapped)))
        return false;
    f->layout = l;
    f->magic = magic;
    return true;
}

/* Says what is wrong with the `have` bytes that are left (0: nothing is). */
static int event_check(struct cpu_file *f, size_t have, size_t *pdu_len, struct err *e)
{
    const uint8_t *at = f->in.buffer + f->in.begin;
    const char *path = f->in.path;

    if (have >= BT_MAGIC_BYTES && !begins_event(f, at)) {
        unsigned version = bt_version_of(at);
        if (version && version == f->layout.version)
            return err_set(
                    e, EBADMSG, "'%s', byte %" PRIu64 ": an event in the other byte order", path, f->in.byte);
        if (version && f->layout.version)
            return err_set(e, EBADMSG,
                    "'%s', byte %" PRIu64 ": an event of version %u in a trace of version %u", path,
                    f->in.byte, version, f->layout.version);
        if (version)
            return err_set(e, EBADMSG,
                    "'%s', byte %" PRIu64 ": blktrace version %u cannot be read, only 7 and 8", path,
                    f->in.byte, version);
        uint32_t magic;
        memcpy(&magic, at, sizeof magic);
        return err_set(e, EBADMSG, "'%s', byte %" PRIu64 ": no event begins here (magic number 0x%08x)", path,
                f->in.byte, magic);
    }
    size_t want = have < BT_MAGIC_BYTES ? BT_EVENT_BYTES_MIN : f->layout.event_bytes;
    if (have < want)
        return err_set(e, EBADMSG,
                "'%s' is cut off at byte %" PRIu64 ": an event has %zu bytes, %zu are there", path,
                f->in.byte, want, have);
    *pdu_len = bt_pdu_len(&f->layout, at);
    return 0;
}

/* Goes on to where the next event may begin. 1, 0 at the end, or -errno. */
static int resynchronise(struct cpu_file *f, struct err *e)
{
    long have;

    input_take(&f->in, 1);
    while ((have = input_need(&f->in, BT_EVENT_BYTES_MIN, e)) >= BT_EVENT_BYTES_MIN) {
        if (begins_event(f, f->in.buffer + f->in.begin))
            return 1;
        input_take(&f->in, 1);
    }
    return have < 0 ? (int)have : 0;
}

/* Makes all of the next event's bytes available: 1, 0 at the file's end, -EBADMSG, or -errno in *e. */
static int event_need(struct cpu_file *f, size_t *pdu_len, struct err *bad, struct err *e)
{
    long have = input_need(&f->in, BT_EVENT_BYTES_MAX, e);

    if (have <= 0)
        return (int)have;
    int rc = event_check(f, (size_t)have, pdu_len, bad);
    if (rc)
        return rc;
    size_t want = f->layout.event_bytes + *pdu_len;
    have = input_need(&f->in, want, e);
    if (have < 0)
        return (int)have;
    if ((size_t)have < want)
        return err_set(bad, EBADMSG,
                "'%s' is cut off at byte %" PRIu64 ": the event there has %zu bytes, %ld are there",
                f->in.path, f->in.byte, want, have);
    return 1;
}

/* The next event of one file: 1, 0 at its end, or -errno. */
static int file_next(struct bt_input *m, struct cpu_file *f, struct err *e)
{
    struct err bad;

    for (;;) {
        err_clear(&bad);
        size_t pdu_len = 0;
        int rc = event_need(f, &pdu_len, &bad, e);
        if (rc > 0)
            take_event(f, pdu_len, &f->next);
        if (rc >= 0)
            return rc;
        if (!bad.code)
            return rc;
        if (!m->skip_bad) {
            if (e)
                *e = bad;
            return rc;
        }
        m->bad++;
        rc = resynchronise(f, e);
        if (rc <= 0)
            return rc;
    }
}

/* ---- all files ---- */

static bool earlier(const struct bt_input *m, uint16_t a, uint16_t b)
{
    uint64_t ta = m->files[a].next.t_ns, tb = m->files[b].next.t_ns;

    return ta != tb ? ta < tb : a < b;
}

/* Lets the file at [i] sink to its place. */
static void heap_sink(struct bt_input *m, size_t i)
{
    uint16_t file = m->heap[i];
    size_t child;

    while ((child = 2 * i + 1) < m->heap_count) {
        if (child + 1 < m->heap_count && earlier(m, m->heap[child + 1], m->heap[child]))
            child++;
        if (!earlier(m, m->heap[child], file))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = file;
}

/* The files of one trace were written by one machine. */
static int check_same_machine(const struct bt_input *m, struct err *e)
{
    const struct cpu_file *first = NULL;

    for (size_t i = 0; i < m->names.count; i++) {
        const struct cpu_file *f = &m->files[i];
        if (!f->layout.version)
            continue; /* empty */
        first = first ? first : f;
        if (f->magic != first->magic)
            return err_set(e, EBADMSG,
                    "'%s' is of version %u, '%s' of version %u%s: they are not of one machine",
                    first->in.path, first->layout.version, f->in.path, f->layout.version,
                    first->layout.swapped != f->layout.swapped ? " and in the other byte order" : "");
    }
    return 0;
}

static int files_open(struct bt_input *m, struct err *e)
{
    m->files = calloc(m->names.count, sizeof *m->files);
    m->heap = calloc(m->names.count, sizeof *m->heap);
    if (!m->files || !m->heap)
        return err_sys(e, ENOMEM, "cannot read '%s'", m->names.list[0]);
    for (size_t i = 0; i < m->names.count; i++) {
        int rc = input_open(&m->files[i].in, m->names.list[i], m->standard, e);
        if (!rc)
            rc = file_next(m, &m->files[i], e);
        if (rc < 0)
            return rc;
        if (rc > 0)
            m->heap[m->heap_count++] = (uint16_t)i;
    }
    for (size_t i = m->heap_count / 2; i-- > 0;)
        heap_sink(m, i);
    return check_same_machine(m, e);
}

int bt_input_open(struct bt_input **in, const char *const *paths, size_t count, bool skip_bad,
        struct input *standard, struct err *e)
{
    struct bt_input *m = calloc(1, sizeof *m);
    int rc = 0;

    if (!m)
        return err_sys(e, ENOMEM, "cannot read '%s'", paths[0]);
    m->skip_bad = skip_bad;
    m->standard = standard;
    for (size_t i = 0; !rc && i < count; i++)
        rc = bt_files_add(&m->names, paths[i], e);
    if (!rc)
        rc = files_open(m, e);
    if (rc)
        bt_input_close(m);
    else
        *in = m;
    return rc;
}

void bt_input_close(struct bt_input *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->files && i < m->names.count; i++)
        input_release(&m->files[i].in);
    free(m->files);
    free(m->heap);
    bt_files_release(&m->names);
    free(m);
}

int bt_input_next(struct bt_input *m, struct bt_event *ev, struct err *e)
{
    struct cpu_file *f;
    int rc;

    if (!m->heap_count)
        return 0;
    f = &m->files[m->heap[0]];
    *ev = f->next;
    ev->file = m->heap[0];
    if (ev->t_ns < f->latest_ns)
        m->disorder++;
    else
        f->latest_ns = ev->t_ns;
    rc = file_next(m, f, e);
    if (rc < 0)
        return rc;
    if (rc == 0)
        m->heap[0] = m->heap[--m->heap_count];
    if (m->heap_count)
        heap_sink(m, 0);
    return 1;
}

int bt_input_blame(const struct bt_input *m, const struct bt_event *ev, struct err *e)
{
    return err_prefix(e, "'%s', byte %" PRIu64, m->names.list[ev->file], ev->at_byte);
}

uint64_t bt_input_bad(const struct bt_input *m)
{
    return m->bad;
}

uint64_t bt_input_disorder(const struct bt_input *m)
{
    return m->disorder;
}

bool bt_input_stands_for(const char *path)
{
    struct bt_files f = {0};
    int rc = bt_files_add(&f, path, NULL);
    /* An empty file is one itself; one that has others beside it is a CPU's. */
    bool yes = rc == 0 && (f.count > 1 || strcmp(f.list[0], path) != 0);

    bt_files_release(&f);
    return yes;
}

bool bt_input_probe(const uint8_t *head, size_t len)
{
    return len >= BT_MAGIC_BYTES && bt_version_of(head) != 0;
}
