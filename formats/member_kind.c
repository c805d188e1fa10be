/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/member_kind.h"

#include <stddef.h>
#include <string.h>

#include "formats/container_end.h"

enum member_kind member_kind(const char *name)
{
    static const struct {
        const char *folder;
        enum member_kind kind;
    } folders[] = {{"dict/", MEMBER_DICT}, {"block/", MEMBER_BLOCK}, {"late/", MEMBER_LATE},
            {"conversation/", MEMBER_CONVERSATION}, {"net/", MEMBER_NET}, {"result/", MEMBER_RESULT},
            {"exchange/", MEMBER_EXCHANGE}, {"repetition/", MEMBER_REPETITION}};
    if (strcmp(name, CONTAINER_FIRST) == 0)
        return MEMBER_INFO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(name, folders[i].folder, strlen(folders[i].folder)) == 0)
            return folders[i].kind;
    return MEMBER_OTHER;
}
