/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes a tape of the block records that it reads: tool_tape PATH <LINES
 *
 * A line is `t_us op offset_bytes len_bytes [flags [latency_us]]`, sorted by time; flags as in CSV, `-` for
 * none; without a latency it is unknown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tape.h"

static void need(int rc, const struct err *e)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "tool_tape: %s\n", e->text);
    exit(1);
}

static void need_known(int number, const char *line)
{
    if (number >= 0)
        return;
    fprintf(stderr, "tool_tape: not a record: %s", line);
    exit(1);
}

static struct block_record parse(const char *line)
{
    char op[32], flags[BLOCK_FLAGS_TEXT_BYTES] = "-";
    struct block_record r = {.latency_ns = TAPE_UNKNOWN};
    uint64_t t_us, latency_us;
    int n = sscanf(line, "%" SCNu64 " %31s %" SCNu64 " %" SCNu64 " %95s %" SCNu64, &t_us, op, &r.offset_bytes,
            &r.len_bytes, flags, &latency_us);
    need_known(n >= 4 ? 0 : -1, line);
    int number = block_op_parse(op);
    int bits = strcmp(flags, "-") == 0 ? 0 : block_flags_parse(flags);
    need_known(number, line);
    need_known(bits, line);
    r.t_ns = t_us * 1000;
    r.op = (uint8_t)number;
    r.flags = (uint16_t)bits;
    if (n == 6)
        r.latency_ns = latency_us * 1000;
    return r;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct tape_writer *w;
    struct tape_info info = {0};
    struct tape_stream s = {.name = strdup("vda"), .sector_bytes = 512};
    uint32_t stream, issuer;
    uint64_t end_ns = 0;
    char line[512];
    if (argc != 2) {
        fputs("usage: tool_tape PATH <LINES\n", stderr);
        return 2;
    }
    need(tape_writer_open(&w, argv[1], &info, &e), &e);
    need(tape_writer_stream(w, &s, &stream, &e), &e);
    need(tape_writer_issuer(w, "test", &issuer, &e), &e);
    while (fgets(line, sizeof line, stdin)) {
        struct block_record r = parse(line);
        r.stream = stream;
        r.issuer = issuer;
        need(tape_writer_add(w, &r, NULL, &e), &e);
        end_ns = r.t_ns;
    }
    need(tape_writer_finish(w, "duration", end_ns, &e), &e);
    tape_writer_close(w, false);
    tape_stream_release(&s);
    return 0;
}
