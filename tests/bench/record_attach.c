/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * record_attach OBJECT: attaches all programs of an eBPF object, says "attached", and leaves at end of input.
 */
#include <stdio.h>

#include <bpf/libbpf.h>

int main(int argc, char **argv)
{
    struct bpf_object *object = argc == 2 ? bpf_object__open(argv[1]) : NULL;
    if (!object || bpf_object__load(object) != 0)
        return 1;
    struct bpf_program *program;
    bpf_object__for_each_program(program, object)
    {
        if (!bpf_program__attach(program))
            return 1;
    }
    puts("attached");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
