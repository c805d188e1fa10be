/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What differs between the sides of each comparison though the work is the same, as CSV beside the table.
 */
#include "analyze/report_tables.h"
#include "formats/base/csv_text.h"

int report_write_context(const struct report *r, struct out *o, struct err *e)
{
    out_text(o, "workload,base,candidate,what,base_value,candidate_value\n");
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->comparisons[i].difference_count; j++) {
            const struct comparison *c = &r->comparisons[i];
            const struct difference *d = &c->differences[j];
            const char *const lead[] = {c->workload, c->base.name, c->cand.name, d->key, d->base};
            int rc = csv_texts_write_safe(o, lead, sizeof lead / sizeof *lead, e);
            if (rc == 0)
                rc = csv_text_write_safe(o, d->cand, e);
            if (rc < 0)
                return rc;
            out_text(o, "\n");
        }
    return 0;
}
