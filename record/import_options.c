/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/import_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "record/options.h"

int import_set_time_unit(void *values, const char *text, struct err *e)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text, units[i].name) == 0) {
            ((struct options *)values)->import.time_unit_ns = units[i].ns;
            return 0;
        }
    return err_set(e, EINVAL, "'%s' is none of ns, us, ms, s", text);
}

int import_set_window(void *values, const char *text, struct err *e)
{
    uint64_t *window = &((struct options *)values)->import.window;
    int status = units_parse_u64(text, window, e);
    if (status == 0 && (*window == 0 || *window > IMPORT_WINDOW_MAX))
        return err_set(e, EINVAL, "from 1 to %d", IMPORT_WINDOW_MAX);
    return status;
}

int import_set_lba_unit(void *values, const char *text, struct err *e)
{
    uint64_t *bytes = &((struct options *)values)->import.lba_bytes;
    int status = units_parse_size(text, bytes, e);
    return status == 0 && *bytes == 0 ? err_set(e, EINVAL, "0 is no unit") : status;
}

const char *import_only_option(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
    } all[] = {{o->format, "--format"}, {o->only.count, "--only"}, {o->from_ns, "--from"},
            {o->import.skip_bad, "--skip-bad"}, {o->import.window, "--sort-window"},
            {o->import.time_unit_ns, "--time-unit"}, {o->import.lba_bytes, "--lba-unit"},
            {o->import.scrub, "--scrub"}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].given)
            return all[i].name;
    return NULL;
}

char *import_formats_help(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; out && import_list[i]; i++)
        fprintf(out, "%s  %-12s %s", i ? "\n" : "", import_list[i]->name, import_list[i]->help);
    if (out)
        fclose(out);
    return text;
}
