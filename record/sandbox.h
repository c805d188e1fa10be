/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the recorder can still do to the host once it captures: append to its tape, make, rename and remove
 * files in the tape's folder, sleep, and end. The only file that names libseccomp.
 *
 * - seccomp: system calls that are not listed fail with EPERM. Not a kill: what a new libc calls beyond the
 * list must not cost a recording, and a call that fails does no more harm than one that was never made.
 * - Landlock (Linux 5.13 and later; without it the first alone): no file outside the folder can be opened,
 * made or removed.
 *
 * Both hold for all threads and cannot be taken back. Children that were made before are not restricted.
 */
#ifndef IOTAPE_SANDBOX_H
#define IOTAPE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "formats/base/err.h"

/* `directory`: where files are written. `command`: a child that may be signalled and waited for; 0: none.
 * `reads_proc`: /proc may be read, as far as this user may. */
int sandbox_enter(const char *directory, pid_t command, bool reads_proc, struct err *e);

#endif
