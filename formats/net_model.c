/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <stdio.h>

#include "formats/net.h"

#define NAME_OF(list, number) ((number) < sizeof(list) / sizeof *(list) ? (list)[number] : NULL)

const char *net_protocol_name(unsigned protocol)
{
    static const char *const names[] = {"tcp", "udp"};
    return NAME_OF(names, protocol);
}

const char *net_side_name(unsigned side)
{
    static const char *const names[] = {"initiator", "responder"};
    return NAME_OF(names, side);
}

const char *net_kind_name(unsigned kind)
{
    static const char *const names[] = {"connect", "accept", "data", "half_close", "close", "reset", "cut"};
    return NAME_OF(names, kind);
}

static const char *join(unsigned bits, const char *first, const char *second, char buf[NET_TEXT_BYTES])
{
    snprintf(buf, NET_TEXT_BYTES, "%s%s%s", bits & 1 ? first : "", (bits & 3) == 3 ? "|" : "",
            bits & 2 ? second : "");
    return buf;
}

const char *net_marks_name(unsigned marks, char buf[NET_TEXT_BYTES])
{
    return join(marks, "began_before", "initiator_guessed", buf);
}

const char *net_flags_name(unsigned flags, char buf[NET_TEXT_BYTES])
{
    return join(flags, "forgotten", "unseen", buf);
}
