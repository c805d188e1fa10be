/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Completions that come long after their arrival: found in their records when read, and standing in the file
 * before the first chunk that begins after them.
 */
#include "tests/tape_samples.h"

#include <errno.h>

#include "formats/container.h"

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

/* Record i arrives at i * 100 ms, so chunks hold 100 each; every tenth is given without latency. */
static void add(struct tape_writer *w, uint64_t from, uint64_t to)
{
    struct err e = {0};
    for (uint64_t i = from; i < to; i++) {
        struct block_record b = {.t_ns = i * 100 * MS,
                .len_bytes = 512,
                .offset_bytes = i * 4096,
                .stream = i % 2,
                .latency_ns = i % 10 ? 1000 + i : TAPE_UNKNOWN};
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
    }
}

static int late(struct tape_writer *w, uint64_t i, uint64_t latency_ns, struct err *e)
{
    return tape_writer_late(w, i, i % 2, i * 100 * MS, latency_ns, (uint16_t)(i % 7), e);
}

/* Member numbers of the members whose name begins with `prefix`. */
static size_t find_members(const char *path, const char *prefix, size_t *list, size_t max)
{
    struct err e = {0};
    struct container *c;
    size_t n = 0;
    assert_done(container_open(&c, path, &e), e);
    for (size_t i = 0; i < container_count(c); i++)
        if (strncmp(container_member(c, i)->name, prefix, strlen(prefix)) == 0 && n < max)
            list[n++] = i;
    container_close(c);
    return n;
}

static void completions_come_back(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct block_chunk *c;
    struct tape_writer *w = samples_begin(s->path);
    add(w, 0, 50);
    assert_done(late(w, 20, 3 * S, &e), e); /* in the chunk that is being filled */
    add(w, 50, 750);
    assert_done(late(w, 10, 70 * S, &e), e); /* seven chunks later */
    assert_done(late(w, 430, 21 * S, &e), e);
    assert_done(late(w, 400, 33 * S, &e), e);
    assert_done(late(w, 740, S / 2, &e), e);
    add(w, 750, 1000);
    assert_done(late(w, 990, 5, &e), e);
    samples_finish(w);

    struct tape_reader *r;
    assert_done(tape_reader_open(&r, s->path, &e), e);
    assert_done(tape_reader_verify(r, &e), e);
    uint64_t n = 0, open = 0;
    while (tape_reader_next(r, &c, &e) == 1) {
        for (uint32_t i = 0; i < c->count; i++, n++) {
            uint64_t want = n % 10     ? 1000 + n
                            : n == 20  ? 3 * S
                            : n == 10  ? 70 * S
                            : n == 430 ? 21 * S
                            : n == 400 ? 33 * S
                            : n == 740 ? S / 2
                            : n == 990 ? 5
                                       : TAPE_UNKNOWN;
            assert_int_equal(c->latency_ns[i], want);
            assert_int_equal(c->error[i], n % 10 || want == TAPE_UNKNOWN ? 0 : n % 7);
            open += want == TAPE_UNKNOWN;
        }
    }
    assert_int_equal(n, 1000);
    const struct tape_totals *t = tape_reader_totals(r);
    assert_int_equal(t->streams[0].open + t->streams[1].open, open);
    assert_int_equal(open, 100 - 6);
    /* A seek into the middle sees them too. */
    assert_done(tape_reader_seek(r, 43 * S, &e), e);
    assert_int_equal(tape_reader_next(r, &c, &e), 1);
    assert_int_equal(c->latency_ns[430 - c->first], 21 * S);
    tape_reader_close(r);
}

/* Told early, 430's completion at 64 s belongs before the chunk that begins at 70 s and not before that of 60
 * s. */
static void members_stand_where_they_belong(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    size_t blocks[16], lates[16];
    struct tape_writer *w = samples_begin(s->path);
    add(w, 0, 450);
    assert_done(late(w, 10, 39 * S, &e), e); /* completed at 40 s: before the chunk of 50 s */
    add(w, 450, 550);
    assert_done(late(w, 430, 21 * S, &e), e); /* chunk 4 is written, told in chunk 5 */
    add(w, 550, 1000);
    samples_finish(w);
    assert_int_equal(find_members(s->path, "block/", blocks, 16), 10);
    assert_int_equal(find_members(s->path, "late/", lates, 16), 2);
    assert_true(blocks[4] < lates[0] && lates[0] < blocks[5]);
    assert_true(blocks[6] < lates[1] && lates[1] < blocks[7]);
}

static void impossible_completions_are_refused(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w = samples_begin(s->path);
    add(w, 0, 250);
    assert_int_equal(late(w, 250, 5, &e), -EINVAL);           /* not there */
    assert_int_equal(late(w, 10, TAPE_UNKNOWN, &e), -EINVAL); /* says nothing */
    assert_int_equal(late(w, 241, 5, &e), -EINVAL);           /* had a latency from the start */
    assert_done(late(w, 240, 5, &e), e);
    assert_int_equal(late(w, 240, 5, &e), -EINVAL); /* twice */
    assert_done(late(w, 10, 5, &e), e);
    assert_done(
            late(w, 10, 5, &e), e); /* twice, of a chunk that is written: found when it is to be written */
    assert_int_equal(tape_writer_finish(w, "x", 0, &e), -EINVAL);
    tape_writer_close(w, true);
}

/* Cut off after the late members, the tape still has them. */
static void unfinished_tapes_have_them(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct block_chunk *c;
    struct tape_reader *r;
    struct tape_writer *w = samples_begin(s->path);
    add(w, 0, 450);
    assert_done(late(w, 10, 39 * S, &e), e);
    tape_writer_lost(w, 1, 3);
    tape_writer_lost(w, UINT32_MAX, 4);
    add(w, 450, 550);
    tape_writer_lost(w, 0, 9); /* after the last chunk: not known to an unfinished tape */
    tape_writer_close(w, false);
    assert_done(tape_reader_open(&r, s->partial, &e), e);
    const struct tape_totals *t = tape_reader_totals(r);
    assert_false(t->finished);
    assert_int_equal(t->records, 500);
    assert_int_equal(t->lost, 7);
    assert_int_equal(t->streams[0].lost, 0);
    assert_int_equal(t->streams[1].lost, 3);
    assert_int_equal(t->streams[0].open, 49); /* of records 0, 10, ... 490; all have even numbers */
    assert_int_equal(tape_reader_next(r, &c, &e), 1);
    assert_int_equal(c->latency_ns[10], 39 * S);
    assert_int_equal(c->latency_ns[20], TAPE_UNKNOWN);
    assert_done(tape_reader_verify(r, &e), e);
    tape_reader_close(r);
}

/* A stall of a deep queue: more completions than are held back. */
static void many_are_written_early(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct block_chunk *c;
    struct tape_reader *r;
    struct tape_writer *w = samples_begin(s->path);
    struct block_record b = {.len_bytes = 512, .latency_ns = TAPE_UNKNOWN};
    for (uint32_t i = 0; i < 200000; i++) {
        b.t_ns = i;
        assert_done(tape_writer_add(w, &b, NULL, &e), e);
        if (i >= 140000 && i < 270000)
            assert_done(tape_writer_late(w, i - 140000, 0, i - 140000, S + i, 0, &e), e);
    }
    samples_finish(w);
    assert_done(tape_reader_open(&r, s->path, &e), e);
    assert_done(tape_reader_verify(r, &e), e);
    for (uint64_t n = 0; tape_reader_next(r, &c, &e) == 1;)
        for (uint32_t i = 0; i < c->count; i++, n++)
            assert_int_equal(c->latency_ns[i], n < 60000 ? S + n + 140000 : TAPE_UNKNOWN);
    tape_reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, samples_setup, samples_teardown)
            TEST(completions_come_back),
            TEST(members_stand_where_they_belong),
            TEST(impossible_completions_are_refused),
            TEST(unfinished_tapes_have_them),
            TEST(many_are_written_early),
    };
    return cmocka_run_group_tests_name("late completions", tests, NULL, NULL);
}
