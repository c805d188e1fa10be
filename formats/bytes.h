/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A growable run of bytes.
 */
#ifndef IOTAPE_BYTES_H
#define IOTAPE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

/* Zero-initialised is empty and valid. */
struct bytes {
    uint8_t *data; /* owned */
    size_t len, cap;
};

/* Makes room for `more` bytes behind `len`. -ENOMEM, then nothing has changed. */
int bytes_reserve(struct bytes *b, size_t more, struct err *e);

/* Appends a copy. -ENOMEM. */
int bytes_append(struct bytes *b, const void *data, size_t len, struct err *e);

void bytes_release(struct bytes *b);

#endif
