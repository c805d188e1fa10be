/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/scrub.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

static const char *const host_keys[] = {"vm", "container", "kernel", "machine", "lockdown", "clocksource",
        "cpu", "cpus", "memory_bytes", NULL};
static const char *const option_keys[] = {"source", "for_ns", "max_size_bytes", NULL};
/* Of host_stream(), less the firmware's revision; "throttle" stands for throttle2 and on. */
static const char *const device_keys[] = {"driver", "vendor", "model", "transport", "rotational", "scheduler",
        "logical_block_bytes", "physical_block_bytes", "write_cache", "fua", "queue_requests",
        "max_request_kib", "discard_max_bytes", "write_zeroes_max_bytes", "zoned", "md_level", "md_disks",
        "loop_direct_io", "zram_compressor", "dm", "partition_start_bytes", "partition_bytes", "fs",
        "fs_options", "throttle", NULL};

static bool is_harmless_key(const char *key, const char *const *keys)
{
    size_t len = strcspn(key, "0123456789");

    for (; *keys; keys++)
        if (strcmp(key, *keys) == 0 ||
                (strcmp(*keys, "throttle") == 0 && strncmp(key, *keys, len) == 0 && len == 8))
            return true;
    return false;
}

/* No path, IQN (RFC 3720), EUI, NAA or WWN. */
static bool is_harmless_value(const char *value)
{
    static const char *const marks[] = {"/", "iqn.", "eui.", "naa.", "wwn", "serial", "uuid", "UUID", "@"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(value, marks[i]))
            return false;
    return true;
}

static int scrub_facts(struct facts *f, const char *const *keys, struct err *e)
{
    CLEANUP(facts_release) struct facts old = *f;

    *f = (struct facts){0};
    for (size_t i = 0; i < old.count; i++) {
        const struct fact *fact = &old.list[i];
        if (!is_harmless_key(fact->key, keys) || !is_harmless_value(fact->value))
            continue;
        int rc = facts_set(f, e, fact->key, "%s", fact->value);
        if (rc)
            return rc;
    }
    return 0;
}

int scrub_info(struct tape_info *i, struct err *e)
{
    int rc = scrub_facts(&i->host, host_keys, e);

    return rc ? rc : scrub_facts(&i->options, option_keys, e);
}

int scrub_stream(struct tape_stream *s, size_t number, struct err *e)
{
    char name[32];

    snprintf(name, sizeof name, "%s-%zu", s->kind == TAPE_STREAM_NET ? "interface" : "disk", number);
    free(s->name);
    s->name = strdup(name);
    if (!s->name)
        return err_sys(e, ENOMEM, "cannot keep a name");
    return scrub_facts(&s->device, device_keys, e);
}
