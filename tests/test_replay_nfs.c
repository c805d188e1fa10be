/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Parts of the NFS target that need no server: URLs, and the log of writes that are not committed.
 */
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/target/nfs_address.h"
#include "replay/target/nfs_log.h"

/* ---- URLs ---- */

static void good_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host, *dir, *file;
        uint64_t version, nfs_port, mount_port, connections, stable, uid, gid;
    } good[] = {
            {"nfs://h/f", "h", "/", "f", 3, 0, 0, 1, 0, NFS_OWN_ID, NFS_OWN_ID},
            {"nfs://10.0.0.5/a/b/c.img", "10.0.0.5", "/a/b", "c.img", 3, 0, 0, 1, 0, NFS_OWN_ID, NFS_OWN_ID},
            {"nfs://[fe80::1]/a//f?version=4", "fe80::1", "/a", "f", 4, 0, 0, 1, 0, NFS_OWN_ID, NFS_OWN_ID},
            {"nfs://h/a/f?nfsport=2049&mountport=20048&connections=8&stable=1&uid=0&gid=4294967295", "h",
                    "/a", "f", 3, 2049, 20048, 8, 1, 0, 4294967295u},
            /* An escaped question mark is no begin of a query. */
            {"nfs://h/a%20b/c%3Fd%25?uid=7", "h", "/a b", "c?d%", 3, 0, 0, 1, 0, 7, NFS_OWN_ID},
            {"nfs://h/a/f?", "h", "/a", "f", 3, 0, 0, 1, 0, NFS_OWN_ID, NFS_OWN_ID},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct nfs_address a;
        struct err e = {0};
        if (nfs_address_parse(&a, good[i].url, &e) < 0)
            fail_msg("%s: %s", good[i].url, e.text);
        assert_string_equal(a.host, good[i].host);
        assert_string_equal(a.dir, good[i].dir);
        assert_string_equal(a.file, good[i].file);
        assert_int_equal(a.version, good[i].version);
        assert_int_equal(a.nfs_port, good[i].nfs_port);
        assert_int_equal(a.mount_port, good[i].mount_port);
        assert_int_equal(a.connections, good[i].connections);
        assert_int_equal(a.stable, good[i].stable);
        assert_int_equal(a.uid, good[i].uid);
        assert_int_equal(a.gid, good[i].gid);
        nfs_address_release(&a);
    }
}

static void bad_urls(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "nfs:", "nfs://", "nfs://h", "nfs://h/", "nfs://h/a/", "nfs:///a/f",
            "http://h/a/f", "nfs://h:2049/a/f", "nfs://u@h/a/f", "nfs://[::1/a/f", "nfs://[]/a/f",
            "nfs://h/a/f%", "nfs://h/a/f%2", "nfs://h/a/f%zz", "nfs://h/a/f%00", "nfs://h/a/f?version=2",
            "nfs://h/a/f?version=5", "nfs://h/a/f?nfsport=0", "nfs://h/a/f?nfsport=65536",
            "nfs://h/a/f?connections=65", "nfs://h/a/f?uid=4294967296", "nfs://h/a/f?uid=-1",
            "nfs://h/a/f?stable=2", "nfs://h/a/f?stable", "nfs://h/a/f?stable=", "nfs://h/a/f?other=1",
            "nfs://h/a/f?&uid=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nfs_address a = {0};
        struct err e = {0};
        int r = nfs_address_parse(&a, bad[i], &e);
        if (r != -EINVAL && r != -ERANGE)
            fail_msg("'%s' gave %d", bad[i], r);
        assert_null(a.host);
        assert_non_null(strstr(e.text, bad[i]));
    }
}

/* ---- the log ---- */

static void log_keeps_order_and_copies(void **state)
{
    (void)state;
    struct nfs_log l = {0};
    char data[4] = "one";
    assert_int_equal(nfs_log_add(&l, 100, data, 4, false), 0);
    memcpy(data, "two", 4);
    assert_int_equal(nfs_log_add(&l, 100, data, 4, true), 0);
    assert_int_equal(nfs_log_add(&l, 50, data, 2, false), 0);
    assert_string_equal(l.first->data, "one");
    assert_false(l.first->stable);
    assert_string_equal(l.first->next->data, "two");
    assert_true(l.first->next->stable);
    assert_int_equal(l.first->next->offset_bytes, 100);
    assert_int_equal(l.last->len_bytes, 2);
    assert_int_equal(l.bytes, 3 * sizeof(struct nfs_log_entry) + 10);
    nfs_log_release(&l);
}

static void log_trims_what_is_committed(void **state)
{
    (void)state;
    struct nfs_log l = {0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(nfs_log_add(&l, 0, "x", 1, false), 0);
    nfs_log_trim(&l, 0);
    assert_int_equal(l.first->seq, 0);
    nfs_log_trim(&l, 3);
    assert_int_equal(l.first->seq, 3);
    assert_int_equal(l.bytes, 2 * (sizeof(struct nfs_log_entry) + 1));
    nfs_log_trim(&l, l.next_seq);
    assert_null(l.first);
    assert_null(l.last);
    assert_int_equal(l.bytes, 0);
    assert_int_equal(nfs_log_add(&l, 0, "x", 1, false), 0);
    assert_int_equal(l.last->seq, 5); /* never counted anew */
    assert_ptr_equal(l.first, l.last);
    nfs_log_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_urls), cmocka_unit_test(bad_urls),
            cmocka_unit_test(log_keeps_order_and_copies), cmocka_unit_test(log_trims_what_is_committed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
