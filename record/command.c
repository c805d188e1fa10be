/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

/* In the child: waits for the byte, then becomes the command. */
static _Noreturn void become(int go_fd, int refused_fd, char *const *argv)
{
    char byte;
    if (read(go_fd, &byte, 1) != 1)
        _exit(0); /* the recording could not begin */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    int code = errno;
    if (write(refused_fd, &code, sizeof code) != sizeof code)
        _exit(126);
    _exit(code == ENOENT ? 127 : 126);
}

int command_start(struct command *c, char *const *argv, struct err *e)
{
    int go[2], refused[2];
    if (pipe2(go, O_CLOEXEC) != 0)
        return err_sys(e, errno, "cannot run '%s'", argv[0]);
    CLEANUP_FD int go_read = go[0];
    CLEANUP_FD int go_write = go[1];
    if (pipe2(refused, O_CLOEXEC) != 0)
        return err_sys(e, errno, "cannot run '%s'", argv[0]);
    CLEANUP_FD int refused_read = refused[0];
    CLEANUP_FD int refused_write = refused[1];
    pid_t pid = fork();
    if (pid < 0)
        return err_sys(e, errno, "cannot run '%s'", argv[0]);
    if (pid == 0) {
        close(go_write); /* or the child would hold open what it waits for */
        become(go_read, refused_write, argv);
    }
    *c = (struct command){pid, take_fd(&go_write), take_fd(&refused_read), 0};
    return 0;
}

int command_go(struct command *c, char *const *argv, struct err *e)
{
    if (write(c->go_fd, "", 1) != 1)
        return err_sys(e, errno, "cannot run '%s'", argv[0]);
    int code = 0;
    ssize_t got;
    do
        got = read(c->refused_fd, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return 0; /* closed by a successful exec */
    command_ended(c, true);
    return err_sys(e, code ? code : EIO, "cannot run '%s'", argv[0]);
}

bool command_ended(struct command *c, bool wait)
{
    if (c->pid == 0)
        return true;
    int status;
    pid_t got;
    do
        got = waitpid(c->pid, &status, wait ? 0 : WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    c->pid = 0;
    if (got < 0)
        c->status = 1;
    else
        c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

void command_signal(const struct command *c, int signal)
{
    if (c->pid > 0)
        kill(c->pid, signal);
}

void command_release(struct command *c)
{
    if (c->go_fd > 0)
        close(c->go_fd);
    if (c->refused_fd > 0)
        close(c->refused_fd);
    c->go_fd = c->refused_fd = 0;
}
