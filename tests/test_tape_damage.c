/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Damaged and cut-off tapes: a flipped bit anywhere is found and named, a tape cut anywhere is read to its
 * last whole chunk, a full disk leaves such a tape.
 */
#include "tests/tape_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "formats/base/sanitized.h"
#include "formats/container.h"
#include "formats/run.h"

/* Where each reader takes milliseconds, not every byte is tried. */
#define STRIDE (SANITIZED ? 11 : 1)

#define GAP_NS UINT64_C(100000000)

/* Three chunks and a late completion. */
static void write_tape(const char *path, bool finish)
{
    struct err e = {0};
    struct tape_writer *w = samples_begin(path);
    struct block_record b = samples_record(3, 7 * GAP_NS);
    samples_add(w, 0, 30, 7 * GAP_NS); /* chunks of about 14 */
    assert_done(tape_writer_late(w, 3, b.stream, b.t_ns, 10 * GAP_NS, 0, &e), e);
    samples_add(w, 30, 34, 7 * GAP_NS);
    if (finish)
        samples_finish(w);
    else
        tape_writer_close(w, false);
}

static struct container *map_of(const char *path)
{
    struct err e = {0};
    struct container *c;
    assert_done(container_open(&c, path, &e), e);
    return c;
}

/* Opens and verifies. */
static int check(const char *path, struct err *e)
{
    struct tape_reader *r;
    int bad = tape_reader_open(&r, path, e);
    if (bad)
        return bad;
    bad = tape_reader_verify(r, e);
    tape_reader_close(r);
    return bad;
}

/* Name and place of the member that byte `at` lies in; index and end are not in the list. */
static void owner(
        const struct container *c, const char *path, uint64_t at, uint64_t size, char *text, size_t len)
{
    const char *name = "index.msgpack";
    uint64_t offset = 0;
    for (size_t i = 0; i < container_count(c); i++) {
        const struct member *m = container_member(c, i);
        offset = m->offset_bytes + archive_span(m->size_bytes);
        if (at < offset) {
            name = m->name;
            offset = m->offset_bytes;
            break;
        }
    }
    if (at >= size - 2048) { /* header, body, and the trailer's two blocks */
        name = "end.msgpack";
        offset = size - 2048;
    }
    snprintf(text, len, "%s: member '%s' at byte %llu: ", path, name, (unsigned long long)offset);
}

static void every_flipped_bit_is_named(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct stat st;
    char want[256];
    write_tape(s->path, true);
    assert_done(check(s->path, &e), e); /* the control: undamaged, it is accepted */
    struct container *c = map_of(s->path);
    assert_int_equal(container_count(c), 6); /* description, dictionary, three chunks, a late completion */
    int fd = open(s->path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 0; at < st.st_size; at += STRIDE) {
        uint8_t byte, flipped;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        owner(c, s->path, (uint64_t)at, (uint64_t)st.st_size, want, sizeof want);
        for (int bit = SANITIZED ? (int)(at % 8) : 0; bit < 8; bit += SANITIZED ? 8 : 1) {
            flipped = byte ^ (uint8_t)(1 << bit);
            assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
            e = (struct err){0};
            if (check(s->path, &e) >= 0)
                fail_msg("bit %d of byte %lld flipped: accepted", bit, (long long)at);
            if (strncmp(e.text, want, strlen(want)) != 0)
                fail_msg("bit %d of byte %lld flipped: '%s', not '%s...'", bit, (long long)at, e.text, want);
        }
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    container_close(c);
    assert_done(check(s->path, &e), e);
}

/* What is not covered by a digest when the index is missing is covered by its own: headers, seals, zstd's
 * checksum. */
static void flipped_bits_of_unfinished_tapes(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct stat st;
    write_tape(s->path, false);
    assert_done(check(s->partial, &e), e);
    int fd = open(s->partial, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 0; at < st.st_size; at += 3 * STRIDE) {
        uint8_t byte, flipped;
        int bit = (int)(at * 5 % 8);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        flipped = byte ^ (uint8_t)(1 << bit);
        assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
        if (check(s->partial, &e) >= 0)
            fail_msg("bit %d of byte %lld flipped: accepted", bit, (long long)at);
        if (!strstr(e.text, s->partial) || (at >= 512 && !strstr(e.text, ": member '")) ||
                !strstr(e.text, "byte"))
            fail_msg("bit %d of byte %lld flipped: '%s'", bit, (long long)at, e.text);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
}

/* Records of the whole chunks before byte `size`. */
static uint64_t whole_records(const struct container *c, uint64_t size)
{
    uint64_t n = 0;
    for (size_t i = 0; i < container_count(c); i++) {
        const struct member *m = container_member(c, i);
        if (m->offset_bytes + archive_span(m->size_bytes) <= size && strncmp(m->name, "block/", 6) == 0)
            n += m->extent.count;
    }
    return n;
}

static void cut_anywhere_is_readable(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct stat st;
    write_tape(s->path, true);
    struct container *c = map_of(s->path);
    uint64_t head = archive_span(container_member(c, 0)->size_bytes);
    assert_int_equal(stat(s->path, &st), 0);
    for (off_t size = st.st_size - 1; size >= 0; size -= STRIDE) {
        struct tape_reader *r;
        const struct block_chunk *b;
        uint64_t n = 0;
        assert_int_equal(truncate(s->path, size), 0);
        int bad = tape_reader_open(&r, s->path, &e);
        if ((uint64_t)size < head) { /* not even its description is there */
            assert_true(bad < 0 && strstr(e.text, s->path));
            continue;
        }
        assert_done(bad, e);
        assert_false(tape_reader_totals(r)->finished);
        while ((bad = tape_reader_next(r, &b, &e)) == 1)
            n += b->count;
        assert_done(bad, e);
        assert_int_equal(n, whole_records(c, (uint64_t)size));
        assert_int_equal(tape_reader_totals(r)->records, n);
        tape_reader_close(r);
    }
    container_close(c);
}

/* What a file system may leave where a machine died: a tail of zeros. */
static void a_tail_of_zeros_is_no_damage(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct stat st;
    struct tape_reader *r;
    write_tape(s->path, false);
    assert_int_equal(stat(s->partial, &st), 0);
    assert_done(tape_reader_open(&r, s->partial, &e), e);
    uint64_t records = tape_reader_totals(r)->records;
    assert_true(records > 20);
    tape_reader_close(r);
    assert_int_equal(truncate(s->partial, st.st_size + 100000), 0);
    assert_done(tape_reader_open(&r, s->partial, &e), e);
    assert_int_equal(tape_reader_totals(r)->records, records);
    tape_reader_close(r);
    assert_int_equal(truncate(s->partial, st.st_size), 0);
    FILE *f = fopen(s->partial, "a");
    assert_non_null(f);
    for (int i = 0; i < 2000; i++)
        fputc('x', f);
    fclose(f);
    assert_int_equal(tape_reader_open(&r, s->partial, &e), -EBADMSG); /* anything else is */
}

/* A finished tape with something behind it is not finished, and not sound. */
static void appended_bytes_are_damage(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct stat st;
    write_tape(s->path, true);
    assert_int_equal(stat(s->path, &st), 0);
    for (off_t more = 1; more < 5000; more += 511) {
        assert_int_equal(truncate(s->path, st.st_size + more), 0);
        assert_int_equal(check(s->path, &e), -EBADMSG);
        assert_non_null(strstr(e.text, "member 'end.msgpack'"));
    }
}

/* A file that may not grow further (RLIMIT_FSIZE) stands for a full disk: write() fails after a part. */
static void a_full_disk_leaves_whole_chunks(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct rlimit old, small;
    struct tape_reader *r;
    struct stat st;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct tape_writer *w = samples_begin(s->path);
    samples_add(w, 0, 150, GAP_NS); /* one chunk is written */
    uint64_t before = tape_writer_bytes(w);
    small = (struct rlimit){before + 1000, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int bad = 0;
    for (uint64_t i = 150; i < 400 && !bad; i++) {
        struct block_record b = samples_record(i, GAP_NS);
        bad = tape_writer_add(w, &b, NULL, &e);
    }
    assert_int_equal(bad, -EFBIG);
    assert_non_null(strstr(e.text, s->partial));
    assert_non_null(strstr(e.text, "cannot write block/00000001.msgpack.zst"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_true(tape_writer_finish(w, "x", 0, &e) < 0); /* what failed once is not called finished later */
    tape_writer_close(w, false);
    assert_int_equal(stat(s->partial, &st), 0);
    assert_int_equal(st.st_size, before); /* cut back to the last whole member */
    assert_int_equal(access(s->path, F_OK), -1);
    assert_done(tape_reader_open(&r, s->partial, &e), e);
    assert_int_equal(tape_reader_totals(r)->records, 100);
    tape_reader_close(r);
}

/* A device without space says so at once (ENOSPC). */
static void the_error_of_a_full_disk_is_kept(void **state)
{
    struct err e = {0};
    struct archive_out *a;
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        skip();
    assert_done(archive_out_open(&a, fd, &e), e);
    assert_true(archive_out_add(a, "x", "y", 1, &e) < 0);
    archive_out_close(a);
    close(fd);
}

static void a_partial_that_is_there_is_kept(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct tape_writer *w;
    struct tape_info info = {0};
    FILE *f = fopen(s->partial, "w");
    assert_non_null(f);
    fputs("dear", f);
    fclose(f);
    assert_int_equal(tape_writer_open(&w, s->path, &info, &e), -EEXIST);
    assert_non_null(strstr(e.text, "exists: it is unfinished"));
    f = fopen(s->partial, "r");
    assert_non_null(f);
    assert_int_equal(fgetc(f), 'd');
    fclose(f);
}

int main(void)
{
    mallopt(M_TRIM_THRESHOLD, 64 << 20); /* tens of thousands of readers are opened */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, samples_setup, samples_teardown)
            TEST(every_flipped_bit_is_named),
            TEST(flipped_bits_of_unfinished_tapes),
            TEST(cut_anywhere_is_readable),
            TEST(a_tail_of_zeros_is_no_damage),
            TEST(appended_bytes_are_damage),
            TEST(a_full_disk_leaves_whole_chunks),
            TEST(the_error_of_a_full_disk_is_kept),
            TEST(a_partial_that_is_there_is_kept),
    };
    return cmocka_run_group_tests_name("damaged tapes", tests, NULL, NULL);
}
