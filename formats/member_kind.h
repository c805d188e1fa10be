/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which member holds what, by its name (TAPE.md, "Members").
 */
#ifndef IOTAPE_MEMBER_KIND_H
#define IOTAPE_MEMBER_KIND_H

enum member_kind {
    MEMBER_INFO,       /* iotape.msgpack */
    MEMBER_DICT,       /* dict/NNNNNN.msgpack */
    MEMBER_BLOCK,      /* block/NNNNNNNN.msgpack.zst */
    MEMBER_LATE,       /* late/NNNNNN.msgpack.zst */
    MEMBER_CONVERSATION, /* conversation/NNNNNNNN.msgpack.zst */
    MEMBER_NET,        /* net/NNNNNNNN.msgpack.zst */
    MEMBER_RESULT,     /* result/NNNNNNNN.msgpack.zst */
    MEMBER_EXCHANGE,   /* exchange/NNNNNNNN.msgpack.zst */
    MEMBER_REPETITION, /* repetition/NNNNNN.msgpack */
    MEMBER_OTHER,      /* of a later version: verified, not read */
};

enum member_kind member_kind(const char *name);

#endif
