/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "formats/results/bonnie.h"

const struct bonnie_test bonnie_tests[BONNIE_TESTS] = {
        {"putc", "write_bandwidth", BLOCK_WRITE, UNIT_KIB_PER_S},
        {"put_block", "write_bandwidth", BLOCK_WRITE, UNIT_KIB_PER_S},
        {"rewrite", "bandwidth", BLOCK_OPS, UNIT_KIB_PER_S},
        {"getc", "read_bandwidth", BLOCK_READ, UNIT_KIB_PER_S},
        {"get_block", "read_bandwidth", BLOCK_READ, UNIT_KIB_PER_S},
        {"seeks", "rate", BLOCK_OPS, UNIT_PER_S},
        {"seq_create", "rate", BLOCK_OPS, UNIT_PER_S},
        {"seq_stat", "rate", BLOCK_OPS, UNIT_PER_S},
        {"seq_del", "rate", BLOCK_OPS, UNIT_PER_S},
        {"ran_create", "rate", BLOCK_OPS, UNIT_PER_S},
        {"ran_stat", "rate", BLOCK_OPS, UNIT_PER_S},
        {"ran_del", "rate", BLOCK_OPS, UNIT_PER_S},
};

static bool is_missing(const char *text)
{
    return *text == '+';
}

static int bad(const struct reading *r, size_t test, const char *text, struct err *e)
{
    return reading_bad(r, e, "bonnie++'s %s is no value: '%.40s'", bonnie_tests[test].name, text);
}

int bonnie_rate(struct reading *r, size_t test, const char *rate, const char *cpu, struct err *e)
{
    static const char letters[] = "kmgt";
    const struct bonnie_test *t = &bonnie_tests[test];
    struct figure f = {.unit = t->unit, .op = t->op, .compared = true};
    const char *p = rate;
    if (!*rate && !*cpu)
        return 0;
    f.missing = is_missing(rate) || is_missing(cpu);
    if (!f.missing) {
        if (!scan_number(&p, &f.value) || f.value < 0)
            return bad(r, test, rate, e);
        const char *letter =
                *p && t->unit == UNIT_KIB_PER_S ? strchr(letters, tolower((unsigned char)*p)) : NULL;
        for (const char *l = letters; letter && l < letter; l++)
            f.value *= 1024;
        if (p[letter != NULL])
            return bad(r, test, rate, e);
    }
    int rc = reading_figure(r, t->name, t->rate, f, e);
    f = (struct figure){.unit = UNIT_PERCENT, .op = t->op, .missing = is_missing(cpu)};
    p = cpu;
    if (rc == 0 && !f.missing && (!scan_number(&p, &f.value) || *p))
        return bad(r, test, cpu, e);
    return rc < 0 ? rc : reading_figure(r, t->name, "cpu", f, e);
}

int bonnie_latency(struct reading *r, size_t test, const char *text, struct err *e)
{
    struct figure f = {.unit = UNIT_US, .op = bonnie_tests[test].op, .compared = true, .tail = true};
    const char *p = text;
    if (!*text)
        return 0;
    f.missing = is_missing(text);
    if (!f.missing) {
        if (!scan_number(&p, &f.value))
            return bad(r, test, text, e);
        f.value *= strcmp(p, "us") == 0 ? 1 : strcmp(p, "ms") == 0 ? 1e3 : strcmp(p, "s") == 0 ? 1e6 : NAN;
        if (isnan(f.value))
            return bad(r, test, text, e);
    }
    return reading_figure(r, bonnie_tests[test].name, "latency_max", f, e);
}
