/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The devices and processes that a block trace names, and their streams and issuers in the tape.
 */
#ifndef IOTAPE_BLKTRACE_DEVICES_H
#define IOTAPE_BLKTRACE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/import/import_out.h"

struct bt_device {
    uint32_t number;       /* the kernel's: major << 20 | minor */
    uint32_t stream;       /* UINT32_MAX: none yet */
    uint16_t logged_as;    /* index of the device under which its events are logged; normally itself */
    bool logs;             /* events of its own were seen */
    bool queues, issues;   /* Q, D were seen */
    uint64_t start_sector; /* of a traced partition, whose events count from the disk's begin */
    uint64_t lost;
};

/* Zero-initialised is empty. */
struct bt_devices {
    struct bt_device *list;
    size_t count, last;
};

/* The device with a number, new or known. */
int bt_device_find(struct bt_devices *d, uint32_t number, uint16_t *index, struct err *e);
/* Its stream, which is called "MAJOR:MINOR". */
int bt_device_stream(struct bt_device *d, struct import_out *out, uint32_t *stream, struct err *e);
void bt_devices_release(struct bt_devices *d);

struct bt_process {
    uint32_t pid, issuer; /* UINT32_MAX: none yet */
    char name[16];        /* "" where the trace does not say */
    bool used;
};

/* A hash table with open addressing. Zero-initialised is empty. */
struct bt_processes {
    struct bt_process *slots;
    size_t room, count, issuers;
};

int bt_process_find(struct bt_processes *t, uint32_t pid, struct bt_process **p, struct err *e);
/* Its issuer: "process-N" in order of appearance, or with keep_names its own name and number. Beyond
 * TAPE_ISSUERS_MAX all are the last one. */
int bt_process_issuer(struct bt_processes *t, struct bt_process *p, struct import_out *out, bool keep_names,
        uint32_t *issuer, struct err *e);
void bt_processes_release(struct bt_processes *t);

#endif
