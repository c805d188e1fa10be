/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct archive_out {
    struct archive *archive;
    int fd;
    int write_errno;
    uint64_t bytes;
    bool failed;
    bool closed; /* nothing is to be written any more */
};

/* Never tells libarchive of a failure, which would then leak what it holds; archive_out_add looks at
 * write_errno. */
static la_ssize_t write_all(struct archive *archive, void *data, const void *buf, size_t len)
{
    (void)archive;
    struct archive_out *a = data;
    for (size_t done = 0; done < len && !a->closed;) {
        ssize_t n = write(a->fd, (const char *)buf + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            a->write_errno = n < 0 ? errno : ENOSPC;
            a->closed = true;
            break;
        }
        done += (size_t)n;
    }
    if (!a->closed)
        a->bytes += len;
    return (la_ssize_t)len;
}

/* Unbuffered (bytes_per_block 0), or members would lie in libarchive's memory when the machine dies. */
static struct archive *writer_new(void)
{
    struct archive *w = archive_write_new();
    if (w && (archive_write_set_format_pax_restricted(w) != ARCHIVE_OK ||
                     archive_write_set_bytes_per_block(w, 0) != ARCHIVE_OK ||
                     archive_write_set_bytes_in_last_block(w, 1) != ARCHIVE_OK)) {
        archive_write_free(w);
        return NULL;
    }
    return w;
}

static int write_header(struct archive *w, const char *name, uint64_t size)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return ARCHIVE_FATAL;
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_entry_set_uid(entry, 0);
    archive_entry_set_gid(entry, 0);
    archive_entry_set_mtime(entry, 0, 0);
    int r = archive_write_header(w, entry);
    archive_entry_free(entry);
    return r;
}

int archive_out_open(struct archive_out **out, int fd, struct err *e)
{
    struct archive_out *a = calloc(1, sizeof *a);
    struct archive *w = a ? writer_new() : NULL;
    if (!w || archive_write_open(w, a, NULL, write_all, NULL) != ARCHIVE_OK) {
        archive_write_free(w);
        free(a);
        return err_sys(e, ENOMEM, "cannot begin an archive");
    }
    a->archive = w;
    a->fd = fd;
    *out = a;
    return 0;
}

static int out_failed(struct archive_out *a, uint64_t begin, const char *what, struct err *e)
{
    a->failed = true;
    a->bytes = begin;
    int code = a->write_errno ? a->write_errno : EIO;
    const char *text = archive_error_string(a->archive);
    if (ftruncate(a->fd, (off_t)begin) < 0)
        return err_sys(
                e, errno, "cannot cut back to byte %llu after a failed write", (unsigned long long)begin);
    if (a->write_errno)
        return err_sys(e, code, "cannot write %s at byte %llu", what, (unsigned long long)begin);
    return err_set(e, code, "cannot write %s at byte %llu: %s", what, (unsigned long long)begin,
            text ? text : "libarchive");
}

int archive_out_add(struct archive_out *a, const char *name, const void *body, size_t size, struct err *e)
{
    uint64_t begin = a->bytes;
    if (a->failed)
        return err_set(e, EIO, "nothing can be written after a failed write");
    bool ok = strlen(name) < ARCHIVE_NAME_BYTES && write_header(a->archive, name, size) == ARCHIVE_OK &&
              archive_write_data(a->archive, body, size) == (la_ssize_t)size &&
              archive_write_finish_entry(a->archive) == ARCHIVE_OK;
    if (ok && !a->write_errno && a->bytes == begin + archive_span(size))
        return 0;
    return out_failed(a, begin, name, e);
}

uint64_t archive_out_bytes(const struct archive_out *a)
{
    return a->bytes;
}

int archive_out_finish(struct archive_out *a, struct err *e)
{
    uint64_t begin = a->bytes;
    if (a->failed)
        return err_set(e, EIO, "nothing can be written after a failed write");
    if (archive_write_close(a->archive) != ARCHIVE_OK || a->write_errno ||
            a->bytes != begin + ARCHIVE_TRAILER)
        return out_failed(a, begin, "the trailer", e);
    return 0;
}

void archive_out_close(struct archive_out *a)
{
    if (!a)
        return;
    a->closed = true; /* or archive_write_free would write a trailer */
    archive_write_free(a->archive);
    free(a);
}

struct header_sink {
    uint8_t *block;
    size_t used;
};

/* Takes the header and refuses the rest: libarchive ends a member that was not written to its end with zeros.
 */
static la_ssize_t take_header(struct archive *archive, void *data, const void *buf, size_t len)
{
    (void)archive;
    struct header_sink *s = data;
    if (len > ARCHIVE_BLOCK - s->used)
        return -1;
    memcpy(s->block + s->used, buf, len);
    s->used += len;
    return (la_ssize_t)len;
}

int archive_header_encode(const char *name, uint64_t size, uint8_t block[ARCHIVE_BLOCK], struct err *e)
{
    struct header_sink sink = {.block = block};
    struct archive *w = writer_new();
    if (!w)
        return err_sys(e, ENOMEM, "cannot encode a tar header");
    bool ok = archive_write_open(w, &sink, NULL, take_header, NULL) == ARCHIVE_OK &&
              write_header(w, name, size) == ARCHIVE_OK && sink.used == ARCHIVE_BLOCK;
    archive_write_free(w);
    return ok ? 0 : err_set(e, EINVAL, "'%s' has no plain tar header", name);
}

static bool header_read(const uint8_t *block, char *name, uint64_t *size)
{
    struct archive_entry *entry;
    struct archive *r = archive_read_new();
    bool ok = r && archive_read_support_format_tar(r) == ARCHIVE_OK &&
              archive_read_open_memory(r, block, ARCHIVE_BLOCK) == ARCHIVE_OK &&
              archive_read_next_header(r, &entry) == ARCHIVE_OK;
    const char *path = ok ? archive_entry_pathname(entry) : NULL;
    ok = path && strlen(path) < ARCHIVE_NAME_BYTES && archive_entry_size(entry) >= 0;
    if (ok) {
        strcpy(name, path);
        *size = (uint64_t)archive_entry_size(entry);
    }
    archive_read_free(r);
    return ok;
}

int archive_header_decode(
        const uint8_t block[ARCHIVE_BLOCK], char name[ARCHIVE_NAME_BYTES], uint64_t *size, struct err *e)
{
    uint8_t canonical[ARCHIVE_BLOCK];
    char found[ARCHIVE_NAME_BYTES];
    uint64_t found_size;
    if (!header_read(block, found, &found_size))
        return err_set(e, EBADMSG, "is no tar header of a regular file");
    if (archive_header_encode(found, found_size, canonical, NULL) < 0)
        return err_set(e, EBADMSG, "is no plain tar header");
    for (size_t i = 0; i < ARCHIVE_BLOCK; i++)
        if (block[i] != canonical[i])
            return err_set(e, EBADMSG, "differs from a canonical tar header in its byte %zu", i);
    strcpy(name, found);
    *size = found_size;
    return 0;
}
