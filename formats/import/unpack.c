/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKED_BYTES 131072 /* not less than what was read before */

struct unpack {
    struct archive *archive;
    const char *path;
    int fd, read_errno;
    size_t head;    /* bytes of `packed` that were read before */
    uint64_t taken; /* bytes given to libarchive */
    bool empty;
    uint8_t packed[PACKED_BYTES];
};

/* The first bytes: RFC 1952 (with the only method there is), RFC 8878, and xz-file-format.txt. */
bool unpack_known(const uint8_t *head, size_t len)
{
    static const struct {
        const char *bytes;
        size_t len;
    } magics[] = {{"\x1f\x8b\x08", 3}, {"\x28\xb5\x2f\xfd", 4}, {"\xfd\x37\x7a\x58\x5a\0", 6}};

    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= magics[i].len && memcmp(head, magics[i].bytes, magics[i].len) == 0)
            return true;
    return false;
}

static la_ssize_t packed_read(struct archive *archive, void *self, const void **buf)
{
    struct unpack *u = self;
    ssize_t got = (ssize_t)u->head;

    *buf = u->packed;
    u->head = 0;
    while (got == 0 && (got = read(u->fd, u->packed, sizeof u->packed)) < 0 && errno == EINTR)
        got = 0;
    if (got < 0) {
        u->read_errno = errno;
        archive_set_error(archive, errno, "%s", strerror(errno));
    } else {
        u->taken += (uint64_t)got;
    }
    return got;
}

/* libarchive's texts are lines of their own. */
static int failed(struct unpack *u, struct err *e)
{
    const char *text = archive_error_string(u->archive);

    if (u->read_errno)
        return err_sys(e, u->read_errno, "cannot read '%s'", u->path);
    return err_set(e, EBADMSG, "'%s' cannot be unpacked: it is damaged or cut off%s%s", u->path,
            text ? ": " : "", text ? text : "");
}

int unpack_open(struct unpack **out, int fd, const char *path, const uint8_t *head, size_t len, struct err *e)
{
    struct unpack *u = len <= PACKED_BYTES ? calloc(1, sizeof *u) : NULL;
    struct archive_entry *entry;
    int rc;

    if (!u)
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    *u = (struct unpack){.archive = archive_read_new(), .path = path, .fd = fd, .head = len};
    memcpy(u->packed, head, len);
    if (!u->archive || archive_read_support_filter_gzip(u->archive) < ARCHIVE_WARN ||
            archive_read_support_filter_zstd(u->archive) < ARCHIVE_WARN ||
            archive_read_support_filter_xz(u->archive) < ARCHIVE_WARN ||
            archive_read_support_format_raw(u->archive) != ARCHIVE_OK ||
            archive_read_support_format_empty(u->archive) != ARCHIVE_OK) {
        unpack_close(u);
        return err_sys(e, ENOMEM, "cannot read '%s'", path);
    }
    rc = archive_read_open(u->archive, u, NULL, packed_read, NULL);
    if (rc == ARCHIVE_OK)
        rc = archive_read_next_header(u->archive, &entry);
    if (rc != ARCHIVE_OK && rc != ARCHIVE_EOF) {
        rc = failed(u, e);
        unpack_close(u);
        return rc;
    }
    u->empty = rc == ARCHIVE_EOF;
    *out = u;
    return 0;
}

/* libarchive is silent about bytes behind the end of a gzip stream, such as the begin of another one. */
static int check_end(struct unpack *u, struct err *e)
{
    const void *more;

    if ((uint64_t)archive_filter_bytes(u->archive, -1) == u->taken && packed_read(u->archive, u, &more) == 0)
        return 0;
    if (u->read_errno)
        return failed(u, e);
    return err_set(e, EBADMSG,
            "'%s' cannot be unpacked: what follows the end of its packed data is damaged or cut off",
            u->path);
}

ssize_t unpack_read(struct unpack *u, void *buf, size_t len, struct err *e)
{
    la_ssize_t got = u->empty ? 0 : archive_read_data(u->archive, buf, len);

    return got < 0 ? failed(u, e) : got == 0 ? check_end(u, e) : got;
}

void unpack_close(struct unpack *u)
{
    if (!u)
        return;
    archive_read_free(u->archive);
    free(u);
}
