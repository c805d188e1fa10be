/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Runs: results and summaries come back, finished or not; files of later and earlier versions are read.
 */
#include "tests/tape_samples.h"

#include <errno.h>

#include "formats/container.h"
#include "formats/container_end.h"
#include "formats/describe.h"
#include "formats/run.h"

#define N 1000

static struct run_info sample_info(void)
{
    struct err e = {0};
    struct run_info i = {.identity = {{1, UINT64_MAX}, {3, 4}},
            .tape_records = 123,
            .tape_lost = 4,
            .target_name = (char *)"/dev/loop7",
            .started_unix_ns = 5,
            .working_set_bytes = 1 << 20};
    i.tape.label = (char *)"web01";
    memset(i.tape.salt, 7, sizeof i.tape.salt);
    assert_done(facts_set(&i.tape.host, &e, "kernel", "5.10"), e);
    assert_done(facts_set(&i.host, &e, "kernel", "6.1"), e);
    assert_done(facts_set(&i.options, &e, "timing", "closed"), e);
    assert_done(facts_set(&i.target, &e, "kind", "aio"), e);
    return i;
}

static void info_release(struct run_info *i)
{
    facts_release(&i->tape.host);
    facts_release(&i->host);
    facts_release(&i->options);
    facts_release(&i->target);
}

static struct run_writer *begin(const char *path)
{
    struct err e = {0};
    struct run_writer *w = NULL;
    struct run_info info = sample_info();
    struct tape_stream streams[2] = {
            {.name = (char *)"vda", .capacity_bytes = 1 << 30}, {.name = (char *)"vdb"}};
    assert_done(run_writer_open(&w, path, &info, streams, 2, &e), e);
    info_release(&info);
    return w;
}

struct results {
    uint64_t record[N], offset[N], len[N], scheduled[N], issued[N], latency[N];
    uint32_t stream[N];
    uint16_t error[N];
    uint8_t op[N];
};

/* Results in the order of completion, with records out of order, early and late issues, errors, an unknown
 * latency. */
static struct run_chunk make(struct results *r, uint32_t repetition, uint32_t part)
{
    uint64_t state = repetition * 100 + part;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t a = random_next(&state), n = part * N + (i ^ 3);
        r->record[i] = n;
        r->offset[i] = i == 7 ? UINT64_MAX - 511 : a % 5000 * 512;
        r->len[i] = i == 8 ? UINT64_MAX : (a >> 20) % 4 * 4096;
        r->scheduled[i] = n * 1000;
        r->issued[i] = n * 1000 + (a >> 30) % 100 - (i > 1 ? 50 : 0);
        r->latency[i] = i == 9 ? TAPE_UNKNOWN : (a >> 40) % 100000;
        r->stream[i] = (uint32_t)(a >> 60) % 2;
        r->error[i] = i % 50 ? 0 : 5;
        r->op[i] = (uint8_t)((a >> 50) % BLOCK_OPS);
    }
    return (struct run_chunk){repetition, N, r->record, r->offset, r->len, r->scheduled, r->issued,
            r->latency, r->stream, r->error, r->op};
}

static void assert_chunk(const struct run_chunk *got, uint32_t repetition, uint32_t part)
{
    static struct results r;
    struct run_chunk want = make(&r, repetition, part);
    assert_int_equal(got->repetition, repetition);
    assert_int_equal(got->count, N);
    assert_memory_equal(got->record, want.record, sizeof r.record);
    assert_memory_equal(got->offset_bytes, want.offset_bytes, sizeof r.offset);
    assert_memory_equal(got->len_bytes, want.len_bytes, sizeof r.len);
    assert_memory_equal(got->scheduled_ns, want.scheduled_ns, sizeof r.scheduled);
    assert_memory_equal(got->issued_ns, want.issued_ns, sizeof r.issued);
    assert_memory_equal(got->latency_ns, want.latency_ns, sizeof r.latency);
    assert_memory_equal(got->stream, want.stream, sizeof r.stream);
    assert_memory_equal(got->error, want.error, sizeof r.error);
    assert_memory_equal(got->op, want.op, sizeof r.op);
}

/* Two repetitions of two chunks, and a third one without its summary. */
static struct run_writer *write_results(const char *path)
{
    static struct results r;
    struct err e = {0};
    struct run_writer *w = begin(path);
    for (uint32_t repetition = 1; repetition <= 3; repetition++) {
        for (uint32_t part = 0; part < 2; part++) {
            struct run_chunk c = make(&r, repetition, part);
            assert_done(run_writer_add(w, &c, &e), e);
        }
        struct run_repetition rep = {.repetition = repetition,
                .records = 2 * N,
                .elapsed_ns = UINT64_MAX,
                .two_step = 10 + repetition};
        if (repetition < 3)
            assert_done(run_writer_repetition(w, &rep, &e), e);
    }
    return w;
}

static void assert_results(struct run_reader *r)
{
    struct err e = {0};
    const struct run_chunk *c;
    for (uint32_t k = 0; k < 6; k++) {
        int more = run_reader_next(r, &c, &e);
        assert_done(more, e);
        assert_int_equal(more, 1);
        assert_chunk(c, k / 2 + 1, k % 2);
    }
    assert_int_equal(run_reader_next(r, &c, &e), 0);
    assert_int_equal(run_reader_repetition_count(r), 2);
    const struct run_repetition *rep = run_reader_repetition(r, 1);
    assert_int_equal(rep->repetition, 2);
    assert_int_equal(rep->records, 2 * N);
    assert_int_equal(rep->elapsed_ns, UINT64_MAX);
    assert_int_equal(rep->two_step, 12);
    assert_int_equal(rep->errors, 0);
}

static void everything_comes_back(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct run_chunk *c;
    struct run_reader *r;
    enum tape_kind kind;
    struct run_writer *w = write_results(s->path);
    assert_done(run_writer_finish(w, "done", &e), e);
    run_writer_close(w, false);
    assert_done(run_reader_open(&r, s->path, &e), e);
    assert_true(run_reader_finished(r));
    assert_string_equal(run_reader_ended(r), "done");
    const struct run_info *i = run_reader_info(r);
    assert_string_equal(i->tape.label, "web01");
    assert_int_equal(i->tape.salt[15], 7);
    assert_string_equal(facts_get(&i->tape.host, "kernel"), "5.10");
    assert_string_equal(facts_get(&i->host, "kernel"), "6.1");
    assert_string_equal(facts_get(&i->options, "timing"), "closed");
    assert_string_equal(facts_get(&i->target, "kind"), "aio");
    assert_string_equal(i->target_name, "/dev/loop7");
    assert_true(tape_identity_equal(&i->identity, &(struct tape_identity){{1, UINT64_MAX}, {3, 4}}));
    assert_int_equal(i->tape_records, 123);
    assert_int_equal(i->tape_lost, 4);
    assert_int_equal(i->started_unix_ns, 5);
    assert_int_equal(i->working_set_bytes, 1 << 20);
    assert_int_equal(run_reader_stream_count(r), 2);
    assert_string_equal(run_reader_stream(r, 1)->name, "vdb");
    assert_results(r);
    assert_done(run_reader_rewind(r, &e), e);
    assert_results(r);
    assert_done(run_reader_seek(r, 2, &e), e);
    assert_int_equal(run_reader_next(r, &c, &e), 1);
    assert_chunk(c, 2, 0);
    assert_done(run_reader_seek(r, 9, &e), e);
    assert_int_equal(run_reader_next(r, &c, &e), 0);
    assert_done(run_reader_verify(r, &e), e);
    assert_results(r);
    run_reader_close(r);
    assert_done(tape_file_kind(s->path, &kind, &e), e);
    assert_int_equal(kind, TAPE_KIND_RUN);
}

static void unfinished_runs_are_read(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct run_reader *r;
    run_writer_close(write_results(s->path), false);
    assert_done(run_reader_open(&r, s->partial, &e), e);
    assert_false(run_reader_finished(r));
    assert_results(r);
    assert_done(run_reader_verify(r, &e), e);
    run_reader_close(r);
}

static void tapes_and_runs_are_told_apart(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct run_reader *r;
    struct tape_reader *t;
    samples_finish(samples_begin(s->path));
    assert_int_equal(run_reader_open(&r, s->path, &e), -EINVAL);
    assert_non_null(strstr(e.text, "is a tape"));
    struct run_writer *w = begin(s->path);
    assert_done(run_writer_finish(w, "done", &e), e);
    run_writer_close(w, false);
    assert_int_equal(tape_reader_open(&t, s->path, &e), -EINVAL);
    assert_non_null(strstr(e.text, "is a run"));
}

static void bad_chunks_are_refused(void **state)
{
    static struct results r;
    struct samples *s = *state;
    struct err e = {0};
    struct run_writer *w = begin(s->path);
    struct run_chunk c = make(&r, 1, 0);
    r.stream[N - 1] = 2;
    assert_int_equal(run_writer_add(w, &c, &e), -EINVAL);
    c = make(&r, 1, 0);
    r.op[0] = BLOCK_OPS;
    assert_int_equal(run_writer_add(w, &c, &e), -EINVAL);
    c = make(&r, 0, 0);
    assert_int_equal(run_writer_add(w, &c, &e), -EINVAL);
    c = make(&r, 1, 0);
    c.count = 0;
    assert_int_equal(run_writer_add(w, &c, &e), -EINVAL);
    run_writer_close(w, true);
}

/* A summary as another version would write it: a field that we do not know, and not all that we do. */
static void summaries_of_other_versions_are_read(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct run_reader *r;
    struct container_writer *w;
    struct bytes body = {0};
    struct run_info info = sample_info();
    assert_done(container_create(&w, s->path, &e), e);
    assert_done(describe_pack_run(&info, &body, &e), e);
    info_release(&info);
    assert_done(container_add(w, CONTAINER_FIRST, &body, NULL, &e), e);
    body.len = 0;
    struct packer p = {.out = &body};
    pack_map(&p, 3);
    pack_str(&p, "joules");
    pack_array(&p, 0);
    pack_str(&p, "elapsed_ns");
    pack_uint(&p, 77);
    pack_seal(&p);
    assert_done(container_add(w, "repetition/000000.msgpack", &body, NULL, &e), e);
    body.len = 0;
    assert_done(container_add(w, "later/000000.msgpack", &body, NULL, &e), e);
    container_writer_close(w, false);
    assert_done(run_reader_open(&r, s->partial, &e), e);
    assert_int_equal(run_reader_repetition_count(r), 1);
    assert_int_equal(run_reader_repetition(r, 0)->elapsed_ns, 77);
    assert_int_equal(run_reader_repetition(r, 0)->records, 0);
    run_reader_close(r);
    bytes_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, samples_setup, samples_teardown)
            TEST(everything_comes_back),
            TEST(unfinished_runs_are_read),
            TEST(tapes_and_runs_are_told_apart),
            TEST(bad_chunks_are_refused),
            TEST(summaries_of_other_versions_are_read),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
