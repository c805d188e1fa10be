/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/results/hints.h"
#include "formats/results/reading.h"

#define DECLARE(name) extern const struct result_ops result_##name;
RESULTS(DECLARE)
#undef DECLARE
static const struct result_ops *const result_list[] = {
#define ENTRY(name) &result_##name,
        RESULTS(ENTRY)
#undef ENTRY
                NULL};

/* ---- units ---- */

static const struct {
    const char *name;
    enum figure_quantity quantity;
    double factor;
} units[] = {
#define UNIT_ENTRY(name, text, quantity, factor) {text, FIGURE_##quantity, factor},
        FIGURE_UNITS(UNIT_ENTRY)
#undef UNIT_ENTRY
};

const char *figure_unit_name(enum figure_unit unit)
{
    return units[unit].name;
}

enum figure_quantity figure_unit_quantity(enum figure_unit unit)
{
    return units[unit].quantity;
}

double figure_convert(double value, enum figure_unit from, enum figure_unit to)
{
    return from == to ? value : value * units[from].factor / units[to].factor;
}

/* ---- finding outputs ---- */

static const struct result_ops *find_parser(const struct reading *r)
{
    for (size_t i = 0; result_list[i]; i++)
        if (result_list[i]->begins(r))
            return result_list[i];
    return NULL;
}

bool reading_begins(const struct reading *r)
{
    return find_parser(r) != NULL;
}

/* Reads the output at r->at; one from which nothing could be taken is an error and no silence. */
static int read_output(struct reading *r, const struct result_ops *ops, struct err *e)
{
    size_t begin = r->at, before = r->results->count;
    int rc = ops->read(r, e);
    if (rc < 0)
        return rc;
    if (r->at == begin) /* so that no parser can hang */
        r->at++;
    if (r->results->count <= before || reading_current(r)->count || reading_current(r)->failed)
        return 0;
    r->at = begin;
    return reading_bad(r, e, "an output of %s without a figure that is known", ops->name);
}

static int read_outputs(struct reading *r, struct err *e)
{
    while (r->at < r->line_count) {
        const struct result_ops *ops = find_parser(r);
        if (!ops) {
            r->at++;
            continue;
        }
        int rc = read_output(r, ops, e);
        if (rc < 0)
            return rc;
    }
    return r->results->count ? 0 : hints_refuse(r, e);
}

int results_parse(const char *name, const char *bytes, size_t len, struct results *results, struct err *e)
{
    struct reading r CLEANUP(reading_release) = {0};
    *results = (struct results){0};
    if (len > RESULTS_FILE_BYTES)
        return err_set(
                e, EFBIG, "'%s' is larger than %u MiB, which no result is", name, RESULTS_FILE_BYTES >> 20);
    int rc = reading_open(&r, name, bytes, len, e);
    if (rc < 0)
        return rc;
    r.results = results;
    rc = read_outputs(&r, e);
    if (rc < 0)
        results_release(results);
    return rc;
}

void results_release(struct results *r)
{
    for (size_t i = 0; i < r->count; i++)
        output_release(&r->outputs[i]);
    free(r->outputs);
    *r = (struct results){0};
}

/* ---- files ---- */

/* Up to one byte more than is allowed. */
static int read_all(int fd, char *bytes, size_t size, size_t *len)
{
    for (*len = 0; *len < size;) {
        ssize_t n = read(fd, bytes + *len, size - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        *len += (size_t)n;
    }
    return 0;
}

int results_read(const char *path, struct results *r, struct err *e)
{
    *r = (struct results){0};
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    size_t len;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(e, errno, "cannot open '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "'%s' is neither a tape nor a run, and no regular file", path);
    size_t size = st.st_size < RESULTS_FILE_BYTES ? (size_t)st.st_size + 1 : RESULTS_FILE_BYTES + 1;
    CLEANUP_FREE char *bytes = malloc(size);
    if (!bytes)
        return err_sys(e, ENOMEM, "cannot hold '%s'", path);
    int rc = read_all(fd, bytes, size, &len);
    return rc < 0 ? err_sys(e, rc, "cannot read '%s'", path) : results_parse(path, bytes, len, r, e);
}
