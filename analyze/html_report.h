/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The page that `report` writes, section by section.
 */
#ifndef IOTAPE_HTML_REPORT_H
#define IOTAPE_HTML_REPORT_H

#include "analyze/compare.h"
#include "analyze/plot.h"
#include "analyze/profile.h"
#include "formats/base/err.h"
#include "formats/base/out.h"

struct html_report {
    const struct compare *compare; /* made by compare_run; with one system there are no comparisons */
    char **words;                  /* the command line that makes the report, ended by NULL */
    const char *tape;              /* path of the tape, NULL where none was given */
    const struct profile *profile; /* of it; NULL */
};

/* All of it. -errno of reading and drawing, -ENOMEM; failed writes are out_close's to report. */
int html_report_write(const struct html_report *r, struct out *o, struct err *e);

/* ---- the sections ---- */

/* "slower", ..., "unknown": a class of html_style.c. */
const char *html_verdict_class(enum verdict v);
/* What a comparison's primary metric says, in a sentence; owned by the caller, NULL where memory is short. */
char *html_verdict_sentence(
        const struct comparison *k, const struct row *row, const struct comparison_options *o);
/* The primary row, NULL where there is none. */
const struct row *html_primary(const struct comparison *k);

void html_asked(struct out *o, const struct html_report *r);
int html_overhead(struct out *o, const struct html_report *r, struct err *e);
int html_plots(struct out *o, const struct html_report *r, struct err *e);
int html_profile(struct out *o, const struct html_report *r, struct err *e);
int html_fidelity(struct out *o, const struct html_report *r, struct err *e);
int html_hosts(struct out *o, const struct html_report *r, struct err *e);
void html_commands(struct out *o, const struct html_report *r);

/* Two drawings of a plot, one for wide and one for narrow pages, of which the style shows one. Says in a
 * paragraph why there is none where there is nothing to draw. `number` makes ids different. */
int html_figure(
        struct out *o, const struct plot_ops *ops, const struct plot_input *in, size_t number, struct err *e);

#endif
