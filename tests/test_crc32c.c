/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The examples of RFC 3720, appendix B.4, whose CRCs are given there as bytes on the wire, the least
 * significant first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/crc32c.h"

/* "An iSCSI - SCSI Read (10) Command PDU" */
static const uint8_t pdu[48] = {0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0,
        0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0};

static void both_are(const void *data, size_t len, uint32_t wanted)
{
    assert_int_equal(crc32c(0, data, len), wanted);
    assert_int_equal(crc32c_plain(0, data, len), wanted);
}

static void examples_of_the_rfc(void **state)
{
    (void)state;
    uint8_t data[32];
    memset(data, 0, sizeof data);
    both_are(data, 32, 0x8a9136aa); /* aa 36 91 8a */
    memset(data, 0xff, sizeof data);
    both_are(data, 32, 0x62a8ab43); /* 43 ab a8 62 */
    for (uint8_t i = 0; i < 32; i++)
        data[i] = i;
    both_are(data, 32, 0x46dd794e); /* 4e 79 dd 46 */
    for (uint8_t i = 0; i < 32; i++)
        data[i] = (uint8_t)(31 - i);
    both_are(data, 32, 0x113fdb5c);        /* 5c db 3f 11 */
    both_are(pdu, sizeof pdu, 0xd9963a56); /* 56 3a 96 d9 */
}

/* In pieces of any length and alignment, by either way. */
static void pieces(void **state)
{
    (void)state;
    for (size_t cut = 0; cut <= sizeof pdu; cut++) {
        assert_int_equal(crc32c(crc32c(0, pdu, cut), pdu + cut, sizeof pdu - cut), 0xd9963a56);
        assert_int_equal(crc32c_plain(crc32c(0, pdu, cut), pdu + cut, sizeof pdu - cut), 0xd9963a56);
    }
    both_are(NULL, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_of_the_rfc), cmocka_unit_test(pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
