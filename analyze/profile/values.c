/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/values.h"

#include "analyze/profile/aspect.h"

static const double quantiles[] = {
#define QUANTILE(name, q) q,
        PROFILE_QUANTILES(QUANTILE)
#undef QUANTILE
};

int values_open(struct values *v, struct err *e)
{
    *v = (struct values){0};
    return select_open(&v->select, quantiles, sizeof quantiles / sizeof *quantiles, e);
}

void values_close(struct values *v)
{
    select_close(v->select);
}

void values_add(struct values *v, struct profile_values *out, uint64_t value)
{
    select_add(v->select, value);
    if (v->again)
        return;
    v->sum += value;
    out->min = out->count && out->min < value ? out->min : value;
    out->max = out->max > value ? out->max : value;
    out->count++;
    out->log.count[profile_log_of(value)]++;
}

bool values_next(struct values *v, struct profile_values *out)
{
    v->again = true;
    if (select_next(v->select))
        return true;
    out->mean = out->count ? (double)v->sum / (double)out->count : 0;
    size_t i = 0;
#define QUANTILE(name, q) out->name = select_value(v->select, i++);
    PROFILE_QUANTILES(QUANTILE)
#undef QUANTILE
    return false;
}
