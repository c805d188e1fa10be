/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/opts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"

#define HELP_COLUMN 30
#define HELP_WIDTH  100

static const struct opt common_opts[] = {{"help", 'h', OPT_FLAG, 0, NULL, "show this text", NULL, NULL},
        {"version", 'V', OPT_FLAG, 0, NULL, "show the version", NULL, NULL},
        {.name = "help-man"}, /* not shown */
        {.name = NULL}};

static size_t count_opts(const struct opt *o)
{
    size_t n = 0;
    while (o[n].name)
        n++;
    return n;
}

/* One line, whatever is in names from the command line and from strangers' files: what would end it, or would
 * be obeyed by a terminal, is shown as '?'. */
static void report(const struct opt_spec *spec, const struct err *e, const char *hint)
{
    char text[ERR_TEXT_BYTES];
    snprintf(text, sizeof text, "%s", e->text);
    for (char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
    fprintf(stderr, "%s: error: %s%s\n", spec->name, text, hint);
}

void opts_report(const struct opt_spec *spec, const struct err *e)
{
    report(spec, e, "");
}

static int set_choice(const struct opt *o, int *slot, const char *text, struct err *e)
{
    char known[256] = "";
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *slot = i;
            return 0;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    return err_set(e, EINVAL, "'%s' is none of %s", text, known);
}

static int set_value(const struct opt *o, void *values, const char *text, struct err *e)
{
    void *slot = (char *)values + o->offset;
    switch (o->kind) {
    case OPT_FLAG:
        *(bool *)slot = true;
        return 0;
    case OPT_STR:
        *(const char **)slot = text;
        return 0;
    case OPT_U64:
        return units_parse_u64(text, slot, e);
    case OPT_DOUBLE:
        return units_parse_double(text, slot, e);
    case OPT_SIZE:
        return units_parse_size(text, slot, e);
    case OPT_DURATION:
        return units_parse_duration(text, slot, e);
    case OPT_CHOICE:
        return set_choice(o, slot, text, e);
    case OPT_CALL:
        return o->call(values, text, e);
    }
    return err_set(e, EINVAL, "option of unknown kind");
}

/* Prose broken at HELP_WIDTH; lines that begin with two blanks are kept. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
    int column = 0;
    for (const char *p = text; *p;) {
        if ((p == text || p[-1] == '\n') && p[0] == ' ' && p[1] == ' ') {
            size_t n = strcspn(p, "\n");
            fprintf(out, "%s%*s%.*s\n", column ? "\n" : "", indent, "", (int)n, p);
            column = 0;
            p += n + (p[n] == '\n');
            continue;
        }
        if (*p == '\n' && p[1] == '\n') {
            fprintf(out, "%s\n", column ? "\n" : "");
            column = 0;
            p += 2;
            continue;
        }
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        size_t n = strcspn(p, " \n");
        if (column && column + 1 + (int)n > HELP_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column ? 1 : indent, "", (int)n, p);
        p += n;
    }
    if (column)
        fputc('\n', out);
}

static void print_option(FILE *out, const struct opt *o)
{
    char left[128];
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    int n = snprintf(
            left, sizeof left, "  %s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    if (n >= HELP_COLUMN)
        fprintf(out, "%s\n%*s", left, HELP_COLUMN, "");
    else
        fprintf(out, "%-*s", HELP_COLUMN, left);
    int column = HELP_COLUMN;
    for (const char *p = o->help; *p;) {
        size_t w = strcspn(p, " ");
        if (column > HELP_COLUMN && column + (int)w > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += fprintf(out, "%.*s ", (int)w, p);
        p += w + (p[w] == ' ');
    }
    fputc('\n', out);
}

static void print_usage(FILE *out, const struct opt_spec *spec)
{
    const char *lead = "Usage: ";
    for (const char *u = spec->usage;;) {
        size_t n = strcspn(u, "\n");
        fprintf(out, "%s%s %.*s\n", lead, spec->name, (int)n, u);
        if (!u[n])
            break;
        u += n + 1;
        lead = "       ";
    }
}

void opts_help(const struct opt_spec *spec, FILE *out)
{
    print_usage(out, spec);
    fprintf(out, "%s\n\nOptions:\n", spec->summary);
    for (const struct opt *o = spec->opts; o->name; o++)
        print_option(out, o);
    for (const struct opt *o = common_opts; o->help; o++)
        print_option(out, o);
    for (const char *const *s = spec->sections; s && s[0]; s += 2) {
        fprintf(out, "\n%s:\n", s[0]);
        print_wrapped(out, s[1], 2);
    }
}

/* Text with what roff would interpret escaped: a backslash, a hyphen, a control character at a line's begin.
 */
static void roff_text(FILE *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n && p[i]; i++) {
        if ((i == 0 || p[i - 1] == '\n') && (p[i] == '.' || p[i] == '\''))
            fputs("\\&", out);
        if (p[i] == '\\')
            fputs("\\e", out);
        else if (p[i] == '-')
            fputs("\\-", out);
        else
            fputc(p[i], out);
    }
}

static void roff_section(FILE *out, const char *title, const char *text)
{
    fputs(".SH \"", out);
    for (const char *p = title; *p; p++)
        fputc(toupper((unsigned char)*p), out);
    fputs("\"\n", out);
    int kept = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        int keep = p[0] == ' ' && p[1] == ' ';
        if (keep != kept)
            fputs(keep ? ".nf\n" : ".fi\n", out);
        kept = keep;
        if (!n)
            fputs(".PP\n", out);
        else {
            roff_text(out, p, n);
            fputc('\n', out);
        }
        p += n + (p[n] == '\n');
    }
    if (kept)
        fputs(".fi\n", out);
}

static void roff_option(FILE *out, const struct opt *o)
{
    fputs(".TP\n\\fB", out);
    if (o->letter)
        fprintf(out, "\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", out);
    roff_text(out, o->name, strlen(o->name));
    fputs("\\fR", out);
    if (o->arg) {
        fputs(" \\fI", out);
        roff_text(out, o->arg, strlen(o->arg));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    roff_text(out, o->help, strlen(o->help));
    fputs(".\n", out);
}

static void print_man(const struct opt_spec *spec, FILE *out)
{
    char page[64];
    snprintf(page, sizeof page, "%s", spec->name);
    for (char *p = page; *p; p++)
        if (*p == ' ')
            *p = '-';
    fprintf(out, ".TH \"%s\" 1 \"\" \"iotape %s\" \"User Commands\"\n.SH NAME\n", page, IOTAPE_VERSION);
    roff_text(out, page, strlen(page));
    fputs(" \\- ", out);
    roff_text(out, spec->summary, strlen(spec->summary));
    fputs("\n.SH SYNOPSIS\n.nf\n", out);
    for (const char *u = spec->usage;;) {
        size_t n = strcspn(u, "\n");
        fprintf(out, "\\fB");
        roff_text(out, spec->name, strlen(spec->name));
        fputs("\\fR ", out);
        roff_text(out, u, n);
        fputc('\n', out);
        if (!u[n])
            break;
        u += n + 1;
    }
    fputs(".fi\n.SH OPTIONS\n", out);
    for (const struct opt *o = spec->opts; o->name; o++)
        roff_option(out, o);
    for (const struct opt *o = common_opts; o->help; o++)
        roff_option(out, o);
    for (const char *const *s = spec->sections; s && s[0]; s += 2)
        roff_section(out, s[0], s[1]);
}

static enum opts_outcome usage_error(const struct opt_spec *spec, const struct err *e)
{
    report(spec, e, " (see --help)");
    return OPTS_USAGE;
}

static const struct opt *find_letter(const struct opt *o, int letter)
{
    for (; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* Where a standard stream is closed, a tape or a target that is opened would get its number, and messages
 * would be written into it. Opened for reading: what is printed fails as it should. */
static void occupy_standard_streams(void)
{
    for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
    }
}

/* What was asked for on standard output is there, or it is a failure. */
static enum opts_outcome printed(const struct opt_spec *spec)
{
    struct err e = {0};
    if (fflush(stdout) == 0 && !ferror(stdout))
        return OPTS_EXIT_OK;
    err_sys(&e, errno, "cannot write to standard output");
    report(spec, &e, "");
    return OPTS_USAGE;
}

enum opts_outcome opts_parse(
        const struct opt_spec *spec, int argc, char **argv, void *values, char ***command)
{
    occupy_standard_streams();
    size_t own = count_opts(spec->opts);
    size_t common = count_opts(common_opts);
    CLEANUP_FREE struct option *longs = calloc(own + common + 1, sizeof *longs);
    CLEANUP_FREE char *shorts = calloc(own * 2 + 16, 1);
    struct err e = {0};
    if (!longs || !shorts) {
        err_sys(&e, ENOMEM, "cannot read the command line");
        return usage_error(spec, &e);
    }
    strcpy(shorts, "-:hV");
    for (size_t i = 0; i < own + common; i++) {
        const struct opt *o = i < own ? &spec->opts[i] : &common_opts[i - own];
        longs[i] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, 0};
        if (o->letter && i < own) {
            size_t used = strlen(shorts);
            shorts[used] = o->letter;
            shorts[used + 1] = o->arg ? ':' : 0;
        }
    }
    if (command)
        *command = NULL;
    optind = 0; /* glibc: start over, whatever was parsed before */
    opterr = 0;
    for (;;) {
        int index = -1;
        int c = getopt_long(argc, argv, shorts, longs, &index);
        if (c == -1)
            break;
        if (c == 1) {
            if (!spec->word)
                err_set(&e, EINVAL, "unexpected word '%s'", optarg);
            else
                spec->word(values, optarg, &e);
            if (e.code)
                return usage_error(spec, &e);
            continue;
        }
        if (c == ':') {
            err_set(&e, EINVAL, "option '%s' needs a value", argv[optind - 1]);
            return usage_error(spec, &e);
        }
        if (c == '?') {
            err_set(&e, EINVAL, "unknown option '%s'", argv[optind - 1]);
            return usage_error(spec, &e);
        }
        const struct opt *o = index < 0             ? find_letter(spec->opts, c)
                              : (size_t)index < own ? &spec->opts[index]
                                                    : &common_opts[(size_t)index - own];
        if (!o)
            o = find_letter(common_opts, c);
        if (o == &common_opts[0]) {
            opts_help(spec, stdout);
            return printed(spec);
        }
        if (o == &common_opts[1]) {
            printf("%s %s\n", spec->name, IOTAPE_VERSION);
            return printed(spec);
        }
        if (o == &common_opts[2]) {
            print_man(spec, stdout);
            return printed(spec);
        }
        if (set_value(o, values, optarg, &e) < 0) {
            err_prefix(&e, "--%s", o->name);
            return usage_error(spec, &e);
        }
    }
    if (command && optind > 0 && optind <= argc && strcmp(argv[optind - 1], "--") == 0) {
        *command = argv + optind;
        return OPTS_RUN;
    }
    for (int i = optind; i < argc; i++) {
        if (!spec->word)
            err_set(&e, EINVAL, "unexpected word '%s'", argv[i]);
        else
            spec->word(values, argv[i], &e);
        if (e.code)
            return usage_error(spec, &e);
    }
    return OPTS_RUN;
}
