/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "replay/peer/rsh.h"

struct words {
    char *list[RSH_WORDS_MAX + 1];
    size_t count;
};

static void words_release(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->list[i]);
}

static int append(struct words *w, const char *text, size_t len, struct err *e)
{
    if (w->count == RSH_WORDS_MAX)
        return err_set(e, E2BIG, "more than %d words", RSH_WORDS_MAX);
    char *copy = strndup(text, len);
    if (!copy)
        return err_sys(e, ENOMEM, "cannot start a remote shell");
    w->list[w->count++] = copy;
    return 0;
}

/* Splits as rsync's -e does: blanks separate, quotes keep together, nothing else means anything. */
static int split(struct words *w, const char *command, struct err *e)
{
    CLEANUP_FREE char *word = malloc(strlen(command) + 1);
    if (!word)
        return err_sys(e, ENOMEM, "cannot start a remote shell");
    for (const char *p = command;;) {
        size_t n = 0;
        char quote = 0;
        while (isspace((unsigned char)*p))
            p++;
        if (!*p)
            return 0;
        for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
            if (quote ? *p == quote : *p == '"' || *p == '\'')
                quote = quote ? 0 : *p;
            else
                word[n++] = *p;
        }
        if (quote)
            return err_set(e, EINVAL, "'%s' has an open quote", command);
        int r = append(w, word, n, e);
        if (r < 0)
            return r;
    }
}

/* Replaces %h in a word; true in *found where there was one. */
static int substitute(char **word, const char *host, bool *found, struct err *e)
{
    size_t len = strlen(*word) + 1, room = len;
    for (const char *p = *word; *p; p++)
        room += *p == '%' ? strlen(host) : 0;
    char *out = malloc(room), *to = out;
    if (!out)
        return err_sys(e, ENOMEM, "cannot start a remote shell");
    for (const char *p = *word; *p; p++) {
        if (p[0] == '%' && p[1] == 'h') {
            to = stpcpy(to, host);
            *found = true;
            p++;
        } else {
            *to++ = *p;
            p += p[0] == '%' && p[1] == '%';
        }
    }
    *to = 0;
    free(*word);
    *word = out;
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Commands that run a program on this machine, and would take a host for the program. */
static bool is_local(const struct words *w)
{
    const char *name = base_name(w->list[0]);
    if (strcmp(name, "nsenter") == 0)
        return true;
    return strcmp(name, "ip") == 0 && w->count >= 4 && strcmp(w->list[w->count - 3], "netns") == 0 &&
           strcmp(w->list[w->count - 2], "exec") == 0;
}

static int check_host(const char *host, struct err *e)
{
    const char *at = strrchr(host, '@');
    const char *name = at ? at + 1 : host;
    if (!*name || at == host)
        return err_set(e, EINVAL, "'%s' is not [user@]host", host);
    if (*host == '-' || *name == '-')
        return err_set(e, EINVAL, "'%s' begins as an option does", host);
    for (const char *p = host; *p; p++)
        if (isspace((unsigned char)*p) || iscntrl((unsigned char)*p))
            return err_set(e, EINVAL, "'%s' holds a blank", host);
    return 0;
}

int rsh_words(char ***argv, const char *command, const char *host, const char *const *tail, struct err *e)
{
    CLEANUP(words_release) struct words w = {0};
    bool placed = false;
    int r = check_host(host, e);
    if (r == 0)
        r = split(&w, command, e);
    if (r == 0 && (w.count == 0 || !*w.list[0]))
        r = err_set(e, EINVAL, "the command is empty");
    if (r == 0)
        placed = is_local(&w);
    for (size_t i = 0; r == 0 && i < w.count; i++)
        r = substitute(&w.list[i], host, &placed, e);
    if (r == 0 && !placed)
        r = append(&w, host, strlen(host), e);
    for (size_t i = 0; r == 0 && tail[i]; i++)
        r = append(&w, tail[i], strlen(tail[i]), e);
    if (r < 0)
        return r;
    *argv = calloc(w.count + 1, sizeof **argv);
    if (!*argv)
        return err_sys(e, ENOMEM, "cannot start a remote shell");
    memcpy(*argv, w.list, w.count * sizeof **argv);
    w.count = 0;
    return 0;
}

void rsh_words_free(char **argv)
{
    for (char **p = argv; p && *p; p++)
        free(*p);
    free(argv);
}
