/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What writing and reading tapes and runs costs: ns and bytes a record, for synthetic workloads. Prints one
 * line for each.
 *
 *   bench_tape FOLDER [RECORDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/base/random.h"
#include "formats/run.h"
#include "formats/tape.h"

struct workload {
    const char *name;
    bool random;
    uint64_t gap_ns, latency_ns; /* means */
    unsigned percent_reads, issuers;
};

static const struct workload workloads[] = {
        {"4 KiB random reads over 1 GiB", true, 3500, 100000, 100, 1},
        {"4 KiB sequential reads", false, 3500, 12000, 100, 1},
        {"4 KiB random 70/30, 4 processes", true, 3500, 100000, 70, 4},
        {"4 KiB random reads at 100 IOPS", true, 10000000, 100000, 100, 1},
};

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Roughly bell-shaped from half to one and a half of the mean. */
static uint64_t spread(uint64_t *state, uint64_t mean)
{
    uint64_t r = random_next(state), sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (r >> (16 * i)) & 0xffff;
    return mean / 2 + mean * sum / (4 * 65536);
}

static void check(int r, const struct err *e)
{
    if (r >= 0)
        return;
    fprintf(stderr, "bench_tape: error: %s\n", e->text);
    exit(1);
}

static struct block_record make_record(const struct workload *w, uint64_t *state, uint64_t *t_ns, uint64_t i)
{
    uint64_t r = random_next(state);
    *t_ns += spread(state, w->gap_ns);
    return (struct block_record){.t_ns = *t_ns,
            .offset_bytes = w->random ? (r % 262144) * 4096 : i * 4096,
            .len_bytes = 4096,
            .latency_ns = spread(state, w->latency_ns),
            .issuer = (uint32_t)(r >> 40) % w->issuers,
            .op = (r >> 50) % 100 < w->percent_reads ? BLOCK_READ : BLOCK_WRITE};
}

static void write_tape(
        const struct workload *w, const char *path, const struct block_record *records, uint64_t n)
{
    struct err e;
    struct tape_writer *t;
    struct tape_info info = {.label = (char *)w->name};
    struct tape_stream s = {.name = (char *)"bench", .capacity_bytes = 1 << 30, .sector_bytes = 512};
    uint32_t id;
    check(tape_writer_open(&t, path, &info, &e), &e);
    check(tape_writer_stream(t, &s, &id, &e), &e);
    for (unsigned i = 0; i < w->issuers; i++)
        check(tape_writer_issuer(t, "process", &id, &e), &e);
    for (uint64_t i = 0; i < n; i++)
        check(tape_writer_add(t, &records[i], NULL, &e), &e);
    check(tape_writer_finish(t, "bench", 0, &e), &e);
    tape_writer_close(t, false);
}

static uint64_t read_tape(const char *path)
{
    struct err e;
    struct tape_reader *r;
    const struct block_chunk *c;
    uint64_t n = 0;
    int more;
    check(tape_reader_open(&r, path, &e), &e);
    while ((more = tape_reader_next(r, &c, &e)) == 1)
        n += c->count;
    check(more, &e);
    tape_reader_close(r);
    return n;
}

static double per_record_ns(double begin_s, uint64_t n)
{
    return (now_s(CLOCK_THREAD_CPUTIME_ID) - begin_s) * 1e9 / (double)n;
}

static void bench_run(const struct workload *w, const char *path, uint64_t n)
{
    enum { N = RUN_CHUNK_RECORDS };
    static uint64_t record[N], offset[N], len[N], scheduled[N], issued[N], latency[N];
    static uint32_t stream[N];
    static uint16_t error[N];
    static uint8_t op[N];
    struct run_chunk c = {1, N, record, offset, len, scheduled, issued, latency, stream, error, op};
    const struct run_chunk *got;
    struct tape_stream s = {.name = (char *)"bench"};
    struct run_info info = {0};
    struct run_writer *t;
    struct run_reader *r;
    struct stat st;
    struct err e;
    uint64_t state = 1, t_ns = 0;
    double spent_s = 0;
    check(run_writer_open(&t, path, &info, &s, 1, &e), &e);
    for (uint64_t done = 0; done < n; done += N) {
        for (uint32_t i = 0; i < N;
                i++) { /* a null target: a few reads of the clock between issue and completion */
            struct block_record b = make_record(w, &state, &t_ns, done + i);
            record[i] = done + i;
            offset[i] = b.offset_bytes;
            len[i] = b.len_bytes;
            op[i] = b.op;
            issued[i] = scheduled[i] = (done + i) * 100 + (done + i) % 3 * 10;
            latency[i] = 30 + (random_next(&state) % 4) * 10;
        }
        double begin_s = now_s(CLOCK_THREAD_CPUTIME_ID);
        check(run_writer_add(t, &c, &e), &e);
        spent_s += now_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;
    }
    check(run_writer_finish(t, "done", &e), &e);
    run_writer_close(t, false);
    double begin_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    check(run_reader_open(&r, path, &e), &e);
    while (run_reader_next(r, &got, &e) == 1)
        continue;
    run_reader_close(r);
    if (stat(path, &st) < 0)
        exit(1);
    printf("run   %-34s %8" PRIu64 " records  %5.2f bytes  write %5.1f ns  read %5.1f ns\n", w->name, n,
            (double)st.st_size / (double)n, spent_s * 1e9 / (double)n, per_record_ns(begin_s, n));
}

static void bench_tape(const struct workload *w, const char *path, uint64_t n)
{
    struct block_record *records = malloc(n * sizeof *records);
    uint64_t state = 1, t_ns = 0;
    struct stat st;
    if (!records)
        exit(1);
    for (uint64_t i = 0; i < n; i++)
        records[i] = make_record(w, &state, &t_ns, i);
    double begin_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    write_tape(w, path, records, n);
    double write_ns = per_record_ns(begin_s, n);
    free(records);
    begin_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    if (read_tape(path) != n || stat(path, &st) < 0)
        exit(1);
    printf("tape  %-34s %8" PRIu64 " records  %5.2f bytes  write %5.1f ns  read %5.1f ns\n", w->name, n,
            (double)st.st_size / (double)n, write_ns, per_record_ns(begin_s, n));
}

int main(int argc, char **argv)
{
    char path[4096];
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000000;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_tape FOLDER [RECORDS]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/bench.tape", argv[1]);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        bench_tape(&workloads[i], path, workloads[i].gap_ns > 1000000 ? 12000 : n);
    for (size_t i = 0; i < 3; i++)
        bench_run(&workloads[i], path, n / RUN_CHUNK_RECORDS * RUN_CHUNK_RECORDS);
    remove(path);
    return 0;
}
