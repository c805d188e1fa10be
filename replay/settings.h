/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the command line asks for, and where it is stored in a run.
 */
#ifndef IOTAPE_SETTINGS_H
#define IOTAPE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/depend.h"
#include "formats/facts.h"
#include "replay/content.h"
#include "replay/fit.h"

enum replay_timing { TIMING_CLOSED, TIMING_RECORDED, TIMING_ASAP };
#define TIMING_DEFAULT     (-1) /* closed where latencies were recorded, else recorded */

#define SETTINGS_PAIRS_MAX 64

struct settings {
    const char *tape;
    const char *to[SETTINGS_PAIRS_MAX];  /* URLs, in the order given */
    const char *out[SETTINGS_PAIRS_MAX]; /* run files, in the order given */
    const char *map[SETTINGS_PAIRS_MAX]; /* STREAM=TARGET */
    size_t to_count, out_count, map_count;

    uint64_t runs, warmup;
    int timing; /* enum replay_timing or TIMING_DEFAULT */
    double speed;
    uint64_t depth;
    int group;                /* enum depend_group */
    uint64_t from_ns, for_ns; /* for_ns 0: to the end */
    int fit;                  /* enum fit_policy */
    uint64_t size_bytes;      /* of a file that is created; 0: as needed */
    bool read_only, dry_run;
    uint64_t seed, max_errors;
    struct content_recipe recipe; /* of the data; its `verify` is --verify */
    const char *verify_only;      /* a run; NULL without --verify-only */
    uint64_t stall_timeout_ns;
    bool overwrite_data, overwrite_recorded_disk;

    /* conversations */
    const char *peer; /* [user@]host; NULL: none are replayed */
    const char *rsh, *listen, *peer_program;
    uint64_t threads;
    bool serve, stdio; /* this is the other end */
    uint64_t serve_max_conversations, serve_max_bytes, serve_max_duration_ns, serve_max_memory_bytes;
};

/* Parses; outcome as opts_parse gives it. All strings point into argv. */
int settings_parse(struct settings *s, int argc, char **argv);
/* The end of the part of the tape, excluded; UINT64_MAX: it has none. */
static inline uint64_t settings_until_ns(const struct settings *s)
{
    return s->for_ns && s->from_ns <= UINT64_MAX - s->for_ns ? s->from_ns + s->for_ns : UINT64_MAX;
}
/* One line on standard error. */
void settings_report(const struct err *e);

/* Every option that changes the work; `timing` must be decided. */
int settings_describe(const struct settings *s, struct facts *f, struct err *e);

/* ---- settings_net.c ---- */

/* What is wrong with the options of conversations, alone or with others. */
int settings_check_net(const struct settings *s, struct err *e);
/* As settings_describe, of a replay of conversations alone, and what is added with them. */
int settings_describe_net(const struct settings *s, struct facts *f, struct err *e);
extern const char settings_conversations_text[];

#endif
