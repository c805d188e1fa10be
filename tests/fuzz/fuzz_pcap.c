/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Any bytes as a capture of packets: what libpcap gives of them goes through packets, reassembly and the
 * rules of conversations. The first byte chooses the options; the rest is the file.
 */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_import("pcap", data, size);
}
