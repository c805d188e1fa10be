/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tapes: what goes in comes out, in chunks as TAPE.md says, the same bytes each time.
 */
#include "tests/tape_samples.h"

#include <errno.h>
#include <sys/stat.h>

#include "formats/container.h"
#include "formats/run.h"

#define S UINT64_C(1000000000)

static struct tape_reader *open_tape(const char *path)
{
    struct err e = {0};
    struct tape_reader *r = NULL;
    assert_done(tape_reader_open(&r, path, &e), e);
    return r;
}

/* Reads all records and compares them with the samples; returns the number of chunks. */
static unsigned assert_samples(struct tape_reader *r, uint64_t count, uint64_t gap_ns)
{
    struct err e = {0};
    const struct block_chunk *c;
    uint64_t n = 0;
    unsigned chunks = 0;
    int more;
    while ((more = tape_reader_next(r, &c, &e)) == 1) {
        chunks++;
        assert_int_equal(c->first, n);
        for (uint32_t i = 0; i < c->count; i++, n++) {
            struct block_record got = block_chunk_get(c, i), want = samples_record(n, gap_ns);
            samples_assert_equal(&got, &want);
        }
    }
    assert_done(more, e);
    assert_int_equal(n, count);
    return chunks;
}

static void every_field_comes_back(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w = samples_begin(s->path);
    samples_add(w, 0, 70000, 1000);
    tape_writer_lost(w, 1, 7);
    tape_writer_lost(w, UINT32_MAX, 5);
    tape_writer_count(w, "out_of_order", 3);
    tape_writer_count(w, "passthrough", 1);
    tape_writer_count(w, "out_of_order", 2);
    assert_int_equal(access(s->path, F_OK), -1); /* nothing is visible before the end */
    assert_done(tape_writer_finish(w, "duration", 5 * S, &e), e);
    tape_writer_close(w, false);
    assert_int_equal(access(s->partial, F_OK), -1);

    struct tape_reader *r = open_tape(s->path);
    const struct tape_info *i = tape_reader_info(r);
    assert_string_equal(i->label, "a label");
    assert_memory_equal(i->salt, "0123456789abcdef", 16);
    assert_string_equal(facts_get(&i->host, "kernel"), "6.1.0");
    assert_string_equal(facts_get(&i->options, "source"), "test");
    assert_int_equal(i->started_unix_ns, 1700000000000000000);
    assert_int_equal(tape_reader_stream_count(r), 2);
    const struct tape_stream *vdb = tape_reader_stream(r, 1);
    assert_string_equal(vdb->name, "vdb");
    assert_int_equal(vdb->capacity_bytes, 1ULL << 31);
    assert_int_equal(vdb->sector_bytes, 4096);
    assert_int_equal(vdb->disk_start_bytes, 1048576);
    assert_string_equal(vdb->disk_hash, "");
    assert_string_equal(tape_reader_stream(r, 0)->disk_hash,
            "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    assert_string_equal(facts_get(&vdb->device, "model"), "disk 1");
    assert_int_equal(tape_reader_issuer_count(r), 3);
    assert_string_equal(tape_reader_issuer(r, 2), "p2");
    assert_int_equal(assert_samples(r, 70000, 1000), 2);
    const struct tape_totals *t = tape_reader_totals(r);
    assert_true(t->finished);
    assert_string_equal(t->ended, "duration");
    assert_int_equal(t->elapsed_ns, 5 * S);
    assert_int_equal(t->lost, 12);
    assert_int_equal(t->streams[1].lost, 7);
    assert_string_equal(facts_get(&t->counts, "out_of_order"), "5");
    assert_done(tape_reader_verify(r, &e), e);
    assert_int_equal(assert_samples(r, 70000, 1000), 2); /* verify rewinds */
    tape_reader_close(r);
}

static void totals_are_those_of_the_records(void **state)
{
    struct samples *s = *state;
    struct tape_stream_totals want[2] = {{0}};
    struct tape_writer *w = samples_begin(s->path);
    samples_add(w, 0, 5000, 1000);
    samples_finish(w);
    for (uint64_t i = 0; i < 5000; i++) {
        struct block_record b = samples_record(i, 1000);
        want[b.stream].records++;
        want[b.stream].read_bytes += b.op == BLOCK_READ ? b.len_bytes : 0;
        want[b.stream].written_bytes += b.op == BLOCK_WRITE ? b.len_bytes : 0;
        want[b.stream].open += b.latency_ns == TAPE_UNKNOWN;
    }
    struct tape_reader *r = open_tape(s->path);
    const struct tape_totals *t = tape_reader_totals(r);
    assert_int_equal(t->stream_count, 2);
    assert_int_equal(t->records, 5000);
    assert_memory_equal(t->streams, want, sizeof want);
    assert_int_equal(t->elapsed_ns, samples_record(4999, 1000).t_ns);
    tape_reader_close(r);
}

/* 65,536 records at most, and less than 10 s from the first to the last. */
static void chunks_close_by_count_and_time(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct block_chunk *c;
    struct tape_writer *w = samples_begin(s->path);
    struct block_record b = {.len_bytes = 4096, .latency_ns = 1};
    for (uint32_t i = 0; i < 65537; i++)
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
    const uint64_t times[] = {10 * S - 1, 10 * S, 20 * S - 1, 20 * S, 25 * S, 30 * S};
    for (size_t i = 0; i < 6; i++) {
        b.t_ns = times[i];
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
    }
    samples_finish(w);
    /* the second begins at 0 and ends before 10 s; then 10 s up to 20 s, 20 up to 30, 30 */
    const uint32_t want[] = {65536, 2, 2, 2, 1};
    struct tape_reader *r = open_tape(s->path);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tape_reader_next(r, &c, &e), 1);
        assert_int_equal(c->count, want[i]);
    }
    assert_int_equal(tape_reader_next(r, &c, &e), 0);
    assert_int_equal(tape_reader_next(r, &c, &e), 0);
    tape_reader_close(r);
}

static void an_empty_tape_is_a_tape(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct block_chunk *c;
    samples_finish(samples_begin(s->path));
    struct tape_reader *r = open_tape(s->path);
    assert_int_equal(tape_reader_stream_count(r), 2);
    assert_int_equal(tape_reader_next(r, &c, &e), 0);
    assert_done(tape_reader_verify(r, &e), e);
    tape_reader_close(r);
}

static size_t slurp(const char *path, char **data)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    *data = malloc((size_t)st.st_size);
    assert_non_null(*data);
    assert_int_equal(fread(*data, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    return (size_t)st.st_size;
}

static void same_records_same_bytes(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    char *data[2];
    size_t len[2];
    for (int i = 0; i < 2; i++) {
        struct tape_writer *w = samples_begin(s->path);
        samples_add(w, 0, 30000, 1000000);
        /* record 3 has no latency; the rest of the tape follows */
        struct block_record b = samples_record(3, 1000000);
        assert_done(tape_writer_late(w, 3, b.stream, b.t_ns, 123456789, 0, &e), e);
        samples_add(w, 30000, 31000, 1000000);
        samples_finish(w);
        len[i] = slurp(s->path, &data[i]);
    }
    assert_int_equal(len[0], len[1]);
    assert_memory_equal(data[0], data[1], len[0]);
    free(data[0]);
    free(data[1]);
}

static void seek_finds_the_chunk(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct block_chunk *c;
    struct tape_writer *w = samples_begin(s->path);
    struct block_record b = {.len_bytes = 512, .latency_ns = 1};
    for (uint64_t t = 0; t < 100; t++) { /* a record each second: chunks of ten */
        b.t_ns = t * S;
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
    }
    samples_finish(w);
    struct tape_reader *r = open_tape(s->path);
    const struct {
        uint64_t t_ns, first;
    } cases[] = {{0, 0}, {9 * S, 0}, {9 * S + 1, 10}, {10 * S, 10}, {55 * S, 50}, {99 * S, 90}, {1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_done(tape_reader_seek(r, cases[i].t_ns, &e), e);
        assert_int_equal(tape_reader_next(r, &c, &e), 1);
        assert_int_equal(c->first, cases[i].first);
    }
    assert_done(tape_reader_seek(r, 99 * S + 1, &e), e);
    assert_int_equal(tape_reader_next(r, &c, &e), 0);
    tape_reader_close(r);
}

/* Streams and issuers that appear while recording; enough of them to need several members. */
static void dictionaries_grow(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    uint32_t id;
    char name[128];
    const struct block_chunk *c;
    struct tape_writer *w = samples_begin(s->path);
    for (uint32_t i = 3; i < 20000; i++) {
        snprintf(name, sizeof name, "process-%u-%050u", i, i);
        assert_done(tape_writer_issuer(w, name, &id, &e), e);
        assert_int_equal(id, i);
        struct block_record b = {.t_ns = i * 10000000ULL, .latency_ns = 1, .issuer = i};
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
    }
    struct tape_stream late = {.name = (char *)"hot-plugged"};
    assert_done(tape_writer_stream(w, &late, &id, &e), e);
    assert_int_equal(id, 2);
    samples_finish(w);
    struct tape_reader *r = open_tape(s->path);
    assert_int_equal(tape_reader_issuer_count(r), 20000);
    snprintf(name, sizeof name, "process-%u-%050u", 19999, 19999);
    assert_string_equal(tape_reader_issuer(r, 19999), name);
    assert_string_equal(tape_reader_stream(r, 2)->name, "hot-plugged");
    for (uint32_t n = 3; tape_reader_next(r, &c, &e) == 1;)
        for (uint32_t i = 0; i < c->count; i++)
            assert_int_equal(c->issuer[i], n++);
    tape_reader_close(r);
}

static void bad_records_are_refused(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w = samples_begin(s->path);
    struct block_record good = {.t_ns = 10, .latency_ns = 1}, b = good;
    assert_done(tape_writer_add(w, &b, NULL, &e), e);
    b.t_ns = 9;
    assert_int_equal(tape_writer_add(w, &b, NULL, &e), -EINVAL);
    b = good, b.stream = 2;
    assert_int_equal(tape_writer_add(w, &b, NULL, &e), -EINVAL);
    b = good, b.issuer = 3;
    assert_int_equal(tape_writer_add(w, &b, NULL, &e), -EINVAL);
    b = good, b.op = BLOCK_OPS;
    assert_int_equal(tape_writer_add(w, &b, NULL, &e), -EINVAL);
    b = good, b.flags = 1 << BLOCK_FLAGS;
    assert_int_equal(tape_writer_add(w, &b, NULL, &e), -EINVAL);
    assert_int_equal(tape_writer_records(w), 1);
    tape_writer_close(w, true);
    assert_int_equal(access(s->partial, F_OK), -1);
}

/* ---- identity ---- */

/* Sums of `xxhsum -H2` (xxHash's own tool) over the packed records, by Python's struct '<QQIBHQQ' and '<QQH'.
 */
static void identity_is_as_specified(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    char text[TAPE_IDENTITY_TEXT_BYTES];
    struct tape_writer *w = samples_begin(s->path);
    struct block_record a = {.t_ns = 1000,
            .op = BLOCK_WRITE,
            .flags = 2,
            .offset_bytes = 4096,
            .len_bytes = 512,
            .latency_ns = 777,
            .error = 5};
    struct block_record b = {.t_ns = 2000,
            .stream = 1,
            .offset_bytes = UINT64_MAX - 511,
            .len_bytes = UINT64_MAX,
            .latency_ns = TAPE_UNKNOWN};
    assert_done(tape_writer_add(w, &a, NULL, &e), e);
    assert_done(tape_writer_add(w, &b, NULL, &e), e);
    samples_finish(w);
    struct tape_reader *r = open_tape(s->path);
    assert_string_equal(tape_identity_name(&tape_reader_totals(r)->identity, text),
            "10658a4352cf5e40023f3085cdf90bd8-b4ea53ac7b6faeb9c49900ca6d698a13");
    tape_reader_close(r);
}

static struct tape_identity identity_of(const char *path)
{
    struct tape_reader *r = open_tape(path);
    struct tape_identity id = tape_reader_totals(r)->identity;
    tape_reader_close(r);
    return id;
}

/* Late or in time, in one chunk or in several, whatever label and names: the same work. */
static void identity_knows_only_the_work(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_info info = {.label = (char *)"another"};
    struct tape_stream stream = {.name = (char *)"sda"};
    struct tape_identity id[3];
    for (int i = 0; i < 3; i++) {
        struct tape_writer *w;
        uint32_t n;
        assert_done(tape_writer_open(&w, s->path, i ? &info : &(struct tape_info){0}, &e), e);
        assert_done(tape_writer_stream(w, &stream, &n, &e), e);
        assert_done(tape_writer_issuer(w, i ? "x" : "y", &n, &e), e);
        struct block_record a = {.t_ns = 5, .len_bytes = 512, .latency_ns = i == 1 ? TAPE_UNKNOWN : 15 * S};
        struct block_record b = {.t_ns = 30 * S, .len_bytes = 512, .latency_ns = i == 2 ? 8 : 7};
        assert_done(tape_writer_add(w, &a, NULL, &e), e);
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
        if (i == 1)
            assert_done(tape_writer_late(w, 0, 0, 5, 15 * S, 0, &e), e);
        samples_finish(w);
        id[i] = identity_of(s->path);
    }
    assert_true(tape_identity_equal(&id[0], &id[1]));
    assert_false(tape_identity_equal(&id[0], &id[2]));              /* a latency differs, */
    assert_memory_equal(id[0].work, id[2].work, sizeof id[0].work); /* the work does not */
}

static void kinds_are_told_apart(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    enum tape_kind kind;
    struct tape_reader *r;
    samples_finish(samples_begin(s->path));
    assert_done(tape_file_kind(s->path, &kind, &e), e);
    assert_int_equal(kind, TAPE_KIND_RECORDING);
    FILE *f = fopen(s->path, "w");
    assert_non_null(f);
    for (int i = 0; i < 1000; i++)
        fputs("fio version 3 iolog\n", f);
    fclose(f);
    assert_done(tape_file_kind(s->path, &kind, &e), e);
    assert_int_equal(kind, TAPE_KIND_NONE);
    assert_int_equal(tape_reader_open(&r, s->path, &e), -EINVAL);
    assert_non_null(strstr(e.text, "is no tape"));
    assert_done(tape_file_kind("/dev/null", &kind, &e), e);
    assert_int_equal(kind, TAPE_KIND_NONE);
    assert_int_equal(tape_file_kind(s->partial, &kind, &e), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, samples_setup, samples_teardown)
            TEST(every_field_comes_back),
            TEST(totals_are_those_of_the_records),
            TEST(chunks_close_by_count_and_time),
            TEST(an_empty_tape_is_a_tape),
            TEST(same_records_same_bytes),
            TEST(seek_finds_the_chunk),
            TEST(dictionaries_grow),
            TEST(bad_records_are_refused),
            TEST(identity_is_as_specified),
            TEST(identity_knows_only_the_work),
            TEST(kinds_are_told_apart),
    };
    return cmocka_run_group_tests_name("tape", tests, NULL, NULL);
}
