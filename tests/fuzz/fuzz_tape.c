/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Fuzz target: a file as it is, opened as a tape and as a run.
 *
 *   make CC=clang SAN=fuzzer,address,undefined CPPFLAGS=-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
 *       BUILD=build-fuzz build-fuzz/tests/fuzz/fuzz_tape && build-fuzz/tests/fuzz/fuzz_tape
 * tests/fuzz/corpus/tape
 */
#include "tests/fuzz/fuzz_container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[64];
    int fd = fuzz_file(path, sizeof path);
    if (fd >= 0 && write(fd, data, len) == (ssize_t)len)
        fuzz_read(path);
    if (fd >= 0)
        close(fd);
    return 0;
}
