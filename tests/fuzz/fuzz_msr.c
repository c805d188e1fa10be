/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Any bytes as an MSR Cambridge trace. The first byte chooses the options; the rest is the file.
 */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_import("msr", data, size);
}
