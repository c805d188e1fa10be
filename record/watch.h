/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Looks once a second whether the recorded domains still run, and as they did: in a thread, so that a libvirt
 * that does not answer holds up nothing. It only reads.
 */
#ifndef IOTAPE_WATCH_H
#define IOTAPE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "record/guest.h"
#include "record/virt.h"

struct watch;

/* Something that happened to a domain. */
struct watch_event {
    size_t domain;  /* its place in the list */
    uint64_t at_ns; /* CLOCK_MONOTONIC, when it was seen */
    bool is_gone;
    struct guest guest; /* as it is now, else; owned by the caller (guest_release) */
};

/* `virt` and `domains` are borrowed, `virt` for this thread alone. */
int watch_open(struct watch **w, struct virt *virt, const char *const *domains, size_t count, struct err *e);

/* True where there is an event, of a domain each that did not tell one yet; the newest of each. */
bool watch_take(struct watch *w, struct watch_event *event);

/* Ends the thread. False where libvirt still holds it: then `virt` must not be closed. NULL is allowed. */
bool watch_close(struct watch *w);

#endif
