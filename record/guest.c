/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

int guest_add_disk(struct guest *g, enum stream_path is, const char *name, const char *path,
        struct guest_disk **disk, struct err *e)
{
    struct guest_disk *more = reallocarray(g->disks, g->disk_count + 1, sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot keep a guest's disk");
    g->disks = more;
    struct guest_disk *d = &more[g->disk_count];
    *d = (struct guest_disk){.is = is, .name = strdup(name), .path = strdup(path)};
    g->disk_count++;
    *disk = d;
    return d->name && d->path ? 0 : err_sys(e, ENOMEM, "cannot keep a guest's disk");
}

int guest_add_net(struct guest *g, const char *name, const char *interface, struct err *e)
{
    struct guest_net *more = reallocarray(g->nets, g->net_count + 1, sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot keep a guest's interface");
    g->nets = more;
    struct guest_net *n = &more[g->net_count++];
    *n = (struct guest_net){strdup(name), strdup(interface)};
    return n->name && n->interface ? 0 : err_sys(e, ENOMEM, "cannot keep a guest's interface");
}

int guest_note(struct guest *g, struct err *e, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL, **more = reallocarray(g->notes, g->note_count + 1, sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot keep a note");
    g->notes = more;
    va_start(ap, fmt);
    int len = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (len < 0)
        return err_sys(e, ENOMEM, "cannot keep a note");
    more[g->note_count++] = text;
    return 0;
}

void guest_release(struct guest *g)
{
    for (size_t i = 0; i < g->disk_count; i++) {
        free(g->disks[i].name);
        free(g->disks[i].path);
        facts_release(&g->disks[i].facts);
    }
    for (size_t i = 0; i < g->net_count; i++) {
        free(g->nets[i].name);
        free(g->nets[i].interface);
    }
    for (size_t i = 0; i < g->note_count; i++)
        free(g->notes[i]);
    free(g->disks);
    free(g->nets);
    free(g->notes);
    *g = (struct guest){0};
}

/* QEMU: docs/interop/qcow2.txt, docs/interop/qed_spec.rst; VMDK 5.0; VHDX; VDI. */
const char *guest_image_format(const char *path)
{
    static const struct {
        const char *name, *magic;
        size_t at, len;
    } known[] = {{"qcow2", "QFI\xfb", 0, 4}, {"qed", "QED", 0, 4}, {"vmdk", "KDMV", 0, 4},
            {"vhdx", "vhdxfile", 0, 8}, {"vpc", "conectix", 0, 8}, {"vdi", "\x7f\x10\xda\xbe", 64, 4},
            {"luks", "LUKS\xba\xbe", 0, 6}};
    char begin[72] = "";
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || pread(fd, begin, sizeof begin, 0) != sizeof begin)
        return "raw";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (memcmp(begin + known[i].at, known[i].magic, known[i].len) == 0)
            return known[i].name;
    return "raw";
}
