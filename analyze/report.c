/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct report_ops *const report_list[] = {
#define REPORT_ENTRY(name) &report_##name,
        REPORTS(REPORT_ENTRY) NULL};

const struct report_ops *report_find(const char *name)
{
    for (size_t i = 0; report_list[i]; i++)
        if (strcmp(report_list[i]->name, name) == 0)
            return report_list[i];
    return NULL;
}

const char *report_number(double value, char buf[REPORT_NUMBER_BYTES])
{
    return report_digits(value, 6, buf);
}

const char *report_digits(double value, int digits, char buf[REPORT_NUMBER_BYTES])
{
    buf[0] = 0;
    if (!isfinite(value))
        return buf;
    if (value == 0)
        return strcpy(buf, "0");
    /* Programs that use this never call setlocale, so that printf's point is a point. */
    int decimals = digits - 1 - (int)floor(log10(fabs(value)));
    snprintf(buf, REPORT_NUMBER_BYTES, "%.*f", decimals < 0 ? 0 : decimals > 330 ? 330 : decimals, value);
    if (strchr(buf, '.')) {
        char *end = buf + strlen(buf);
        while (end[-1] == '0')
            *--end = 0;
        if (end[-1] == '.')
            end[-1] = 0;
    }
    return buf;
}

const char *report_percent(double value, char buf[REPORT_NUMBER_BYTES])
{
    buf[0] = 0;
    if (isfinite(value))
        snprintf(buf, REPORT_NUMBER_BYTES, "%.2f", fabs(value) < 0.005 ? 0 : value); /* never "-0.00" */
    return buf;
}

int report_flags(struct flags *all, const struct comparison *c, const struct row *row, struct err *e)
{
    int rc = row->flags.text ? flags_add(all, e, "%s", row->flags.text) : 0;
    return rc == 0 && c->flags.text ? flags_add(all, e, "%s", c->flags.text) : rc;
}

void report_release(struct report *r)
{
    for (size_t i = 0; i < r->count; i++)
        comparison_release(&r->comparisons[i]);
    free(r->comparisons);
    free(r->means);
    *r = (struct report){0};
}
