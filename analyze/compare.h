/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A comparison of systems from files to data: what `compare` prints, and what plots and reports draw.
 *
 *     struct compare c;
 *     compare_init(&c);
 *     opts_parse(... a table with COMPARE_OPTS ..., and compare_word ...)   systems and options
 *     compare_usage(&c) is what is wrong with them, or NULL
 *     compare_run(&c, &e);       fills c.report
 *     compare_release(&c);       in any case
 */
#ifndef IOTAPE_COMPARE_H
#define IOTAPE_COMPARE_H

#include "analyze/report.h"
#include "analyze/systems.h"
#include "analyze/workload.h"
#include "formats/base/opts.h"

struct compare {
    struct systems systems;
    const char *base_name; /* NULL: the first system */
    int by;                /* enum compare_by */
    double margin_pct;
    double detect_pct;    /* 0: the margin */
    uint64_t cache_bytes; /* of the targets, where known; 0: as assumed (fidelity.h) */
    struct comparison_options options;

    /* by compare_run */
    size_t base; /* which system */
    struct workloads workloads;
    struct report report;
};

enum compare_by { COMPARE_BY_WORKLOAD, COMPARE_BY_STREAM };
extern const char *const compare_by_names[];

void compare_init(struct compare *c);
void compare_release(struct compare *c);

/* --system and words that are files, for a table of options; `values` must be (or begin with) a struct
 * compare. */
int compare_take_system(void *values, const char *text, struct err *e);
int compare_word(void *values, const char *text, struct err *e);

#define COMPARE_OPTS                                                                                         \
    {"system", 's', OPT_CALL, 0, "NAME", "the files up to the next --system belong together, as NAME", NULL, \
            compare_take_system},                                                                            \
            {"base", 'b', OPT_STR, offsetof(struct compare, base_name), "NAME",                              \
                    "the system that the others are compared with (default: the first)", NULL, NULL},        \
            {"by", 0, OPT_CHOICE, offsetof(struct compare, by), "WHAT",                                      \
                    "workload (the default), or stream: also each recorded disk by itself",                  \
                    compare_by_names, NULL},                                                                 \
            {"confidence", 0, OPT_DOUBLE, offsetof(struct compare, options.confidence), "FRACTION",          \
                    "of intervals and verdicts (default: 0.95)", NULL, NULL},                                \
            {"margin", 0, OPT_DOUBLE, offsetof(struct compare, margin_pct), "PERCENT",                       \
                    "what counts as the same (default: 5); twice that from p99 on", NULL, NULL},             \
            {"detect", 0, OPT_DOUBLE, offsetof(struct compare, detect_pct), "PERCENT",                       \
                    "the difference that n_needed is for (default: the margin)", NULL, NULL},                \
            {"cache", 0, OPT_SIZE, offsetof(struct compare, cache_bytes), "SIZE",                            \
                    "what the targets can cache, for the flag small_working_set", NULL, NULL},               \
    {                                                                                                        \
        "seed", 0, OPT_U64, offsetof(struct compare, options.seed), "N",                                     \
                "of the random splits that adjust p where there are too many to take all (default: 1)",      \
                NULL, NULL                                                                                   \
    }

/* What is wrong with the options, for a usage error; NULL: nothing. */
const char *compare_usage(const struct compare *c);

/* Opens, checks, measures and compares all. */
int compare_run(struct compare *c, struct err *e);

#endif
