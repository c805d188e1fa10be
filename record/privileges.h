/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the recorder may do: asked for before it begins, given up once it captures. The only file that names
 * libcap.
 */
#ifndef IOTAPE_PRIVILEGES_H
#define IOTAPE_PRIVILEGES_H

#include <stdbool.h>

#include "formats/base/err.h"

/* Whether this process has what recording needs: for block I/O by eBPF (`bpf`) CAP_BPF and CAP_PERFMON, or
 * CAP_SYS_ADMIN instead of both; for interfaces (`net`) CAP_NET_RAW. -EPERM: the error names what is missing
 * and how to get it. */
int privileges_check(bool bpf, bool net, struct err *e);

/* Gives up, for good, all capabilities (bounding and ambient ones, too) and supplementary groups, and what an
 * exec could give back (securebits, no_new_privs). What is open stays usable.
 *
 * Root without capabilities may write where root owns the place only. So root becomes `user` (NULL: the owner
 * of `directory` where root does not own it and others may not write there); `directory` is where files are
 * made from now on. With `may_signal` the real user id stays, by which a child of root's may be signalled.
 * Errors say what to do. */
int privileges_drop(const char *directory, const char *user, bool may_signal, struct err *e);

#endif
