/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sorting by arrival behind a watermark, against qsort of the same I/Os.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/release.h"

#define MANY 20000

struct seen {
    uint64_t t_ns[MANY], id[MANY];
    size_t count, fail_at;
};

static int see(void *self, const struct captured *c, struct err *e)
{
    struct seen *s = self;
    if (s->fail_at && s->count + 1 == s->fail_at)
        return err_set(e, 28, "full");
    s->t_ns[s->count] = c->r.t_ns;
    s->id[s->count++] = c->id;
    return 0;
}

static int put(struct release *r, uint64_t id, uint64_t t_ns)
{
    struct captured c = {.id = id, .r = {.t_ns = t_ns}};
    return release_put(r, &c, NULL);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Times within `span` ns in random order come out as qsort has them. */
static void check_sorted(uint64_t span)
{
    static struct seen seen;
    static uint64_t wanted[MANY];
    struct release *r;
    seen = (struct seen){.count = 0};
    assert_int_equal(release_open(&r, NULL), 0);
    srandom(1);
    for (size_t i = 0; i < MANY; i++) {
        wanted[i] = (uint64_t)(((unsigned __int128)random() << 33 | (uint64_t)random() << 2) % span);
        assert_int_equal(put(r, i, wanted[i]), 1);
    }
    qsort(wanted, MANY, sizeof wanted[0], by_number);
    struct source_sink sink = {see, &seen};
    /* A third first: what is above the watermark stays. */
    uint64_t third = wanted[MANY / 3];
    assert_int_equal(release_until(r, third, &sink, NULL), 0);
    for (size_t i = 0; i < seen.count; i++)
        assert_true(seen.t_ns[i] < third);
    assert_int_equal(release_waiting(r), MANY - seen.count);
    assert_int_equal(release_until(r, UINT64_MAX, &sink, NULL), 0);
    assert_int_equal(seen.count, MANY);
    assert_memory_equal(seen.t_ns, wanted, sizeof wanted);
    assert_int_equal(release_waiting(r), 0);
    release_close(r);
}

static void sorts_by_arrival(void **state)
{
    (void)state;
    check_sorted(1);                    /* all at once */
    check_sorted(1000);                 /* one digit, many equal */
    check_sorted(UINT64_C(3000000000)); /* three seconds */
    check_sorted(UINT64_C(1) << 62);    /* every digit */
}

static void equal_times_keep_their_order(void **state)
{
    (void)state;
    static struct seen seen;
    seen = (struct seen){.count = 0};
    struct release *r;
    assert_int_equal(release_open(&r, NULL), 0);
    for (uint64_t i = 0; i < 1000; i++)
        put(r, i, i % 2 ? 5000 : 7000);
    struct source_sink sink = {see, &seen};
    assert_int_equal(release_until(r, UINT64_MAX, &sink, NULL), 0);
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(seen.id[i], 2 * i + 1);
        assert_int_equal(seen.id[500 + i], 2 * i);
    }
    release_close(r);
}

/* What comes for before the watermark is refused, and what was written stays in order. */
static void refuses_what_is_too_old(void **state)
{
    (void)state;
    static struct seen seen;
    seen = (struct seen){.count = 0};
    struct release *r;
    struct source_sink sink = {see, &seen};
    assert_int_equal(release_open(&r, NULL), 0);
    assert_int_equal(put(r, 1, 100), 1);
    assert_int_equal(release_until(r, 200, &sink, NULL), 0);
    assert_int_equal(put(r, 2, 199), 0);
    assert_int_equal(put(r, 3, 200), 1);
    assert_int_equal(release_until(r, 150, &sink, NULL), 0); /* going back changes nothing */
    assert_int_equal(put(r, 4, 160), 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(release_until(r, 201, &sink, NULL), 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.id[1], 3);
    release_close(r);
}

static void passes_on_a_failure(void **state)
{
    (void)state;
    static struct seen seen;
    seen = (struct seen){.fail_at = 3};
    struct release *r;
    struct err e = {0};
    struct source_sink sink = {see, &seen};
    assert_int_equal(release_open(&r, NULL), 0);
    for (uint64_t i = 0; i < 5; i++)
        put(r, i, i);
    assert_int_equal(release_until(r, 5, &sink, &e), -28);
    assert_string_equal(e.text, "full");
    release_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(sorts_by_arrival),
            cmocka_unit_test(equal_times_keep_their_order),
            cmocka_unit_test(refuses_what_is_too_old),
            cmocka_unit_test(passes_on_a_failure),
    };
    return cmocka_run_group_tests_name("record_release", tests, NULL, NULL);
}
