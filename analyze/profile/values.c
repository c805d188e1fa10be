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

void values_add_many(struct values *v, struct profile_values *out, const uint64_t *values, size_t count)
{
    select_add_many(v->select, values, count);
    if (v->again || !count)
        return;
    uint64_t min = out->count ? out->min : UINT64_MAX, max = out->max;
    for (size_t i = 0; i < count; i++) {
        v->sum += values[i];
        min = min < values[i] ? min : values[i];
        max = max > values[i] ? max : values[i];
        out->log.count[profile_log_of(values[i])]++;
    }
    out->min = min;
    out->max = max;
    out->count += count;
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
