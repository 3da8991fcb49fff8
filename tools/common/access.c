/*
 * access: a token is the first line of its file, or SCALER_TOKEN; the file wins.  It is wiped when done.
 */
#include "access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define TOKEN_MAX 1024

const char *access_url(void)
{
        const char *url = getenv("SCALER_URL");
        return url && *url ? url : NULL;
}

static ssize_t read_file(const char *path, char *bytes, size_t room)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -1;
        size_t  size = 0;
        ssize_t got  = 1;
        while (size < room && got > 0) {
                got = read(fd, bytes + size, room - size);
                size += got > 0 ? (size_t)got : 0;
        }
        int why = errno;
        close(fd);
        errno = why;
        return got < 0 ? -1 : (ssize_t)size;
}

static int read_token_file(struct access *a, const struct program *p)
{
        char    bytes[TOKEN_MAX + 2];
        ssize_t size = read_file(a->token_file, bytes, sizeof bytes);
        if (size < 0)
                return program_refuse(p, "--token-file: '%s': %s", a->token_file, strerror(errno));
        size_t length = 0;
        while (length < (size_t)size && bytes[length] != '\n')
                length++;
        if (length == 0 || length > TOKEN_MAX || memchr(bytes, '\0', length))
                return program_refuse(p, "--token-file: '%s': the first line must hold 1 to %d bytes, none of them NUL",
                                      a->token_file, TOKEN_MAX);
        a->token = memory_copy(bytes, length);
        return PROGRAM_GOES_ON;
}

int access_read(struct access *a, const struct program *p, scaler_security *out)
{
        const char *named = getenv("SCALER_TOKEN");
        if (a->token_file) {
                int code = read_token_file(a, p);
                if (code != PROGRAM_GOES_ON)
                        return code;
        } else if (named && *named) {
                if (strlen(named) > TOKEN_MAX)
                        return program_refuse(p, "SCALER_TOKEN: more than %d bytes", TOKEN_MAX);
                a->token = memory_copy(named, strlen(named));
        }
        scaler_init(out, sizeof *out);
        out->token    = a->token;
        out->insecure = a->insecure;
        return PROGRAM_GOES_ON;
}

void access_fini(struct access *a)
{
        if (a->token) {
                volatile char *at = a->token;
                while (*at)
                        *at++ = '\0';
        }
        free(a->token);
        a->token = NULL;
}
