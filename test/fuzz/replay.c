/*
 * replay DIRECTORY: gives each file of the directory to the fuzz target, from a block of exactly its
 * size, and also each of its prefixes, so that sanitizers see the first byte too many.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { SEED_MAX = 1 << 16 };

static void give(const uint8_t *bytes, size_t len)
{
        uint8_t *exact = malloc(len > 0 ? len : 1);
        if (!exact)
                abort();
        memcpy(exact, bytes, len);
        (void)LLVMFuzzerTestOneInput(exact, len);
        free(exact);
}

static int replay(const char *path)
{
        static uint8_t bytes[SEED_MAX];
        FILE          *file = fopen(path, "rb");
        if (!file)
                return 0;
        const size_t len = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        for (size_t i = len > 4096 ? len : 0; i <= len; i++)
                give(bytes, i);
        return 1;
}

int main(int argc, char **argv)
{
        DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
        int  count     = 0;
        if (!directory)
                return EXIT_FAILURE;
        for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
                char path[4096];
                if (entry->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
                count += replay(path);
        }
        closedir(directory);
        printf("%d seeds\n", count);
        return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
