/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is to be recorded: from what was named on the command line (disks, files, interfaces, processes and
 * domains that are guests) to streams.
 */
#ifndef IOTAPE_WANTED_H
#define IOTAPE_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/base/err.h"
#include "formats/facts.h"
#include "record/guest.h"
#include "record/options.h"
#include "record/source/net.h"
#include "record/streams.h"
#include "record/virt.h"
#include "record/watch.h"

/* A guest as it was found last. */
struct wanted_guest {
    const char *asked; /* as it was named: a process id or a domain */
    char *shown;       /* in messages: "domain 'web01'", ...; owned */
    char *prefix;      /* of its streams' names; owned; "" for the only guest */
    struct guest now;
    bool is_domain, left;
    int process; /* a pidfd, readable once the process has ended (pidfd_open(2)); -1: none */
};

struct wanted {
    const struct options *o;
    struct streams *streams; /* borrowed */
    struct virt *virt;       /* NULL: no domains */
    struct wanted_guest *guests;
    size_t guest_count;
    struct watch *watch; /* NULL: no domains */
    size_t guests_left;
    struct net_spec *nets;
    size_t net_count;
    struct facts notes; /* what is not recorded, or not in full: for the tape */
};

/* Finds all and adds the disks and files to `streams`. Says on standard error what of a guest cannot be
 * recorded. `p` is to be released in any case. */
int wanted_make(struct wanted *p, const struct options *o, struct streams *streams, struct err *e);
void wanted_release(struct wanted *p);

/* What wanted_follow adds to. */
struct wanted_recording {
    const struct source_ops *ops;
    struct source *source; /* NULL: only interfaces are recorded */
    struct source_config *config;
    struct net_source *net; /* NULL: no interfaces are recorded */
    struct tape_writer *w;
    uint64_t start_ns;
};

/* Begins to watch the domains, if there are any. */
int wanted_watch(struct wanted *p, struct err *e);

/* Follows what happened to the guests since: what left, all of it where a guest's process ended, is closed
 * and marked with its time (counts "left_ns.NAME" of the tape); a domain's disks and interfaces that were
 * plugged in are recorded (of a disk, the fact "joined_ns"). Says so on standard error. Only what makes the
 * recording impossible is an error. */
int wanted_follow(struct wanted *p, const struct wanted_recording *r, struct err *e);

/* Whether there were guests, and nothing of the recording is left. */
bool wanted_left(const struct wanted *p);

#endif
