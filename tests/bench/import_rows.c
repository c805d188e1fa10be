/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes long traces of one form, for benches of import:
 *
 *     import_rows FORM ROWS              to standard output
 *     import_rows blktrace ROWS NAME     to NAME.blktrace.0 to .3, of four CPUs
 *
 * All have random places, reads and writes 2:1, 4 KiB each, 10 us apart; forms with several devices have 100.
 * A block trace has Q, D and C of each I/O, 32 of them at once, and each completes on another CPU.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES   4096
#define STEP_US 10
#define DEPTH   32
#define CPUS    4

struct io {
    uint64_t i, us; /* number and time of arrival */
    uint32_t random;
    int is_read;
};

static uint32_t next_random(uint32_t x)
{
    return (uint32_t)((uint64_t)x * 16807 % 2147483647); /* Park and Miller, CACM 31 (10), 1988 */
}

static uint64_t offset_of(const struct io *io)
{
    return (uint64_t)(io->random % 10000000) * BYTES; /* within 41 GB */
}

/* ---- text: one row each ---- */

static void alibaba(const struct io *io)
{
    printf("%u,%c,%" PRIu64 ",%d,%" PRIu64 "\n", io->random % 100, io->is_read ? 'R' : 'W', offset_of(io),
            BYTES, UINT64_C(1577808144000000) + io->us);
}

static void tencent(const struct io *io)
{
    printf("%" PRIu64 ",%" PRIu64 ",%d,%d,%u\n", 1538323200 + io->us / 1000000, offset_of(io) / 512,
            BYTES / 512, !io->is_read, 1000 + io->random % 100);
}

static void msr(const struct io *io)
{
    printf("%" PRIu64 ",web,%u,%s,%" PRIu64 ",%d,%u\n", UINT64_C(128166372000000000) + io->us * 10,
            io->random % 4, io->is_read ? "Read" : "Write", offset_of(io), BYTES, 1000 + io->random % 100000);
}

static void spc(const struct io *io)
{
    printf("%u,%" PRIu64 ",%d,%c,%" PRIu64 ".%06" PRIu64 "\n", io->random % 3, offset_of(io) / 512, BYTES,
            io->is_read ? 'R' : 'W', io->us / 1000000, io->us % 1000000);
}

static void csv(const struct io *io)
{
    if (io->i == 0)
        puts("t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error");
    printf("%" PRIu64 ",vd%c,process-%u,%s,%s,%" PRIu64 ",%d,%u,\n", io->us * 1000,
            'a' + (int)(io->random % 8), io->random % 10, io->is_read ? "read" : "write",
            io->is_read ? "" : "sync", offset_of(io), BYTES, 20000 + io->random % 1000000);
}

static void vscsistats(const struct io *io)
{
    if (io->i == 0)
        puts("#Vscsi Cmd Trace. (Trace Format Version 1)\n"
             "#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)");
    printf("%" PRIu64 ",%d,1,%s,%" PRIu64 ",%" PRIu64 "\n", UINT64_C(2147483692) + io->i, BYTES,
            io->is_read ? "read" : "write", offset_of(io) / 512, UINT64_C(2756778716647) + io->us);
}

static void iolog(const struct io *io)
{
    if (io->i == 0)
        puts("fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open");
    printf("%" PRIu64 " /dev/sdx %s %" PRIu64 " %d\n", io->us, io->is_read ? "read" : "write", offset_of(io),
            BYTES);
}

/* ---- binary, little-endian as the machine that this runs on ---- */

struct __attribute__((packed)) vscsi1_record {
    uint32_t serial, bytes, segments;
    uint16_t command, version;
    uint64_t block, time_us;
};

static void vscsi1(const struct io *io)
{
    struct vscsi1_record r = {(uint32_t)io->i, BYTES, 1, io->is_read ? 0x28 : 0x2a, 1 << 8,
            offset_of(io) / 512, 1000000 + io->us};
    fwrite(&r, sizeof r, 1, stdout);
}

struct __attribute__((packed)) vscsi2_record {
    uint16_t command, version;
    uint32_t serial, bytes, segments;
    uint64_t block, time_us, response_us;
};

static void vscsi2(const struct io *io)
{
    struct vscsi2_record r = {io->is_read ? 0x28 : 0x2a, 2 << 8, (uint32_t)io->i, BYTES, 1,
            offset_of(io) / 512, 1000000 + io->us, 100 + io->random % 10000};
    fwrite(&r, sizeof r, 1, stdout);
}

/* struct blk_io_trace, version 7 */
struct __attribute__((packed)) event {
    uint32_t magic, sequence;
    uint64_t t_ns, sector;
    uint32_t bytes, action, pid, device, cpu;
    uint16_t error, pdu_len;
};

struct cpus {
    FILE *file[CPUS];
    uint32_t sequence[CPUS];
};

/* `action`: the number of Q, D or C, and the category that goes with it. */
static void put_event(struct cpus *c, unsigned cpu, const struct io *io, uint64_t t_ns, uint32_t action)
{
    struct event ev = {0x65617407, ++c->sequence[cpu], t_ns, offset_of(io) / 512, BYTES,
            action | (io->is_read ? 1u : 2u) << 16, 100 + io->random % 4, 8 << 20, cpu, 0, 0};
    fwrite(&ev, sizeof ev, 1, c->file[cpu]);
}

static int open_cpus(struct cpus *c, const char *name)
{
    for (unsigned i = 0; i < CPUS; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s.blktrace.%u", name, i) >= (int)sizeof path)
            return -1;
        c->file[i] = fopen(path, "we");
        if (!c->file[i])
            return -1;
    }
    return 0;
}

static int blktrace(uint64_t rows, const char *name)
{
    struct io ring[DEPTH];
    struct cpus c = {0};
    uint32_t random = 1;
    int bad = 0;

    if (open_cpus(&c, name))
        return 1;
    for (uint64_t i = 0; i < rows + DEPTH; i++) {
        struct io *io = &ring[i % DEPTH];
        uint64_t t_ns = i * STEP_US * 1000;
        if (i >= DEPTH)
            put_event(&c, (unsigned)((io->i + 1) % CPUS), io, t_ns, 8 | 1u << 23);
        if (i >= rows)
            continue;
        random = next_random(random);
        *io = (struct io){i, i * STEP_US, random, random % 3 > 0};
        put_event(&c, (unsigned)(i % CPUS), io, t_ns + 100, 1 | 1u << 20);
        put_event(&c, (unsigned)(i % CPUS), io, t_ns + 1500, 7 | 1u << 22);
    }
    for (int i = 0; i < CPUS; i++)
        bad |= fclose(c.file[i]);
    return bad != 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*put)(const struct io *io);
    } forms[] = {{"alibaba", alibaba}, {"tencent", tencent}, {"msr", msr}, {"spc", spc}, {"csv", csv},
            {"vscsistats", vscsistats}, {"iolog", iolog}, {"vscsi1", vscsi1}, {"vscsi2", vscsi2}};
    uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    struct io io = {.random = 1};
    size_t form = 0;

    if (argc == 4 && strcmp(argv[1], "blktrace") == 0)
        return blktrace(rows, argv[3]);
    while (form < sizeof forms / sizeof *forms && (argc != 3 || strcmp(argv[1], forms[form].name) != 0))
        form++;
    if (form == sizeof forms / sizeof *forms) {
        fprintf(stderr, "usage: import_rows FORM ROWS | import_rows blktrace ROWS NAME\n");
        return 2;
    }
    for (io.i = 0; io.i < rows && !ferror(stdout); io.i++) {
        io.us = io.i * STEP_US;
        io.random = next_random(io.random);
        io.is_read = io.random % 3 > 0;
        forms[form].put(&io);
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
