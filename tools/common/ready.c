/*
 * ready: writes a file beside its place and renames it there.
 */
#include "ready.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "text.h"

void ready_forget(const char *path)
{
        if (path)
                unlink(path);
}

static bool write_whole(const char *path, const char *content)
{
        FILE *file = fopen(path, "we");
        if (!file)
                return false;
        bool written = fputs(content, file) >= 0;
        return fclose(file) == 0 && written;
}

bool ready_write(const char *path, const char *content)
{
        if (!path)
                return true;
        struct text beside = { 0 };
        text_print(&beside, "%s.%ld", path, (long)getpid());
        bool fine = write_whole(beside.data, content) && rename(beside.data, path) == 0;
        if (!fine) {
                int why = errno;
                unlink(beside.data);
                errno = why;
        }
        text_free(&beside);
        return fine;
}
