/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/html_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/html.h"
#include "formats/base/cleanup.h"
#include "formats/base/opts.h"

static char *title_of(const struct html_report *r)
{
    const struct systems *s = &r->compare->systems;
    const char *workload = r->compare->workloads.count ? r->compare->workloads.list[0].name : "";
    char *title;
    int n = s->count == 2  ? asprintf(&title, "%s: %s against %s", workload, s->list[!r->compare->base].name,
                                     s->list[r->compare->base].name)
            : s->count > 2 ? asprintf(&title, "%s: %zu systems against %s", workload, s->count - 1,
                                     s->list[r->compare->base].name)
                           : asprintf(&title, "%s: %s", workload, s->list[0].name);
    return n < 0 ? NULL : title;
}

int html_report_write(const struct html_report *r, struct out *o, struct err *e)
{
    CLEANUP_FREE char *title = title_of(r);
    if (!title)
        return err_sys(e, ENOMEM, "cannot write a report");
    html_begin(o, title);
    html_asked(o, r);
    int rc = html_overhead(o, r, e);
    if (rc == 0)
        rc = html_plots(o, r, e);
    if (rc == 0)
        rc = html_profile(o, r, e);
    if (rc == 0)
        rc = html_fidelity(o, r, e);
    if (rc == 0)
        rc = html_hosts(o, r, e);
    if (rc < 0)
        return rc;
    html_commands(o, r);
    html_paragraph(o, "note", "Made by iotape %s.", IOTAPE_VERSION);
    html_end(o);
    return 0;
}
