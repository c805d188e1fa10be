/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Any bytes as an iolog of fio with a latency log beside it. The first byte chooses the options; the files
 * are divided by the first byte of 0.
 */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_options opts = {0};
    char path[2][64];
    const char *const paths[] = {path[0], path[1]};
    const uint8_t *end = size ? memchr(data + 1, 0, size - 1) : NULL;

    if (!end || size > FUZZ_RECORDS)
        return 0;
    opts.skip_bad = data[0] & 1;
    fuzz_path(path[0], 0);
    fuzz_path(path[1], 1);
    fuzz_write(path[0], data + 1, (size_t)(end - data) - 1);
    fuzz_write(path[1], end + 1, (size_t)(data + size - end) - 1);
    fuzz_read("fio_iolog", paths, 2, &opts);
    unlink(path[0]);
    unlink(path[1]);
    return 0;
}
