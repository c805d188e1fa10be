/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Beside iotape: libnfs's own asynchronous file calls in a loop, so many in flight, over the records of a fio
 * iolog (version 3). Prints I/Os a second.
 *
 *   nfs_loop URL DEPTH IOLOG
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nfsc/libnfs.h>

#define LEN_BYTES 4096

struct loop {
    struct nfs_context *nfs;
    struct nfsfh *file;
    struct record {
        uint64_t offset_bytes;
        int write;
    } * record;
    size_t count, next, done;
};

/* One in flight. */
struct slot {
    struct loop *loop;
    const struct record *record;
    char data[LEN_BYTES];
};

static void die(const char *what, struct nfs_context *nfs)
{
    fprintf(stderr, "nfs_loop: error: %s: %s\n", what, nfs ? nfs_get_error(nfs) : "");
    exit(1);
}

static void issue(struct slot *s);

static void on_done(int result, struct nfs_context *nfs, void *data, void *private_data)
{
    struct slot *s = private_data;
    if (result != LEN_BYTES)
        die("short or failed", nfs);
    if (!s->record->write)
        memcpy(s->data, data, LEN_BYTES); /* as any program that wants to have it */
    s->loop->done++;
    issue(s);
}

static void issue(struct slot *s)
{
    struct loop *l = s->loop;
    if (l->next == l->count)
        return;
    const struct record *r = s->record = &l->record[l->next++];
    int failed = r->write ? nfs_pwrite_async(l->nfs, l->file, r->offset_bytes, LEN_BYTES, s->data, on_done, s)
                          : nfs_pread_async(l->nfs, l->file, r->offset_bytes, LEN_BYTES, on_done, s);
    if (failed)
        die("cannot issue", l->nfs);
}

static void load(struct loop *l, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[256], op[16];
    unsigned long long offset, len;
    if (!f)
        die(path, NULL);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%*u %*s %15s %llu %llu", op, &offset, &len) != 3 || len != LEN_BYTES)
            continue;
        if ((l->count & (l->count + 1)) == 0)
            l->record = realloc(l->record, (2 * l->count + 2) * sizeof *l->record);
        if (!l->record)
            die("no memory", NULL);
        l->record[l->count++] = (struct record){offset, strcmp(op, "write") == 0};
    }
    fclose(f);
}

static void mount_file(struct loop *l, const char *url)
{
    l->nfs = nfs_init_context();
    struct nfs_url *u = l->nfs ? nfs_parse_url_full(l->nfs, url) : NULL;
    if (!u)
        die("bad URL", l->nfs);
    if (nfs_mount(l->nfs, u->server, u->path) || nfs_open(l->nfs, u->file, O_RDWR, &l->file))
        die("cannot open", l->nfs);
    nfs_destroy_url(u);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct loop l = {0};
    if (argc != 4)
        return 2;
    mount_file(&l, argv[1]);
    load(&l, argv[3]);
    size_t depth = strtoul(argv[2], NULL, 10);
    struct slot *slot = calloc(depth, sizeof *slot);
    double begin_s = now_s();
    for (size_t i = 0; slot && i < depth; i++) {
        slot[i].loop = &l;
        issue(&slot[i]);
    }
    while (l.done < l.count) {
        struct pollfd fd = {.fd = nfs_get_fd(l.nfs), .events = (short)nfs_which_events(l.nfs)};
        if (poll(&fd, 1, -1) < 0 || nfs_service(l.nfs, fd.revents) < 0)
            die("connection", l.nfs);
    }
    printf("%.1f\n", (double)l.count / (now_s() - begin_s));
    nfs_close(l.nfs, l.file);
    nfs_destroy_context(l.nfs);
    free(l.record);
    free(slot);
    return 0;
}
