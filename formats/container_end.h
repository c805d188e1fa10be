/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The last member of a container: where the index is. Written with nine-byte integers, so that its size is
 * fixed.
 */
#ifndef IOTAPE_CONTAINER_END_H
#define IOTAPE_CONTAINER_END_H

#include <stdint.h>

#include "formats/archive.h"
#include "formats/base/err.h"
#include "formats/bytes.h"

#define CONTAINER_FIRST    "iotape.msgpack"
#define CONTAINER_INDEX    "index.msgpack"
#define CONTAINER_END      "end.msgpack"
#define CONTAINER_END_SIZE 79 /* tests check it against what container_end_pack makes */
/* From the end's header to the end of the file. */
#define CONTAINER_TAIL (2 * ARCHIVE_BLOCK + ARCHIVE_TRAILER)

struct container_end {
    uint64_t index_offset_bytes, index_size_bytes, index_digest;
};

int container_end_pack(const struct container_end *end, struct bytes *out, struct err *e);

/* Takes the last CONTAINER_TAIL bytes of a file apart. Verifies all of them: -EBADMSG. */
int container_end_parse(const uint8_t tail[CONTAINER_TAIL], struct container_end *end, struct err *e);

#endif
