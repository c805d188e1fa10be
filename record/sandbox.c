/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fiemap.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/sanitized.h"

/* ---- Landlock: Linux, Documentation/userspace-api/landlock.rst ---- */

/* What <linux/landlock.h> of older systems lacks. */
#define FS_REFER    (UINT64_C(1) << 13) /* ABI 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14) /* ABI 3 */
#define FS_ALL      ((UINT64_C(1) << 13) - 1)
#define FS_READ     (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITE                                                                                             \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG)

static int allow_below(int rules, const char *path, uint64_t access, struct err *e)
{
    CLEANUP_FD int fd = open(path, O_PATH | O_CLOEXEC);
    struct landlock_path_beneath_attr below = {.allowed_access = access, .parent_fd = fd};
    if (fd < 0 || syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) != 0)
        return err_sys(e, errno, "cannot confine the recorder to '%s'", path);
    return 0;
}

static int confine(const char *directory, bool reads_proc, struct err *e)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return 0; /* a kernel without it */
    uint64_t later = (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0);
    struct landlock_ruleset_attr all = {.handled_access_fs = FS_ALL | later};
    CLEANUP_FD int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return err_sys(e, errno, "cannot confine the recorder");
    int status = allow_below(rules, directory, FS_READ | FS_WRITE | (later & FS_TRUNCATE), e);
    if (status == 0 && reads_proc)
        status = allow_below(rules, "/proc", FS_READ, e);
    if (status == 0 && SANITIZED) /* a leak checker reads all of /proc at the end */
        status = allow_below(rules, "/", FS_READ, e);
    if (status == 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
        status = err_sys(e, errno, "cannot confine the recorder");
    return status;
}

/* ---- seccomp ---- */

static const int always[] = {
        /* files: the tape and its folder */
        SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
        SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(_llseek), SCMP_SYS(close), SCMP_SYS(open),
        SCMP_SYS(openat), SCMP_SYS(stat), SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(newfstatat),
        SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fsync),
        SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
        SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(getdents64), SCMP_SYS(fcntl), SCMP_SYS(flock),
        SCMP_SYS(fadvise64), SCMP_SYS(getcwd),
        /* memory, but nothing that can be executed */
        SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
        /* time, sleep, signals, threads that are there */
        SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(clock_nanosleep),
        SCMP_SYS(nanosleep), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(restart_syscall),
        SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigreturn),
        SCMP_SYS(sigaltstack), SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
        SCMP_SYS(membarrier), SCMP_SYS(rseq), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrandom),
        SCMP_SYS(sysinfo), SCMP_SYS(exit), SCMP_SYS(exit_group),
        /* packets that the kernel dropped, and what libpcap does when it closes */
        SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg)};

static const int sanitized[] = {SCMP_SYS(clone), SCMP_SYS(clone3), SCMP_SYS(getdents), SCMP_SYS(ptrace),
        SCMP_SYS(prctl), SCMP_SYS(wait4), SCMP_SYS(process_vm_readv), SCMP_SYS(readlink),
        SCMP_SYS(readlinkat), SCMP_SYS(getrlimit), SCMP_SYS(setrlimit), SCMP_SYS(prlimit64), SCMP_SYS(pipe),
        SCMP_SYS(pipe2), SCMP_SYS(arch_prctl), SCMP_SYS(tgkill), SCMP_SYS(tkill), SCMP_SYS(kill),
        SCMP_SYS(getppid), SCMP_SYS(uname), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(set_robust_list),
        SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(ioctl)};

/* A system call that this architecture has not is none that it could make. */
static int allow(scmp_filter_ctx f, const int *calls, size_t count)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++)
        if (calls[i] >= 0)
            status = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
    return status;
}

static int allow_bounded(scmp_filter_ctx f, pid_t command)
{
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                              is_child = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)command, 0),
                              is_self = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0),
                              width = SCMP_A1(SCMP_CMP_EQ, TIOCGWINSZ, 0),
                              flags = SCMP_A1(SCMP_CMP_EQ, SIOCGIFFLAGS, 0),
                              map = SCMP_A1(SCMP_CMP_EQ, FS_IOC_FIEMAP, 0),
                              terminal = SCMP_A1(SCMP_CMP_EQ, 0x5401, 0);
    int status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
    if (status == 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
    if (status == 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, width);
    if (status == 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, terminal); /* TCGETS: isatty() */
    if (status == 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, map);
    if (status == 0) /* whether an interface is only down, or gone */
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, flags);
    if (status == 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, is_self); /* abort() */
    if (status == 0 && command > 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1, is_child);
    if (status == 0 && command > 0)
        status = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(wait4), 1, is_child);
    return status;
}

static void cleanup_filter(scmp_filter_ctx *f)
{
    if (*f)
        seccomp_release(*f);
}

static int filter_calls(pid_t command, struct err *e)
{
    CLEANUP(cleanup_filter) scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!f)
        return err_sys(e, ENOMEM, "cannot filter system calls");
    int status = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
    if (status == 0 && SANITIZED) /* first: what is allowed whole is not allowed in part */
        status = allow(f, sanitized, sizeof sanitized / sizeof sanitized[0]);
    if (status == 0)
        status = allow(f, always, sizeof always / sizeof always[0]);
    if (status == 0 && !SANITIZED)
        status = allow_bounded(f, command);
    if (status == 0)
        status = seccomp_load(f);
    return status == 0 ? 0 : err_sys(e, -status, "cannot filter system calls");
}

int sandbox_enter(const char *directory, pid_t command, bool reads_proc, struct err *e)
{
    if (SANITIZED)
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    int status = confine(directory, reads_proc, e);
    return status < 0 ? status : filter_calls(command, e);
}
