/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table of long open I/Os, against a plain list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/stalled.h"

#define KEYS 600

static struct captured io(uint64_t id, uint64_t t_ns, uint32_t stream)
{
    return (struct captured){.id = id, .r = {.t_ns = t_ns, .stream = stream}};
}

/* Addresses as the kernel gives them, a few times and streams each. */
static struct captured numbered(size_t i)
{
    return io(UINT64_C(0xffff888100000000) + i / 4 * 256, 1000 + i % 4 / 2, i % 2);
}

static void finds_what_it_holds(void **state)
{
    (void)state;
    struct stalled t = {0};
    bool holds[KEYS] = {false};
    size_t count = 0;
    srandom(2);
    for (int step = 0; step < 100000; step++) {
        size_t i = (size_t)random() % KEYS;
        struct captured c = numbered(i);
        struct stall *s = stalled_find(&t, &c);
        assert_int_equal(s != NULL, holds[i]);
        if (s) {
            assert_int_equal(s->written.first, i);
            stalled_drop(&t, s);
            count--;
        } else {
            s = stalled_note(&t, &c);
            assert_non_null(s);
            s->written.first = i;
            count++;
        }
        holds[i] = !holds[i];
        assert_int_equal(t.count, count);
    }
    stalled_release(&t);
    assert_int_equal(t.count, 0);
}

static void tells_reused_addresses_apart(void **state)
{
    (void)state;
    struct stalled t = {0};
    struct captured first = io(64, 5, 0), again = io(64, 6, 0), other = io(64, 5, 1);
    stalled_note(&t, &first);
    assert_non_null(stalled_find(&t, &first));
    assert_null(stalled_find(&t, &again));
    assert_null(stalled_find(&t, &other));
    stalled_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(finds_what_it_holds),
            cmocka_unit_test(tells_reused_addresses_apart),
    };
    return cmocka_run_group_tests_name("record_stalled", tests, NULL, NULL);
}
