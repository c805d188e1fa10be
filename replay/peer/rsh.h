/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Starting the other end through a remote shell, as rsync does: COMMAND HOST PROGRAM ARGUMENT... No local
 * shell is involved.
 *
 * COMMAND is split at blanks; quotes ' and " keep blanks within a word. HOST is appended to it unless
 *   - a word holds `%h`, which is replaced by HOST (`%%` by `%`), or
 *   - it is a command that runs a program on this machine: `ip [OPTION...] netns exec NAME`, or `nsenter
 * ...`.
 */
#ifndef IOTAPE_PEER_RSH_H
#define IOTAPE_PEER_RSH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/err.h"

#define RSH_WORDS_MAX 64

/* The words of COMMAND and HOST, then `tail` (NULL-terminated), as a NULL-terminated list of which the words
 * are owned by *argv. `host` is [user@]host. -EINVAL for what cannot be told from an option, is empty or has
 * an open quote. */
int rsh_words(char ***argv, const char *command, const char *host, const char *const *tail, struct err *e);
void rsh_words_free(char **argv); /* NULL is allowed */

struct rsh {
    pid_t pid;         /* 0: none */
    int in_fd, out_fd; /* its standard output and input, ours to read from and to write to; -1: closed */
    struct rsh_log *log;
    char name[256]; /* of the other end, for messages */
};

/* Starts argv[0]. What it writes to standard error appears on ours, line by line, `name` before it; the last
 * line is kept back for rsh_blame. */
int rsh_start(struct rsh *r, char *const *argv, const char *name, struct err *e);

/* Closes the channel and waits for the end, `timeout_ns` at most, then kills it. `quiet`: the line that was
 * kept back is dropped, as an error has it. 0, or -errno with a text where it did not exit with status 0. */
int rsh_end(struct rsh *r, uint64_t timeout_ns, bool quiet, struct err *e);

/* Ends it, and puts how it ended and its last words before the text of `e`, which says what failed because of
 * that. Returns the code of `e`. */
int rsh_blame(struct rsh *r, struct err *e);

#endif
