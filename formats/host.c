/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/host_sys.h"

/* The value of the first line "key : value" of a file such as /proc/cpuinfo or /proc/meminfo. */
static bool line_value(const char *path, const char *key, char *value, size_t size)
{
    CLEANUP_FILE FILE *f = fopen(path, "re");
    char line[4096];
    size_t key_len = strlen(key);

    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, key_len) != 0 || !strchr(" \t:", line[key_len]))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        return value[0] != '\0';
    }
    return false;
}

/* Starts `systemd-detect-virt KIND` (no shell) with its output in *out_fd. */
static int detect_virt_start(const char *kind, pid_t *pid, int *out_fd)
{
    char *const argv[] = {(char *)"systemd-detect-virt", (char *)kind, NULL};
    posix_spawn_file_actions_t actions;
    int fds[2], rc;

    if (pipe2(fds, O_CLOEXEC) != 0)
        return -errno;
    rc = posix_spawn_file_actions_init(&actions);
    if (rc == 0) {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(fds[1]);
    if (rc != 0) {
        close(fds[0]);
        return -rc;
    }
    *out_fd = fds[0];
    return 0;
}

/* What systemd-detect-virt prints ("kvm", "docker", ..., "none"); false where it cannot be run. */
static bool detect_virt(const char *kind, char *text, size_t size)
{
    CLEANUP_FD int fd = -1;
    size_t len = 0;
    ssize_t got;
    pid_t pid;

    if (detect_virt_start(kind, &pid, &fd) != 0)
        return false;
    while (len < size - 1 &&
            ((got = read(fd, text + len, size - 1 - len)) > 0 || (got < 0 && errno == EINTR)))
        len += got > 0 ? (size_t)got : 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0';
}

/* Without systemd: what the kernel itself shows. A container cannot be told then. */
static bool hypervisor_seen(char *text, size_t size)
{
    char flags[4096];

    if (sys_text(text, size, "/sys/hypervisor/type"))
        return true;
    if (!line_value("/proc/cpuinfo", "flags", flags, sizeof flags) || !strstr(flags, " hypervisor"))
        return false;
    snprintf(text, size, "yes");
    return true;
}

static int describe_virtualisation(struct facts *f, struct err *e)
{
    char text[128];
    int rc = 0;

    if (detect_virt("--vm", text, sizeof text) || hypervisor_seen(text, sizeof text))
        rc = facts_set(f, e, "vm", "%s", text);
    if (!rc && detect_virt("--container", text, sizeof text))
        rc = facts_set(f, e, "container", "%s", text);
    return rc;
}

static int describe_kernel(struct facts *f, struct err *e)
{
    struct utsname u;
    char text[256];
    int rc = 0;

    if (uname(&u) == 0) {
        rc = facts_set(f, e, "kernel", "%s %s", u.sysname, u.release);
        if (!rc)
            rc = facts_set(f, e, "kernel_version", "%s", u.version);
        if (!rc)
            rc = facts_set(f, e, "machine", "%s", u.machine);
    }
    if (!rc && sys_text(text, sizeof text, "/sys/kernel/security/lockdown"))
        rc = facts_set(f, e, "lockdown", "%s", sys_chosen(text));
    if (!rc &&
            sys_text(text, sizeof text, "/sys/devices/system/clocksource/clocksource0/current_clocksource"))
        rc = facts_set(f, e, "clocksource", "%s", text);
    return rc;
}

static int describe_hardware(struct facts *f, struct err *e)
{
    char text[256];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t kib;
    int rc = 0;

    /* x86 says "model name", s390 "processor 0", ARM often only "CPU part": what is there is kept. */
    if (line_value("/proc/cpuinfo", "model name", text, sizeof text) ||
            line_value("/proc/cpuinfo", "cpu model", text, sizeof text) ||
            line_value("/proc/cpuinfo", "cpu", text, sizeof text) ||
            line_value("/proc/cpuinfo", "CPU part", text, sizeof text))
        rc = facts_set(f, e, "cpu", "%s", text);
    if (!rc && cpus > 0)
        rc = facts_set(f, e, "cpus", "%ld", cpus);
    if (!rc && line_value("/proc/meminfo", "MemTotal", text, sizeof text) &&
            sscanf(text, "%" SCNu64 " kB", &kib) == 1)
        rc = facts_set(f, e, "memory_bytes", "%" PRIu64, kib * 1024);
    return rc;
}

int host_describe(struct facts *f, struct err *e)
{
    int rc = describe_kernel(f, e);

    if (!rc)
        rc = describe_hardware(f, e);
    if (!rc)
        rc = describe_virtualisation(f, e);
    return rc;
}
