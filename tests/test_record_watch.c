/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A domain of libvirt's test driver, which lives in this process, is ended and begun.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <libvirt/libvirt.h>

#include "record/watch.h"

#define URI        "test:///default"
#define PATIENCE_S 60

/* Whether the next event says so. */
static bool told(struct watch *w, bool gone)
{
    const struct timespec step = {0, 50000000};
    struct watch_event event;
    for (int i = 0; i < PATIENCE_S * 20; i++) {
        if (watch_take(w, &event)) {
            guest_release(&event.guest);
            return event.domain == 0 && event.is_gone == gone;
        }
        nanosleep(&step, NULL);
    }
    return false;
}

static void goes_and_comes_back(void **state)
{
    (void)state;
    static const char *const names[] = {"test"};
    struct virt *virt;
    struct watch *w;
    struct err e = {0};
    if (virt_open(&virt, URI, &e) < 0)
        fail_msg("%s", e.text);
    virConnectPtr c = virConnectOpen(URI);
    virDomainPtr d = virDomainLookupByName(c, names[0]);
    assert_non_null(d);
    assert_int_equal(watch_open(&w, virt, names, 1, &e), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(virDomainDestroy(d), 0);
        assert_true(told(w, true));
        assert_int_equal(virDomainCreate(d), 0);
        assert_true(told(w, false));
    }
    assert_true(watch_close(w));
    virDomainFree(d);
    virConnectClose(c);
    virt_close(virt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(goes_and_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
