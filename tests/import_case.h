/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * For the tests of imports: files in a directory of their own, import into a tape there, and the tape's
 * records. Include it after cmocka.h.
 */
#ifndef IOTAPE_IMPORT_CASE_H
#define IOTAPE_IMPORT_CASE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/import.h"
#include "formats/tape.h"

#define CASE_RECORDS_MAX 20000
#define CASE_PATHS_MAX   8

struct import_case {
    char dir[64], tape[96];
    char paths[CASE_PATHS_MAX][96];
    size_t path_count;
    struct import_options opts;
    /* After case_import: */
    int rc;
    struct err e;
    uint64_t elapsed_ns;
    char note[256];
    struct tape_reader *reader; /* NULL where the import failed */
    struct block_record records[CASE_RECORDS_MAX];
    size_t count;
};

static inline void case_open(struct import_case *c)
{
    memset(c, 0, sizeof *c);
    strcpy(c->dir, "/tmp/iotape-import.XXXXXX");
    assert_non_null(mkdtemp(c->dir));
    snprintf(c->tape, sizeof c->tape, "%s/out.tape", c->dir);
}

static inline void case_close(struct import_case *c)
{
    tape_reader_close(c->reader);
    unlink(c->tape);
    for (size_t i = 0; i < c->path_count; i++)
        unlink(c->paths[i]);
    assert_int_equal(rmdir(c->dir), 0);
}

/* Writes a file in the case's directory. */
static inline void case_file(struct import_case *c, const char *name, const void *bytes, size_t len)
{
    assert_true(c->path_count < CASE_PATHS_MAX);
    char path[sizeof c->paths[0]];
    snprintf(path, sizeof path, "%.40s/%.40s", c->dir, name);
    memcpy(c->paths[c->path_count++], path, sizeof path);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static inline void case_read_records(struct import_case *c)
{
    const struct block_chunk *chunk;
    int rc;

    if (tape_reader_open(&c->reader, c->tape, &c->e) != 0)
        fail_msg("%s", c->e.text);
    while ((rc = tape_reader_next(c->reader, &chunk, &c->e)) > 0)
        for (uint32_t i = 0; i < chunk->count; i++) {
            assert_true(c->count < CASE_RECORDS_MAX);
            c->records[c->count++] = block_chunk_get(chunk, i);
        }
    assert_int_equal(rc, 0);
}

/* Imports files (NAMES in the case's directory, or paths, or "-"), by the content of the first or (format not
 * NULL) as told. */
static inline void case_import_files(
        struct import_case *c, const char *const *names, size_t count, const char *format)
{
    const struct import_ops *ops;
    struct tape_info info = {.label = strdup("")};
    struct import_summary sum;
    struct import_out *out;
    char path[CASE_PATHS_MAX][96];
    const char *paths[CASE_PATHS_MAX];

    assert_true(count <= CASE_PATHS_MAX);
    for (size_t i = 0; i < count; i++) {
        snprintf(path[i], sizeof path[i], names[i][0] == '-' ? "%.0s%s" : "%s/%s", c->dir, names[i]);
        paths[i] = path[i];
    }
    assert_int_equal(import_out_open(&out, c->tape, &info, &c->opts.part, &c->e), 0);
    struct input standard = {0};
    c->rc = import_find(paths[0], format, &standard, &ops, &c->e);
    c->opts.standard = &standard;
    if (c->rc == 0)
        c->rc = ops->read(paths, count, &c->opts, out, &c->e);
    if (c->rc == 0)
        c->rc = import_out_finish(out, "import", &sum, &c->e);
    if (c->rc == 0) {
        c->elapsed_ns = sum.elapsed_ns;
        snprintf(c->note, sizeof c->note, "%s", sum.note);
    }
    import_out_close(out);
    input_release(&standard);
    if (c->rc == 0)
        case_read_records(c);
}

static inline void case_import(struct import_case *c, const char *name)
{
    case_import_files(c, &name, 1, NULL);
}

/* The import must have failed with a text that contains `text`, and left no tape. */
static inline void case_refused(const struct import_case *c, const char *text)
{
    char partial[112];

    assert_int_not_equal(c->rc, 0);
    if (!strstr(c->e.text, text))
        fail_msg("'%s' does not contain '%s'", c->e.text, text);
    snprintf(partial, sizeof partial, "%s.partial", c->tape);
    assert_int_not_equal(access(c->tape, F_OK), 0);
    assert_int_not_equal(access(partial, F_OK), 0);
}

/* A count of the tape, "" where it has none. */
static inline const char *case_counted(const struct import_case *c, const char *name)
{
    const char *value = facts_get(&tape_reader_totals(c->reader)->counts, name);

    return value ? value : "";
}

/* Compares one record's essentials. */
static inline void case_record(const struct import_case *c, size_t i, uint64_t t_ns, enum block_op op,
        unsigned flags, uint64_t offset_bytes, uint64_t len_bytes, uint64_t latency_ns)
{
    assert_true(i < c->count);
    const struct block_record *r = &c->records[i];
    if (r->t_ns != t_ns || r->op != op || r->flags != flags || r->offset_bytes != offset_bytes ||
            r->len_bytes != len_bytes || r->latency_ns != latency_ns)
        fail_msg("record %zu: t %llu %s flags %x offset %llu len %llu latency %llu", i,
                (unsigned long long)r->t_ns, block_op_name(r->op), r->flags,
                (unsigned long long)r->offset_bytes, (unsigned long long)r->len_bytes,
                (unsigned long long)r->latency_ns);
}

#endif
