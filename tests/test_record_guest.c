/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Domains' descriptions as libvirt writes them (https://libvirt.org/formatdomain.html): what becomes a
 * stream, and what is said of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/guest.h"

static struct guest parse(const char *devices)
{
    char xml[8192];
    struct guest g = {0};
    struct err e = {0};
    snprintf(xml, sizeof xml, "<domain><name>x</name><devices>%s</devices></domain>", devices);
    if (guest_of_xml(xml, NULL, &g, &e) != 0)
        fail_msg("%s", e.text);
    return g;
}

static void takes_disks(void **state)
{
    (void)state;
    struct guest g =
            parse("<disk type='block' device='disk'><driver name='qemu' type='raw' cache='none' io='native'/>"
                  "<source dev='/dev/vg/a'/><target dev='vda' bus='virtio'/></disk>"
                  "<disk type='file' device='cdrom'><target dev='sda' bus='sata'/><readonly/></disk>"
                  "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='/i/top'/>"
                  "<backingStore type='file'><format type='qcow2'/><source file='/i/mid'/>"
                  "<backingStore type='block'><format type='raw'/><source dev='/dev/base'/><backingStore/>"
                  "</backingStore></backingStore><target dev='vdb' bus='scsi'/></disk>");
    assert_int_equal(g.disk_count, 4);
    assert_string_equal(g.disks[0].name, "vda");
    assert_int_equal(g.disks[0].is, STREAM_DISK);
    assert_string_equal(g.disks[0].path, "/dev/vg/a");
    assert_string_equal(facts_get(&g.disks[0].facts, "guest_cache"), "none");
    assert_string_equal(facts_get(&g.disks[0].facts, "guest_aio"), "native");
    assert_string_equal(facts_get(&g.disks[0].facts, "guest_bus"), "virtio");
    assert_string_equal(g.disks[1].name, "vdb");
    assert_int_equal(g.disks[1].is, STREAM_FILE);
    assert_string_equal(g.disks[2].name, "vdb.base1");
    assert_string_equal(facts_get(&g.disks[2].facts, "guest_format"), "qcow2");
    assert_string_equal(g.disks[3].name, "vdb.base2");
    assert_int_equal(g.disks[3].is, STREAM_DISK);
    assert_int_equal(g.note_count, 2); /* vdb: its format, and the page cache that it goes through */
    assert_non_null(strstr(g.notes[0], "qcow2"));
    assert_non_null(strstr(g.notes[1], "page cache"));
    guest_release(&g);
}

static void says_what_is_not_seen(void **state)
{
    (void)state;
    static const char *const disks[] = {
            "network", "nvme", "vhostuser", "vhostvdpa", "volume", "dir", "later"};
    static const char *const nets[] = {"hostdev", "vdpa", "vhostuser", "user"};
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++) {
        char xml[256];
        snprintf(xml, sizeof xml,
                "<disk type='%s'><source protocol='rbd' name='p/i'/><target dev='vda'/></disk>", disks[i]);
        struct guest g = parse(xml);
        assert_int_equal(g.disk_count, 0);
        assert_int_equal(g.note_count, 1);
        assert_memory_equal(g.notes[0], "vda ", 4);
        guest_release(&g);
    }
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        char xml[256];
        snprintf(xml, sizeof xml, "<interface type='%s'><alias name='net0'/></interface>", nets[i]);
        struct guest g = parse(xml);
        assert_int_equal(g.net_count, 0);
        assert_int_equal(g.note_count, 1);
        assert_memory_equal(g.notes[0], "net0 ", 5);
        guest_release(&g);
    }
}

/* A pool whose volumes are files, or devices where their names say so. */
static int find(void *self, const char *pool, const char *volume, char **path, bool *is_device)
{
    (void)self;
    if (strcmp(pool, "images") != 0)
        return -2;
    *is_device = strncmp(volume, "lv", 2) == 0;
    return asprintf(path, "/pool/%s", volume) < 0 ? -12 : 0;
}

static void takes_volumes(void **state)
{
    (void)state;
    static const char xml[] =
            "<domain><devices>"
            "<disk type='volume'><driver name='qemu' type='qcow2' cache='none'/>"
            "<source pool='images' volume='web.qcow2'/><target dev='vda'/></disk>"
            "<disk type='volume'><source pool='images' volume='lv0'/><target dev='vdb'/></disk>"
            "<disk type='volume'><source pool='rbd' volume='x'/><target dev='vdc'/></disk>"
            "<disk type='volume'><source pool='images'/><target dev='vdd'/></disk>"
            "</devices></domain>";
    const struct guest_volumes volumes = {find, NULL};
    struct guest g = {0};
    struct err e = {0};
    assert_int_equal(guest_of_xml(xml, &volumes, &g, &e), 0);
    assert_int_equal(g.disk_count, 2);
    assert_string_equal(g.disks[0].path, "/pool/web.qcow2");
    assert_int_equal(g.disks[0].is, STREAM_FILE);
    assert_string_equal(facts_get(&g.disks[0].facts, "guest_format"), "qcow2");
    assert_string_equal(g.disks[1].path, "/pool/lv0");
    assert_int_equal(g.disks[1].is, STREAM_DISK);
    assert_int_equal(g.note_count, 4); /* vda's format; vdb's page cache; vdc and vdd, which are not found */
    assert_non_null(strstr(g.notes[2], "vdc is a volume"));
    assert_non_null(strstr(g.notes[3], "vdd is a volume"));
    guest_release(&g);
}

static void takes_interfaces(void **state)
{
    (void)state;
    struct guest g = parse("<interface type='bridge'><target dev='vnet3'/><alias name='net0'/></interface>"
                           "<interface type='network'><target dev='vnet4'/></interface>");
    assert_int_equal(g.net_count, 2);
    assert_string_equal(g.nets[0].name, "net0");
    assert_string_equal(g.nets[0].interface, "vnet3");
    assert_string_equal(g.nets[1].name, "net1");
    guest_release(&g);
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "<", "<pool/>", "no xml", "<domain><devices>",
            "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
            "<domain><devices><disk type='file'><source file='/x'/></disk></devices></domain>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct guest g = {0};
        struct err e = {0};
        assert_true(guest_of_xml(bad[i], NULL, &g, &e) < 0);
        assert_int_not_equal(e.text[0], '\0');
        guest_release(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_disks), cmocka_unit_test(says_what_is_not_seen),
            cmocka_unit_test(takes_volumes), cmocka_unit_test(takes_interfaces),
            cmocka_unit_test(refuses_what_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
