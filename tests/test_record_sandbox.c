/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a process in the sandbox can do, and what it cannot. Each case is a child of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/base/sanitized.h"
#include "record/sandbox.h"

static char folder[] = "/tmp/iotape-sandbox.XXXXXX";
static char outside[] = "/tmp/iotape-outside.XXXXXX";

static int make_folders(void **state)
{
    (void)state;
    return mkdtemp(folder) && mkdtemp(outside) ? 0 : -1;
}

static int remove_folders(void **state)
{
    (void)state;
    return rmdir(folder) | rmdir(outside);
}

/* Runs `act` in a child in the sandbox; what it returns, below 128. */
static int in_sandbox(int (*act)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        struct err e = {0};
        if (sandbox_enter(folder, 0, false, &e) < 0)
            _exit(127);
        _exit(act());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 127);
    return WEXITSTATUS(status);
}

static int refused(int result)
{
    return result >= 0 ? 0 : errno;
}

static int make_rename_remove(void)
{
    char a[64], b[64];
    snprintf(a, sizeof a, "%s/a.partial", folder);
    snprintf(b, sizeof b, "%s/a", folder);
    int fd = open(a, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) != 0 || close(fd) != 0)
        return 1;
    fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (rename(a, b) != 0 || fd < 0 || fsync(fd) != 0)
        return 2;
    return unlink(b) != 0 ? 3 : 0;
}

static void can_write_in_its_folder(void **state)
{
    (void)state;
    assert_int_equal(in_sandbox(make_rename_remove), 0);
}

static int take_memory_and_time(void)
{
    char *p = malloc(64 << 20);
    struct timespec t = {0, 1000000};
    if (!p || nanosleep(&t, NULL) != 0)
        return 1;
    p[12345] = 1;
    free(p);
    return 0;
}

static void can_take_memory_and_sleep(void **state)
{
    (void)state;
    assert_int_equal(in_sandbox(take_memory_and_time), 0);
}

static int create_outside(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/a", outside);
    return refused(open(path, O_WRONLY | O_CREAT, 0666));
}

static int read_passwords(void)
{
    return refused(open("/etc/passwd", O_RDONLY));
}

static int connect_out(void)
{
    return refused(socket(AF_INET, SOCK_STREAM, 0));
}

static int become_a_shell(void)
{
    return refused(execl("/bin/true", "true", (char *)NULL));
}

static int make_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return refused(pid);
}

static int map_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}

static int signal_parent(void)
{
    return refused(kill(getppid(), 0));
}

/* landlock_create_ruleset(2): with flag 1 (LANDLOCK_CREATE_RULESET_VERSION) it says which version there is.
 */
static bool has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

static int create_and_remove_outside(void)
{
    int result = create_outside();
    char path[64];
    snprintf(path, sizeof path, "%s/a", outside);
    return result ? result : refused(unlink(path));
}

static void cannot_leave_its_folder(void **state)
{
    (void)state;
    assert_int_equal(in_sandbox(create_and_remove_outside), has_landlock() ? EACCES : 0);
    assert_int_equal(in_sandbox(read_passwords), has_landlock() && !SANITIZED ? EACCES : 0);
}

static void cannot_do_what_it_does_not_need(void **state)
{
    (void)state;
    assert_int_equal(in_sandbox(connect_out), EPERM);
    assert_int_equal(in_sandbox(become_a_shell), EPERM);
}

/* Leak checkers make a thread that traces us: a sanitized build lets that through, and no other does. */
static void cannot_do_what_only_sanitizers_need(void **state)
{
    (void)state;
    int expected = SANITIZED ? 0 : EPERM;
    assert_int_equal(in_sandbox(make_child), expected);
    assert_int_equal(in_sandbox(map_code), expected);
    assert_int_equal(in_sandbox(signal_parent), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(can_write_in_its_folder),
            cmocka_unit_test(can_take_memory_and_sleep),
            cmocka_unit_test(cannot_leave_its_folder),
            cmocka_unit_test(cannot_do_what_it_does_not_need),
            cmocka_unit_test(cannot_do_what_only_sanitizers_need),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
