/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptions of domains, which a libvirt that is not ours hands over. What is taken has a name and a path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/guest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int find(void *self, const char *pool, const char *volume, char **path, bool *is_device)
{
    (void)self;
    *is_device = pool[0] == 'd';
    *path = volume[0] ? strdup(volume) : NULL;
    return *path ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct guest_volumes volumes = {find, NULL};
    struct guest g = {0};
    struct err e = {0};
    char *xml = malloc(size + 1);
    if (!xml)
        abort();
    memcpy(xml, data, size);
    xml[size] = '\0';
    int status = guest_of_xml(xml, &volumes, &g, &e);
    if (status < 0 && !e.text[0])
        abort();
    for (size_t i = 0; status == 0 && i < g.disk_count; i++)
        if (!g.disks[i].name[0] || !g.disks[i].path[0])
            abort();
    for (size_t i = 0; status == 0 && i < g.net_count; i++)
        if (!g.nets[i].name[0] || !g.nets[i].interface[0])
            abort();
    guest_release(&g);
    free(xml);
    return 0;
}
