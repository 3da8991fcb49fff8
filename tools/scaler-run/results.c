/*
 * results: walks down to the directory of a task, making what is missing, and writes three files there.
 */
#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX 255

void results_name(struct text *out, const char *value)
{
        if (strcmp(value, ".") == 0 || strcmp(value, "..") == 0)
                text_add_char(out, '\\');
        for (; *value; value++) {
                if (*value == '/')
                        text_add_string(out, "\\_");
                else if (*value == '\\')
                        text_add_string(out, "\\\\");
                else if (*value == '\t')
                        text_add_string(out, "\\t");
                else
                        text_add_char(out, *value);
        }
}

/* Goes from the directory at *fd to the one called name; -1 and errno. */
static int enter(int *fd, const char *name)
{
        if (mkdirat(*fd, name, 0777) < 0 && errno != EEXIST)
                return -1;
        int next = openat(*fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (next < 0)
                return -1;
        close(*fd);
        *fd = next;
        return 0;
}

/* Slashes separate names; a name that is too long for a directory goes on in one below. */
static int enter_path(int *fd, const char *path)
{
        char name[NAME_BYTES_MAX + 1];
        while (*path) {
                size_t size = strcspn(path, "/");
                if (size > NAME_BYTES_MAX)
                        size = NAME_BYTES_MAX;
                memcpy(name, path, size);
                name[size] = '\0';
                if (size > 0 && enter(fd, name) < 0)
                        return -1;
                path += size;
                path += *path == '/' ? 1 : 0;
        }
        return 0;
}

static int enter_values(int *fd, const struct task *task)
{
        const char *value = task->values;
        struct text path  = { 0 };
        if (task->value_count == 0)
                text_print(&path, "%" PRIu64, task->number);
        for (uint32_t i = 0; i < task->value_count; i++) {
                text_print(&path, "%u/", (unsigned)i + 1);
                results_name(&path, value);
                text_add_char(&path, '/');
                value += strlen(value) + 1;
        }
        if (task->step > 0)
                text_print(&path, "/step/%u", task->step);
        int status = enter_path(fd, path.data);
        text_free(&path);
        return status;
}

static int write_all(int fd, const char *bytes, size_t size)
{
        while (size > 0) {
                ssize_t put = write(fd, bytes, size);
                if (put < 0 && errno != EINTR)
                        return -1;
                bytes += put > 0 ? put : 0;
                size -= put > 0 ? (size_t)put : 0;
        }
        return 0;
}

static int write_spool(int fd, struct spool_pool *pool, struct spool spool)
{
        struct spool_cursor at = { 0 };
        const char         *bytes;
        int                 size;
        while ((size = spool_peek(pool, &spool, &at, &bytes)) > 0) {
                if (write_all(fd, bytes, (size_t)size) < 0)
                        return -1;
                spool_pass(pool, &spool, &at, (size_t)size, false);
        }
        return size;
}

static int write_file(int folder, const char *name, struct spool_pool *pool, const struct spool *spool,
                      const struct text *text)
{
        int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0)
                return -1;
        int status = spool ? write_spool(fd, pool, *spool) : write_all(fd, text->data, text->size);
        int error  = errno;
        if (close(fd) < 0 && status == 0)
                return -1;
        errno = error;
        return status;
}

int results_write(const char *folder, struct spool_pool *pool, const struct task *task)
{
        struct text number = { 0 };
        int         status = -1;
        int         fd     = open(*folder == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        text_print(&number, "%" PRIu64, task->number);
        if (fd >= 0 && enter_path(&fd, folder) == 0 && enter_values(&fd, task) == 0 &&
            write_file(fd, "stdout", pool, &task->output[0], NULL) == 0 &&
            write_file(fd, "stderr", pool, &task->output[1], NULL) == 0)
                status = write_file(fd, "seq", pool, NULL, &number);
        int error = errno;
        if (fd >= 0)
                close(fd);
        text_free(&number);
        errno = error;
        return status;
}
