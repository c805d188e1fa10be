/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/rsh.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "replay/pace.h"

#define LINE_BYTES 400
#define LOOK_NS    5000000
#define LOG_MS     250
#define LAST_READS 256 /* after the end; who else holds the pipe may write for ever */

extern char **environ;

/* A thread that passes the other end's standard error on. */
struct rsh_log {
    pthread_t thread;
    int fd;
    char name[256];
    char line[LINE_BYTES]; /* the last one, kept back */
    atomic_bool over;      /* the other end has ended */
};

/* A line of somebody else's, shown without what a terminal would obey. */
static void clean(char *line)
{
    for (char *p = line; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = *p == '\r' && !p[1] ? 0 : '?';
}

static void keep(struct rsh_log *log, const char *line)
{
    if (log->line[0])
        fprintf(stderr, "%s: %s\n", log->name, log->line);
    snprintf(log->line, sizeof log->line, "%s", line);
}

static void take_line(struct rsh_log *log, char *line)
{
    clean(line);
    if (line[0])
        keep(log, line);
}

/* Takes whole lines off, and what is too long for one. */
static size_t take_lines(struct rsh_log *log, char line[LINE_BYTES], size_t len)
{
    for (char *end; (end = memchr(line, '\n', len));) {
        *end++ = 0;
        take_line(log, line);
        len -= (size_t)(end - line);
        memmove(line, end, len);
    }
    if (len == LINE_BYTES - 1) {
        line[len] = 0;
        take_line(log, line);
        len = 0;
    }
    return len;
}

/* Until the pipe's end, or the other end's: what a remote shell leaves behind (ssh's ControlPersist) may hold
 * the pipe for long. */
static void *log_thread(void *context)
{
    struct rsh_log *log = context;
    char line[LINE_BYTES];
    size_t len = 0;
    for (unsigned last = 0; last < LAST_READS;) {
        bool over = atomic_load(&log->over);
        struct pollfd p = {log->fd, POLLIN, 0};
        int ready = poll(&p, 1, over ? 0 : LOG_MS);
        last += over;
        if (ready == 0 && over)
            break;
        if (ready <= 0)
            continue;
        ssize_t n = read(log->fd, line + len, sizeof line - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len = take_lines(log, line, len + (size_t)n);
    }
    line[len] = 0;
    take_line(log, line);
    close(log->fd);
    return NULL;
}

static int log_start(struct rsh_log **out, int fd, const char *name, struct err *e)
{
    struct rsh_log *log = calloc(1, sizeof *log);
    if (!log)
        return err_sys(e, ENOMEM, "cannot start the other end");
    log->fd = fd;
    snprintf(log->name, sizeof log->name, "%s", name);
    int failed = pthread_create(&log->thread, NULL, log_thread, log);
    if (failed) {
        free(log);
        return err_sys(e, failed, "cannot start the other end");
    }
    *out = log;
    return 0;
}

/* Ctrl-C ends the replay in good order, and the channel by that: the child ignores it. It stays in our
 * process group, since a shell that asks for a password reads from the terminal. */
static int spawn(pid_t *pid, char *const *argv, const int fds[3], struct err *e)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGINT, &ignore, &before);
    int failed = posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
    sigaction(SIGINT, &before, NULL);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return failed ? err_sys(e, failed, "cannot run '%s'", argv[0]) : 0;
}

int rsh_start(struct rsh *r, char *const *argv, const char *name, struct err *e)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, log[2] = {-1, -1};
    *r = (struct rsh){.in_fd = -1, .out_fd = -1};
    snprintf(r->name, sizeof r->name, "%s", name);
    int bad = pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(log, O_CLOEXEC) < 0
                      ? err_sys(e, errno, "cannot start the other end")
                      : 0;
    const int fds[3] = {out[0], in[1], log[1]};
    if (bad == 0)
        bad = spawn(&r->pid, argv, fds, e);
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (bad == 0) {
        r->in_fd = in[0];
        r->out_fd = out[1];
        in[0] = out[1] = -1;
        bad = log_start(&r->log, log[0], name, e);
        log[0] = bad == 0 ? -1 : log[0];
    }
    cleanup_fd(&in[0]);
    cleanup_fd(&out[1]);
    cleanup_fd(&log[0]);
    if (bad < 0 && r->pid)
        rsh_end(r, 0, true, NULL);
    return bad;
}

/* Waits for the end: true, and *status. */
static bool wait_end(pid_t pid, uint64_t timeout_ns, int *status)
{
    uint64_t deadline_ns = pace_now_ns() + timeout_ns;
    while (waitpid(pid, status, WNOHANG) != pid) {
        uint64_t now_ns = pace_now_ns();
        if (now_ns >= deadline_ns)
            return false;
        pace_sleep_until(now_ns + LOOK_NS);
    }
    return true;
}

static int end_text(const struct rsh *r, int status, struct err *e)
{
    if (WIFSIGNALED(status))
        return err_set(e, ECHILD, "the other end ('%s') was ended by signal %d", r->name, WTERMSIG(status));
    int code = WEXITSTATUS(status);
    if (code == 0)
        return 0;
    return err_set(e, ECHILD, "the other end ('%s') exited with status %d%s", r->name, code,
            code == 127 ? " (no iotape-replay there? --peer-program says where it is)" : "");
}

/* Reaps the process and its log; `last` gets the line that was kept back. */
static int end(struct rsh *r, uint64_t timeout_ns, char last[LINE_BYTES], struct err *e)
{
    int status = 0, result = 0;
    last[0] = 0;
    cleanup_fd(&r->out_fd);
    cleanup_fd(&r->in_fd);
    r->in_fd = r->out_fd = -1;
    if (!r->pid)
        return 0;
    if (!wait_end(r->pid, timeout_ns, &status)) {
        kill(r->pid, SIGTERM);
        if (!wait_end(r->pid, 1000000000u, &status)) {
            kill(r->pid, SIGKILL);
            waitpid(r->pid, &status, 0);
        }
        result = err_set(e, ECHILD, "the other end ('%s') did not end", r->name);
    } else {
        result = end_text(r, status, e);
    }
    r->pid = 0;
    if (r->log) {
        atomic_store(&r->log->over, true);
        pthread_join(r->log->thread, NULL);
        memcpy(last, r->log->line, LINE_BYTES);
        free(r->log);
        r->log = NULL;
    }
    return result;
}

int rsh_end(struct rsh *r, uint64_t timeout_ns, bool quiet, struct err *e)
{
    char last[LINE_BYTES];
    int result = end(r, timeout_ns, last, e);
    if (last[0] && !quiet)
        fprintf(stderr, "%s: %s\n", r->name, last);
    return result;
}

int rsh_blame(struct rsh *r, struct err *e)
{
    char last[LINE_BYTES];
    struct err how = {0};
    if (!r->pid)
        return e ? -e->code : -ECHILD;
    if (end(r, 1000000000u, last, &how) == 0)
        snprintf(how.text, sizeof how.text, "the other end ('%s') has ended", r->name);
    if (last[0])
        return err_set(e, e ? e->code : ECHILD, "%s: %s", how.text, last);
    return err_prefix(e, "%s", how.text);
}
