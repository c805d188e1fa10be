/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes a tape of random records, for tests whose right values a witness computes from the tape's CSV:
 *
 *     tool_random PATH KIND RECORDS [SEED]
 *
 * KIND
 *   - mixed: three streams of other sectors, four issuers, all operations and flags, unknown latencies,
 *     errors, places up to 2^64 - 512, lengths of 0, discards of 1 PiB, bursts and pauses
 *   - legal: the same without what ends beyond 2^64
 *   - pages: one stream of whole pages in a small place: much is read again
 *   - odd: lengths and places that are no multiples of anything; lengths up to 2^64 - 1
 *   - busy: as pages, and some hundreds of I/Os in flight
 *   - deep: no I/O completes before all have arrived; a few take no time
 *   - blind: no latency is known
 *   - wide, far: reads and writes all over a disk of 1 TiB, of 1 PiB
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/random.h"
#include "formats/tape.h"

static uint64_t state;

static uint64_t below(uint64_t n)
{
    return random_next(&state) % n;
}

static void need(int rc, const struct err *e)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "tool_random: %s\n", e->text);
    exit(1);
}

static struct block_record base(uint64_t t_ns)
{
    return (struct block_record){.t_ns = t_ns,
            .op = below(3) ? BLOCK_READ : BLOCK_WRITE,
            .offset_bytes = below(5000) * 4096,
            .len_bytes = (1 + below(20)) * 4096,
            .latency_ns = below(100) ? below(300000) : below(200000000)};
}

static struct block_record mixed(struct block_record r, const struct block_record *last)
{
    r.op = below(10) ? r.op : (uint8_t)below(BLOCK_OPS);
    r.stream = below(10) ? (uint32_t)below(3) : last->stream;
    r.issuer = (uint32_t)below(4);
    r.flags = below(3) ? 0 : (uint16_t)below(1 << BLOCK_FLAGS);
    r.error = below(50) ? 0 : 5;
    if (r.stream == 1 && below(2))
        r.offset_bytes = below(3000) * 512, r.len_bytes = below(100) * 512;
    if (r.stream == 2 && below(2))
        r.offset_bytes = last->offset_bytes + last->len_bytes;
    if (below(200) == 0)
        r.offset_bytes = UINT64_MAX - 511, r.len_bytes = 512;
    if (below(100) == 0)
        r.len_bytes = 0;
    if (r.op == BLOCK_DISCARD)
        r.len_bytes = UINT64_C(1) << 50;
    if (r.op == BLOCK_FLUSH)
        r.offset_bytes = r.len_bytes = 0;
    if (below(20) == 0)
        r.latency_ns = TAPE_UNKNOWN;
    if (below(30) == 0)
        r.latency_ns = 0;
    return r;
}

static struct block_record make(const char *kind, uint64_t t_ns, const struct block_record *last)
{
    struct block_record r = base(t_ns);
    if (strcmp(kind, "mixed") == 0)
        return mixed(r, last);
    if (strcmp(kind, "legal") == 0) {
        r = mixed(r, last);
        if (r.len_bytes && r.offset_bytes > UINT64_MAX - (r.len_bytes - 1))
            r.len_bytes = UINT64_MAX - r.offset_bytes + 1;
        return r;
    }
    if (strcmp(kind, "odd") == 0) {
        r.offset_bytes = below(1000000);
        r.len_bytes = below(20) ? below(70000) : below(8) ? below(2000) << 20 : random_next(&state);
    } else if (strcmp(kind, "deep") == 0) {
        r.latency_ns = below(100) ? UINT64_C(1000000000) + below(2000000000) : 0;
    } else if (strcmp(kind, "blind") == 0) {
        r.latency_ns = TAPE_UNKNOWN;
    } else if (strcmp(kind, "far") == 0) {
        r.offset_bytes = below(UINT64_C(1) << 38) * 4096;
    } else if (strcmp(kind, "wide") == 0) {
        r.offset_bytes = below(UINT64_C(1) << 28) * 4096;
    }
    return r;
}

static void add_streams(struct tape_writer *w)
{
    struct err e = {0};
    for (uint32_t i = 0, id; i < 3; i++) {
        struct tape_stream s = {.name = strdup(i == 0   ? "vda"
                                               : i == 1 ? "vdb"
                                                        : "vd,\"c"),
                .capacity_bytes = UINT64_C(1) << (40 + i),
                .sector_bytes = 512};
        need(tape_writer_stream(w, &s, &id, &e), &e);
        tape_stream_release(&s);
    }
    for (uint32_t i = 0, id; i < 4; i++) {
        char name[] = "worker 0";
        name[7] = (char)('0' + i);
        need(tape_writer_issuer(w, name, &id, &e), &e);
    }
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct tape_writer *w;
    struct tape_info info = {.label = strdup("random")};
    struct block_record last = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: tool_random PATH KIND RECORDS [SEED]\n");
        return 2;
    }
    state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    uint64_t records = strtoull(argv[3], NULL, 10), t_ns = below(1000000);
    need(tape_writer_open(&w, argv[1], &info, &e), &e);
    add_streams(w);
    for (uint64_t i = 0; i < records; i++) {
        last = make(argv[2], t_ns, &last);
        need(tape_writer_add(w, &last, NULL, &e), &e);
        t_ns += strcmp(argv[2], "deep") == 0   ? below(3)
                : strcmp(argv[2], "busy") == 0 ? below(1000)
                : below(200)                   ? below(60000)
                                               : below(30000000);
    }
    need(tape_writer_finish(w, "test", records ? t_ns : 0, &e), &e);
    tape_writer_close(w, false);
    tape_info_release(&info);
    return 0;
}
