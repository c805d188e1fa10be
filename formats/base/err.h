/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What went wrong, in one line that `main` prints once.
 *
 * Library functions return 0 (or a count) on success and -errno on failure. They take a caller-owned
 * `struct err *` last and fill it in before they return a failure: which operation, on which object, at
 * which position. They never print and never exit. A NULL `struct err *` is allowed: then only the
 * number is returned.
 */
#ifndef IOTAPE_ERR_H
#define IOTAPE_ERR_H

#define ERR_TEXT_BYTES 1024

struct err {
    int code; /* positive errno; 0 as long as nothing failed */
    char text[ERR_TEXT_BYTES];
};

/* An error that has not happened, without zeroing its text as `= {0}` does: for what runs for each record. */
static inline void err_clear(struct err *e)
{
    e->code = 0;
    e->text[0] = '\0';
}

/* Stores the formatted text and `code` (a positive errno). Returns -code, so that a caller can write
 * `return err_set(e, EINVAL, ...)`. For conditions that the text itself explains. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, and appends ": " and strerror(code): for what the system refused. `code` may be positive
 * or negative, so that both errno and a -errno result can be passed. Returns -|code|. */
int err_sys(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts the formatted text and ": " before the text that is there, keeping the code: adds the outer object
 * ("member 'block/00000001.msgpack.zst'") to an inner error. Returns -e->code (or -EINVAL for NULL). */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
