/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The container by itself: canonical tar headers, its fixed end, bounds, hostile indexes.
 */
#include "tests/tape_samples.h"

#include <errno.h>
#include <fcntl.h>

#include "formats/container.h"
#include "formats/container_end.h"
#include "formats/digest.h"

/* POSIX.1-2008 (pax, "ustar Interchange Format"): where the fields are. */
static void headers_are_ustar(void **state)
{
    (void)state;
    struct err e = {0};
    uint8_t block[ARCHIVE_BLOCK];
    unsigned sum = 0;
    assert_done(archive_header_encode("late/000001.msgpack.zst", 01234567, block, &e), e);
    assert_string_equal((char *)block, "late/000001.msgpack.zst");
    assert_memory_equal(block + 100, "000644 ", 7);       /* mode */
    assert_memory_equal(block + 108, "000000 ", 7);       /* owner */
    assert_memory_equal(block + 124, "00001234567 ", 12); /* size */
    assert_memory_equal(block + 136, "00000000000 ", 12); /* time */
    assert_int_equal(block[156], '0');                    /* a regular file */
    assert_memory_equal(block + 257,
            "ustar\0"
            "00",
            8);
    for (size_t i = 0; i < sizeof block; i++)
        sum += i >= 148 && i < 156 ? ' ' : block[i];
    assert_int_equal(strtoul((char *)block + 148, NULL, 8), sum);
}

static void headers_are_canonical(void **state)
{
    (void)state;
    struct err e = {0};
    uint8_t block[ARCHIVE_BLOCK];
    char name[ARCHIVE_NAME_BYTES];
    uint64_t size;
    assert_done(archive_header_encode("block/00000000.msgpack.zst", 99999, block, &e), e);
    assert_done(archive_header_decode(block, name, &size, &e), e);
    assert_string_equal(name, "block/00000000.msgpack.zst");
    assert_int_equal(size, 99999);
    for (size_t bit = 0; bit < 8 * sizeof block; bit++) {
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(archive_header_decode(block, name, &size, &e), -EBADMSG);
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void the_end_has_a_fixed_size(void **state)
{
    (void)state;
    struct err e = {0};
    const struct container_end ends[] = {{0, 0, 0}, {UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < 2; i++) {
        struct bytes b = {0};
        assert_done(container_end_pack(&ends[i], &b, &e), e);
        assert_int_equal(b.len, CONTAINER_END_SIZE);
        bytes_release(&b);
    }
}

/* A file with one member and then what a test puts into the index. */
struct forgery {
    uint64_t offset, size; /* as the index has them */
    const char *name;
    bool digest;
};

static void add_raw(struct archive_out *a, const char *name, struct bytes *b)
{
    struct err e = {0};
    assert_done(archive_out_add(a, name, b->data, b->len, &e), e);
}

static void forge(const char *path, const struct forgery *f)
{
    struct err e = {0};
    struct archive_out *a;
    struct bytes first = {0}, index = {0}, last = {0};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_done(archive_out_open(&a, fd, &e), e);
    assert_done(bytes_append(&first, "\x80", 1, &e), e);
    add_raw(a, CONTAINER_FIRST, &first);
    struct container_end end = {.index_offset_bytes = archive_out_bytes(a)};
    struct packer p = {.out = &index};
    pack_map(&p, 3);
    pack_str(&p, "members");
    pack_array(&p, 1);
    pack_array(&p, 8);
    pack_str(&p, f->name);
    pack_uint(&p, f->offset);
    pack_uint(&p, f->size);
    pack_uint(&p, digest64(first.data, first.len) + !f->digest);
    for (int i = 0; i < 4; i++)
        pack_uint(&p, 0);
    pack_str(&p, "totals");
    pack_map(&p, 0);
    pack_seal(&p);
    end.index_size_bytes = index.len;
    end.index_digest = digest64(index.data, index.len);
    add_raw(a, CONTAINER_INDEX, &index);
    assert_done(container_end_pack(&end, &last, &e), e);
    add_raw(a, CONTAINER_END, &last);
    assert_done(archive_out_finish(a, &e), e);
    archive_out_close(a);
    close(fd);
    bytes_release(&first);
    bytes_release(&index);
    bytes_release(&last);
}

/* Opens and reads the first member: 0 or the failure. */
static int try(const char *path, struct err *e)
{
    struct container *c;
    struct bytes buf = {0};
    const uint8_t *body;
    int r = container_open(&c, path, e);
    if (r < 0)
        return r;
    r = container_read(c, 0, &buf, &body, e);
    bytes_release(&buf);
    container_close(c);
    return r;
}

static void hostile_indexes_are_refused(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    const struct forgery good = {0, 1, CONTAINER_FIRST, true};
    const struct forgery bad[] = {{512, 1, CONTAINER_FIRST, true}, {0, 1 << 20, CONTAINER_FIRST, true},
            {0, UINT64_MAX, CONTAINER_FIRST, true}, {0, UINT64_MAX - 511, CONTAINER_FIRST, true},
            {UINT64_MAX, 1, CONTAINER_FIRST, true}, {0, 2, CONTAINER_FIRST, true},
            {0, 1, "iotape.msgpacc", true}, {0, 1, CONTAINER_FIRST, false},
            {0, 1, "a-name-of-sixty-four-bytes-is-longer-than-what-any-member-has-now", true}};
    forge(s->path, &good);
    assert_done(try(s->path, &e), e);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        forge(s->path, &bad[i]);
        assert_int_equal(try(s->path, &e), -EBADMSG);
        assert_non_null(strstr(e.text, s->path));
    }
}

static void members_are_bounded(void **state)
{
    struct samples *s = *state;
    struct err e = {0};
    struct container_writer *w;
    struct container *c;
    struct bytes big = {0};
    assert_done(bytes_reserve(&big, CONTAINER_MEMBER_MAX + 1, &e), e);
    memset(big.data, 0, CONTAINER_MEMBER_MAX + 1);
    big.len = CONTAINER_MEMBER_MAX + 1;
    assert_done(container_create(&w, s->path, &e), e);
    assert_int_equal(container_add(w, CONTAINER_FIRST, &big, NULL, &e), -EFBIG);
    container_writer_close(w, true);
    /* A header that announces more than that, in a file that is shorter. */
    FILE *f = fopen(s->path, "wb");
    uint8_t block[ARCHIVE_BLOCK];
    assert_non_null(f);
    assert_done(archive_header_encode(CONTAINER_FIRST, CONTAINER_MEMBER_MAX + 1, block, &e), e);
    assert_int_equal(fwrite(block, sizeof block, 1, f), 1);
    fclose(f);
    assert_int_equal(container_open(&c, s->path, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "above the limit"));
    bytes_release(&big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, samples_setup, samples_teardown)
            TEST(headers_are_ustar),
            TEST(headers_are_canonical),
            TEST(the_end_has_a_fixed_size),
            TEST(hostile_indexes_are_refused),
            TEST(members_are_bounded),
    };
    return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
