/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/results/hints.h"

#include <errno.h>

int hints_refuse(const struct reading *r, struct err *e)
{
    if (!r->raw_len)
        return err_set(e, EINVAL, "'%s' is empty", r->name);
    return err_set(e, EINVAL,
            "'%s' is neither a tape nor a run, nor does it hold a result of a tool that is known", r->name);
}
