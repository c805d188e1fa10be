/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The command that runs while it is recorded: started before the recording, let go once it has begun.
 */
#ifndef IOTAPE_COMMAND_H
#define IOTAPE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "formats/base/err.h"

struct command {
    pid_t pid;      /* 0: none, or it has ended */
    int go_fd;      /* write end: a byte lets it run */
    int refused_fd; /* read end: the errno of an exec that failed */
    int status;     /* exit status as a shell would give it, once it has ended */
};

/* Makes a child that waits. Signals that are blocked here are not in the child. -errno. */
int command_start(struct command *c, char *const *argv, struct err *e);

/* Lets the child run the command and returns once it does. Where it cannot be run: -errno, the error says
 * why, and `status` is what a shell would return (127 not found, 126 not executable). */
int command_go(struct command *c, char *const *argv, struct err *e);

/* True once it has ended; `wait` blocks until it has. */
bool command_ended(struct command *c, bool wait);

/* Passes a signal on to the command. */
void command_signal(const struct command *c, int signal);

/* Ends a child that was never let go, and frees. */
void command_release(struct command *c);

#endif
