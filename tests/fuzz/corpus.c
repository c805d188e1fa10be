/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Stands in for libFuzzer's main where a fuzz target is built without it: feeds the files that are named, and
 * those in folders that are named, to the target. A failure is a crash or a sanitizer's report.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* then libFuzzer has a main */

static unsigned feed_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) < 0) {
        perror(path);
        exit(1);
    }
    size_t len = (size_t)st.st_size;
    uint8_t *data = malloc(len ? len : 1); /* exactly: sanitizers see a byte read beyond */
    if (!data || fread(data, 1, len, f) != len) {
        perror(path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, len);
    free(data);
    return 1;
}

static unsigned feed(const char *path)
{
    char inner[4096];
    unsigned fed = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return feed_file(path);
    for (struct dirent *d; (d = readdir(folder));) {
        snprintf(inner, sizeof inner, "%s/%s", path, d->d_name);
        if (d->d_name[0] != '.')
            fed += feed(inner);
    }
    closedir(folder);
    return fed;
}

int main(int argc, char **argv)
{
    unsigned fed = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE-OR-FOLDER...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        fed += feed(argv[i]);
    printf("%u inputs\n", fed);
    return fed ? 0 : 1;
}

#endif
