/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Builds block traces: struct blk_io_trace, field by field as include/uapi/linux/blktrace_api.h has them,
 * in either byte order; and imports them, in the case `c`. Include it after cmocka.h.
 */
#ifndef IOTAPE_BLKTRACE_CASE_H
#define IOTAPE_BLKTRACE_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "formats/import/blktrace_read.h"
#include "tests/import_case.h"

#define DEV(ma, mi) ((ma) << 20 | (mi))
#define FS          (1 << 8) /* BLK_TC_FS */

struct trace {
    uint8_t bytes[1 << 20];
    size_t len;
    bool swapped;
    uint32_t sequence;
};

/* One event: time, action, category, sector, bytes, device (0: 8:0), and what its payload is made of. */
struct ev {
    uint64_t t;
    unsigned a, c;
    uint64_t s;
    uint32_t b, d, pid, cpu, seq;
    uint16_t error;
    uint32_t from, to; /* BT_REMAP */
    uint64_t from_s, split;
    const char *pdu;
    size_t pdu_len;
};

static inline void trace_bytes(struct trace *t, uint64_t v, size_t width, bool big)
{
    for (size_t i = 0; i < width; i++)
        t->bytes[t->len++] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
}

static inline void trace_put(struct trace *t, struct ev ev)
{
    size_t pdu_len = ev.from ? 16 : ev.split ? 8 : ev.pdu_len;
    bool big = t->swapped;

    assert_true(t->len + 48 + pdu_len <= sizeof t->bytes);
    t->sequence = ev.seq ? ev.seq : t->sequence + 1;
    trace_bytes(t, 0x65617407, 4, big);
    trace_bytes(t, t->sequence, 4, big);
    trace_bytes(t, ev.t, 8, big);
    trace_bytes(t, ev.s, 8, big);
    trace_bytes(t, ev.b, 4, big);
    trace_bytes(t, (uint64_t)ev.c << 16 | ev.a, 4, big);
    trace_bytes(t, ev.pid, 4, big);
    trace_bytes(t, ev.d ? ev.d : DEV(8, 0), 4, big);
    trace_bytes(t, ev.cpu, 4, big);
    trace_bytes(t, ev.error, 2, big);
    trace_bytes(t, pdu_len, 2, big);
    if (ev.from) {
        trace_bytes(t, ev.from, 4, true);
        trace_bytes(t, ev.to, 4, true);
        trace_bytes(t, ev.from_s, 8, true);
    } else if (ev.split) {
        trace_bytes(t, ev.split, 8, true);
    } else if (pdu_len) {
        memcpy(t->bytes + t->len, ev.pdu, pdu_len);
        t->len += pdu_len;
    }
}

/* ---- a test's import ---- */

static struct import_case c;
static struct trace t;

static inline int setup(void **state)
{
    (void)state;
    case_open(&c);
    memset(&t, 0, sizeof t);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    case_close(&c);
    return 0;
}

static inline void import_trace(void)
{
    case_file(&c, "x.blktrace.0", t.bytes, t.len);
    case_import(&c, "x.blktrace.0");
    if (c.rc)
        print_message("# %s\n", c.e.text);
}

/* Imports the events of a list, and wants success. */
static inline void import_events(const struct ev *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trace_put(&t, list[i]);
    import_trace();
    assert_int_equal(c.rc, 0);
}
#define IMPORT(...)                                                                                          \
    do {                                                                                                     \
        static const struct ev list_[] = {__VA_ARGS__};                                                      \
        import_events(list_, sizeof list_ / sizeof *list_);                                                  \
    } while (0)

#define R       BT_READ | FS
#define W       BT_WRITE | FS
#define NO      TAPE_UNKNOWN
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
