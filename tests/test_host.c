/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a host and its disks say about themselves, with real loop devices and partitions where the test
 * may make them (root).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/host.h"
#include "formats/host_sys.h"

#define MIB (UINT64_C(1) << 20)
#define SKIP(reason)                                                                                         \
    do {                                                                                                     \
        print_message("# skipped: " reason "\n");                                                            \
        skip();                                                                                              \
    } while (0)

static const uint8_t salt[16] = "0123456789abcdef";

/* A file of 8 MiB, and a loop device over it from 1 MiB on. */
struct loop_fixture {
    char file[64], device[64], partition[72];
    int fd;
};

static void file_make(char path[64])
{
    int fd;

    strcpy(path, "/dev/shm/iotape-host.XXXXXX");
    fd = mkstemp(path);
    if (fd < 0) {
        strcpy(path, "/tmp/iotape-host.XXXXXX");
        fd = mkstemp(path);
    }
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 8 * MIB), 0);
    close(fd);
}

static bool loop_make(struct loop_fixture *l, uint64_t offset_bytes)
{
    CLEANUP_FD int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    CLEANUP_FD int backing = -1;
    struct loop_config config = {.info.lo_offset = offset_bytes};

    file_make(l->file);
    backing = open(l->file, O_RDWR | O_CLOEXEC);
    config.fd = (uint32_t)backing;
    for (int attempt = 0; control >= 0 && attempt < 20; attempt++) {
        int n = ioctl(control, LOOP_CTL_GET_FREE);
        if (n < 0)
            break;
        snprintf(l->device, sizeof l->device, "/dev/loop%d", n);
        l->fd = open(l->device, O_RDWR | O_CLOEXEC);
        if (l->fd >= 0 && ioctl(l->fd, LOOP_CONFIGURE, &config) == 0)
            return true;
        if (l->fd >= 0)
            close(l->fd);
        usleep(10000); /* someone else took it */
    }
    unlink(l->file);
    return false;
}

static void loop_remove(struct loop_fixture *l)
{
    ioctl(l->fd, LOOP_CLR_FD, 0);
    close(l->fd);
    unlink(l->file);
}

/* The kernel's table gets a partition; nothing is written. */
static int partition_change(int fd, int op, uint64_t start_bytes, uint64_t size_bytes)
{
    struct blkpg_partition p = {.start = (long long)start_bytes, .length = (long long)size_bytes, .pno = 1};
    struct blkpg_ioctl_arg arg = {.op = op, .datalen = sizeof p, .data = &p};

    return ioctl(fd, BLKPG, &arg);
}

static struct disk_place place_of(const char *path)
{
    struct disk_place p;
    struct err e = {0};

    if (disk_place_of(path, &p, &e) != 0)
        fail_msg("%s", e.text);
    return p;
}

/* A regular file is a disk of its own, named by device and inode. */
static void place_of_file(void **state)
{
    char path[64], id[64];
    struct stat st;
    struct disk_place p;

    (void)state;
    file_make(path);
    p = place_of(path);
    assert_int_equal(stat(path, &st), 0);
    snprintf(id, sizeof id, "file:%u:%u:%llu", major(st.st_dev), minor(st.st_dev),
            (unsigned long long)st.st_ino);
    assert_string_equal(p.id, id);
    assert_int_equal(p.start_bytes, 0);
    assert_int_equal(p.size_bytes, 8 * MIB);
    assert_false(p.is_block);
    assert_true(p.sector_bytes >= 512 && p.physical_sector_bytes >= p.sector_bytes);
    unlink(path);
}

/* A loop device, a partition of it and its backing file are one disk; each says where on it it begins. */
static void place_of_loop(void **state)
{
    struct loop_fixture l;
    struct disk_place file, loop, partition;

    (void)state;
    if (!loop_make(&l, MIB))
        SKIP("needs root and a free loop device");
    file = place_of(l.file);
    loop = place_of(l.device);
    assert_string_equal(loop.id, file.id);
    assert_int_equal(loop.start_bytes, MIB);
    assert_int_equal(loop.size_bytes, 7 * MIB);
    assert_int_equal(loop.sector_bytes, 512);
    assert_true(loop.is_block);

    assert_int_equal(partition_change(l.fd, BLKPG_ADD_PARTITION, 2 * MIB, 3 * MIB), 0);
    snprintf(l.partition, sizeof l.partition, "%sp1", l.device);
    for (int i = 0; i < 100 && access(l.partition, F_OK) != 0; i++)
        usleep(10000);
    partition = place_of(l.partition);
    partition_change(l.fd, BLKPG_DEL_PARTITION, 0, 0);
    loop_remove(&l);
    assert_string_equal(partition.id, file.id);
    assert_int_equal(partition.start_bytes, 3 * MIB);
    assert_int_equal(partition.size_bytes, 3 * MIB);
    assert_int_not_equal(partition.device, loop.device);
}

/* Two files are two disks, also behind loop devices. */
static void other_disks_differ(void **state)
{
    struct loop_fixture a, b;
    struct disk_place pa, pb;

    (void)state;
    if (!loop_make(&a, 0))
        SKIP("needs root and a free loop device");
    if (!loop_make(&b, 0)) {
        loop_remove(&a);
        SKIP("needs two free loop devices");
    }
    pa = place_of(a.device);
    pb = place_of(b.device);
    loop_remove(&a);
    loop_remove(&b);
    assert_string_not_equal(pa.id, pb.id);
}

static void place_refusals(void **state)
{
    struct disk_place p = {.size_bytes = 7};
    struct err e = {0};

    (void)state;
    assert_int_equal(disk_place_of("/nonexistent/x", &p, &e), -ENOENT);
    assert_non_null(strstr(e.text, "/nonexistent/x"));
    assert_int_equal(disk_place_of("/dev/null", &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "neither a block device nor a regular file"));
    assert_int_equal(disk_place_of("/", &p, &e), -EINVAL);
    assert_int_equal(p.size_bytes, 7); /* untouched */
}

/* printf '\0...' | sha256sum, and printf '0123456789abcdefserial:abc' | sha256sum (coreutils 9.1). */
static void hash_of_id(void **state)
{
    static const uint8_t zeros[16];
    char hash[65];

    (void)state;
    disk_id_hash(zeros, "", hash);
    assert_string_equal(hash, "374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb");
    disk_id_hash(salt, "serial:abc", hash);
    assert_string_equal(hash, "174b122df5c8f452212e1ec763b4fc9642db6bf6144701fab03797215cd77c76");
}

static void check_impersonal(const struct facts *f, const char *word)
{
    for (size_t i = 0; i < f->count; i++)
        if (strstr(f->list[i].value, word))
            fail_msg("%s = %s contains '%s'", f->list[i].key, f->list[i].value, word);
}

static void describe_stream_of_loop(void **state)
{
    struct loop_fixture l;
    struct tape_stream s = {0};
    struct err e = {0};
    char hash[65];
    int rc;

    (void)state;
    if (!loop_make(&l, MIB))
        SKIP("needs root and a free loop device");
    disk_id_hash(salt, place_of(l.file).id, hash);
    rc = host_stream(l.device, salt, &s, &e);
    loop_remove(&l);
    assert_int_equal(rc, 0);
    assert_string_equal(s.name, strrchr(l.device, '/') + 1);
    assert_int_equal(s.capacity_bytes, 7 * MIB);
    assert_int_equal(s.sector_bytes, 512);
    assert_int_equal(s.disk_start_bytes, MIB);
    assert_string_equal(s.disk_hash, hash);
    assert_string_equal(facts_get(&s.device, "driver"), "loop");
    assert_string_equal(facts_get(&s.device, "logical_block_bytes"), "512");
    assert_string_equal(facts_get(&s.device, "loop_direct_io"), "0");
    assert_non_null(facts_get(&s.device, "fs"));
    check_impersonal(&s.device, "iotape-host");
    check_impersonal(&s.device, "/");
    tape_stream_release(&s);
}

/* A rule in a control group that has no process at all is still a rule for the disk. */
static void describe_throttle(void **state)
{
    char dir[64], path[128];
    struct loop_fixture l;
    struct facts f = {0};
    struct err e = {0};
    struct stat st;
    FILE *rule;

    (void)state;
    snprintf(dir, sizeof dir, "/sys/fs/cgroup/blkio/iotape-test-%d", getpid());
    if (mkdir(dir, 0755) != 0)
        SKIP("needs root and cgroup v1's blkio controller");
    if (!loop_make(&l, 0)) {
        rmdir(dir);
        SKIP("needs root and a free loop device");
    }
    assert_int_equal(fstat(l.fd, &st), 0);
    snprintf(path, sizeof path, "%s/blkio.throttle.read_iops_device", dir);
    rule = fopen(path, "we");
    if (rule) {
        fprintf(rule, "%u:%u 250\n", major(st.st_rdev), minor(st.st_rdev));
        fclose(rule);
    }
    sys_describe_throttles(st.st_rdev, &f, &e);
    loop_remove(&l);
    rmdir(dir);
    assert_non_null(facts_get(&f, "throttle"));
    assert_string_equal(facts_get(&f, "throttle"), "read_iops=250");
    assert_null(facts_get(&f, "throttle2"));
    facts_release(&f);
}

/* An overlay's mount options hold paths: they are left out, the others stay. The mount is this process's
 * own. */
static void mount_options_are_impersonal(void **state)
{
    char dir[] = "/dev/shm/iotape-host.XXXXXX", path[96], options[256];
    struct tape_stream s = {0};
    struct err e = {0};
    FILE *f;

    (void)state;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        SKIP("needs root");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(mount("none", dir, "tmpfs", 0, "size=1m"), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%c", dir, "luwm"[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(options, sizeof options, "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w", dir, dir, dir);
    bool mounted = mount("none", path, "overlay", MS_NOATIME, options) == 0;
    if (mounted) {
        strcat(path, "/file");
        f = fopen(path, "we");
        assert_non_null(f);
        fclose(f);
        assert_int_equal(host_stream(path, salt, &s, &e), 0);
        *strrchr(path, '/') = '\0';
        umount(path);
    }
    umount(dir);
    rmdir(dir);
    if (!mounted)
        SKIP("needs overlay mounts");
    assert_string_equal(facts_get(&s.device, "fs"), "overlay");
    assert_non_null(strstr(facts_get(&s.device, "fs_options"), "rw,noatime"));
    assert_null(strstr(facts_get(&s.device, "fs_options"), "dir="));
    check_impersonal(&s.device, "/");
    assert_string_equal(s.name, "file");
    assert_int_equal(s.capacity_bytes, 0);
    tape_stream_release(&s);
}

/* uname(2) and sysconf(3) are asked again here; the host's name must not be in it. */
static void describe_host(void **state)
{
    struct facts f = {0};
    struct err e = {0};
    struct utsname u;
    char text[128];

    (void)state;
    assert_int_equal(host_describe(&f, &e), 0);
    assert_int_equal(uname(&u), 0);
    snprintf(text, sizeof text, "Linux %s", u.release);
    assert_string_equal(facts_get(&f, "kernel"), text);
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    assert_string_equal(facts_get(&f, "cpus"), text);
    assert_true(strtoull(facts_get(&f, "memory_bytes"), NULL, 10) >= 16 * MIB);
    if (strlen(u.nodename) > 5)
        check_impersonal(&f, u.nodename);
    facts_release(&f);
}

/* Virtualisation is what systemd-detect-virt says, a container on a VM both. */
static void describe_virtualisation(void **state)
{
    static const char *const keys[] = {"vm", "container"};
    struct facts f = {0};
    struct err e = {0};

    (void)state;
    if (access("/usr/bin/systemd-detect-virt", X_OK) != 0)
        SKIP("needs systemd-detect-virt");
    assert_int_equal(host_describe(&f, &e), 0);
    for (int i = 0; i < 2; i++) {
        char command[64], text[64] = "";
        FILE *p;
        snprintf(command, sizeof command, "/usr/bin/systemd-detect-virt --%s", keys[i]);
        p = popen(command, "re");
        assert_non_null(p);
        assert_non_null(fgets(text, sizeof text, p));
        pclose(p);
        text[strcspn(text, "\n")] = '\0';
        assert_string_equal(facts_get(&f, keys[i]), text);
    }
    facts_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(place_of_file),
            cmocka_unit_test(place_of_loop),
            cmocka_unit_test(other_disks_differ),
            cmocka_unit_test(place_refusals),
            cmocka_unit_test(hash_of_id),
            cmocka_unit_test(describe_stream_of_loop),
            cmocka_unit_test(describe_throttle),
            cmocka_unit_test(describe_host),
            cmocka_unit_test(describe_virtualisation),
            cmocka_unit_test(mount_options_are_impersonal),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
