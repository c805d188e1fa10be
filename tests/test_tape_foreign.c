/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writes a tape and a run that use the whole format, and beside them what is in them as CSV, from the values
 * that were given to the writers: for read_tape.py (cli_tape_python.t), which names a folder in
 * IOTAPE_SAMPLES. By itself it checks that both files verify.
 */
#include "tests/net_samples.h"

#include <inttypes.h>

#include "formats/run.h"

#define RECORDS       3000
#define CONVERSATIONS 150
#define GAP_NS        UINT64_C(20000000) /* 500 records in 10 s */

static FILE *create(const char *folder, const char *name, char *path, size_t len)
{
    snprintf(path, len, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

static bool completes_late(uint64_t i)
{
    return i % 97 == 3 && i % 2;
}

static void print_record(FILE *f, const struct block_record *r)
{
    char flags[BLOCK_FLAGS_TEXT_BYTES];
    fprintf(f, "%" PRIu64 ",%s,p%u,%s,%s,%" PRIu64 ",%" PRIu64 ",", r->t_ns, r->stream ? "vdb" : "vda",
            r->issuer, block_op_name(r->op), block_flags_name(r->flags, flags), r->offset_bytes,
            r->len_bytes);
    if (r->latency_ns == TAPE_UNKNOWN)
        fprintf(f, ",\n");
    else
        fprintf(f, "%" PRIu64 ",%u\n", r->latency_ns, r->error);
}

static void complete(struct tape_writer *w, uint64_t i, struct block_record *r)
{
    struct err e = {0};
    r->latency_ns = 30 * GAP_NS + i;
    r->error = 5;
    assert_done(tape_writer_late(w, i, r->stream, r->t_ns, r->latency_ns, r->error, &e), e);
}

static void print_event(FILE *f, const struct net_event *ev, const struct net_conversation *c)
{
    char flags[NET_TEXT_BYTES], marks[NET_TEXT_BYTES];
    fprintf(f, "%" PRIu64 ",%u,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,", ev->t_ns, ev->conversation + 1,
            net_side_name(ev->side), net_kind_name(ev->kind), ev->bytes, ev->watermark, ev->think_ns,
            net_flags_name(ev->flags, flags));
    if (ev->kind == NET_CONNECT)
        fprintf(f, "tap0,%s,host-%u,%u,host-%u,%u,%s\n", net_protocol_name(c->protocol), c->client + 1,
                c->client_port, c->server + 1, c->server_port, net_marks_name(c->marks, marks));
    else
        fputs(",,,,,,\n", f);
}

/* Conversations, in two chunks and more, and beside them what is in them. */
static void write_net(struct tape_writer *w, const char *folder)
{
    char path[256];
    FILE *f = create(folder, "net.csv", path, sizeof path);
    fputs("t_ns,conversation,side,event,bytes,watermark,think_ns,flags,"
          "stream,protocol,client,client_port,server,server_port,marks\n",
            f);
    net_samples_add(w, 0, CONVERSATIONS, GAP_NS);
    for (uint32_t n = 0; n < CONVERSATIONS; n++) {
        for (unsigned k = 0; k < 8; k++) {
            struct net_event ev = net_samples_event(n, k, GAP_NS);
            struct net_conversation c = net_samples_conversation(n);
            print_event(f, &ev, &c);
        }
    }
    fclose(f);
}

static void write_tape(const char *folder)
{
    struct err e = {0};
    char path[256];
    FILE *f = create(folder, "tape.csv", path, sizeof path);
    snprintf(path, sizeof path, "%s/x.tape", folder);
    struct tape_writer *w = net_samples_begin(path);
    fputs("t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error\n", f);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct block_record r = samples_record(i, GAP_NS);
        assert_done(tape_writer_add(w, &r, NULL, &e), e);
        if (i < 1200) {
            if (completes_late(i)) { /* told when they are in chunks that have long been written, see below */
                r.latency_ns = 30 * GAP_NS + i;
                r.error = 5;
            }
            print_record(f, &r);
            continue;
        }
        if (i == 1200) {
            for (uint64_t k = 0; k < i; k++) {
                struct block_record old = samples_record(k, GAP_NS);
                if (completes_late(k))
                    complete(w, k, &old);
            }
        }
        print_record(f, &r);
    }
    write_net(w, folder);
    tape_writer_lost(w, 0, 3);
    tape_writer_count(w, "out_of_order", 2);
    samples_finish(w);
    fclose(f);
}

static void fill_results(FILE *f, struct run_chunk *c, uint32_t repetition)
{
    uint64_t state = repetition;
    c->repetition = repetition;
    c->count = 700;
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t a = random_next(&state);
        c->record[i] = i ^ 1;
        c->offset_bytes[i] = a % 100000 * 512;
        c->len_bytes[i] = 512 + (a >> 20) % 3 * 1024;
        c->scheduled_ns[i] = i * 10000;
        c->issued_ns[i] = i * 10000 + (a >> 30) % 300 + (i % 5 ? 0 : 7000);
        c->latency_ns[i] = 1000 + (a >> 40) % 100000;
        c->stream[i] = (uint32_t)(a >> 60) % 2;
        c->error[i] = i % 100 == 99 ? 110 : 0;
        c->op[i] = (uint8_t)((a >> 50) % BLOCK_OPS);
        fprintf(f,
                "%u,%" PRIu64 ",%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64
                ",%u\n",
                repetition, c->record[i] + 1, c->stream[i] ? "vdb" : "vda", block_op_name(c->op[i]),
                c->offset_bytes[i], c->len_bytes[i], c->scheduled_ns[i], c->issued_ns[i],
                (int64_t)(c->issued_ns[i] - c->scheduled_ns[i]), c->latency_ns[i], c->error[i]);
    }
}

static void write_run(const char *folder)
{
    static uint64_t numbers[6][700];
    static uint32_t stream[700];
    static uint16_t error[700];
    static uint8_t op[700];
    struct run_chunk c = {
            0, 0, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], stream, error, op};
    struct tape_stream streams[2] = {{.name = (char *)"vda"}, {.name = (char *)"vdb"}};
    struct run_info info = {.target_name = (char *)"null", .identity = {{UINT64_MAX, 2}, {3, 4}}};
    struct run_writer *w;
    struct err e = {0};
    char path[256];
    FILE *f = create(folder, "run.csv", path, sizeof path);
    fputs("repetition,record,stream,op,offset_bytes,len_bytes,scheduled_ns,issued_ns,lateness_ns,latency_ns,"
          "error\n",
            f);
    snprintf(path, sizeof path, "%s/x.run", folder);
    assert_done(run_writer_open(&w, path, &info, streams, 2, &e), e);
    for (uint32_t repetition = 1; repetition <= 2; repetition++) {
        struct run_repetition summary = {.repetition = repetition, .records = 700, .elapsed_ns = 7000000};
        fill_results(f, &c, repetition);
        assert_done(run_writer_add(w, &c, &e), e);
        assert_done(run_writer_repetition(w, &summary, &e), e);
    }
    assert_done(run_writer_finish(w, "done", &e), e);
    run_writer_close(w, false);
    fclose(f);
}

static void both_verify(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    char path[256];
    struct tape_reader *t;
    struct run_reader *r;
    const char *folder = getenv("IOTAPE_SAMPLES");
    bool kept = folder;
    if (!kept)
        folder = s->folder;
    write_tape(folder);
    write_run(folder);
    snprintf(path, sizeof path, "%s/x.tape", folder);
    assert_done(tape_reader_open(&t, path, &e), e);
    assert_done(tape_reader_verify(t, &e), e);
    tape_reader_close(t);
    snprintf(path, sizeof path, "%s/x.run", folder);
    assert_done(run_reader_open(&r, path, &e), e);
    assert_done(run_reader_verify(r, &e), e);
    run_reader_close(r);
    const char *const files[] = {"x.tape", "x.run", "tape.csv", "net.csv", "run.csv"};
    for (size_t i = 0; !kept && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(both_verify, samples_setup, samples_teardown),
    };
    return cmocka_run_group_tests_name("tapes for foreign readers", tests, NULL, NULL);
}
