/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What tape.h and run.h own: releasing and copying descriptions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/run.h"
#include "formats/tape.h"

void tape_stream_release(struct tape_stream *s)
{
    free(s->name);
    facts_release(&s->device);
    *s = (struct tape_stream){0};
}

void tape_info_release(struct tape_info *i)
{
    free(i->label);
    facts_release(&i->host);
    facts_release(&i->options);
    *i = (struct tape_info){0};
}

void tape_totals_release(struct tape_totals *t)
{
    free(t->ended);
    facts_release(&t->counts);
    free(t->streams);
    *t = (struct tape_totals){0};
}

void run_info_release(struct run_info *i)
{
    tape_info_release(&i->tape);
    facts_release(&i->host);
    facts_release(&i->options);
    facts_release(&i->target);
    free(i->target_name);
    *i = (struct run_info){0};
}

int tape_stream_copy(struct tape_stream *to, const struct tape_stream *from, struct err *e)
{
    struct tape_stream s = *from;
    s.device = (struct facts){0};
    s.name = strdup(from->name ? from->name : "");
    int r = s.name ? facts_merge(&s.device, &from->device, "", e)
                   : err_sys(e, ENOMEM, "cannot copy a stream");
    if (r < 0)
        tape_stream_release(&s);
    *to = s;
    return r;
}
