/*
 * reload: a host that loads libscaler.so, uses it and unloads it, CYCLES times: `reload LIBRARY CYCLES`.
 * Prints one JSON line per cycle with what the process holds afterwards.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <scaler.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 50

struct library {
        void *handle;
        int (*local_create)(const scaler_local_options *, scaler_local **, scaler_error *);
        int (*local_register)(scaler_local *, const scaler_function *);
        int (*local_start)(scaler_local *, scaler_error *);
        scaler_client *(*local_client)(scaler_local *);
        void (*local_destroy)(scaler_local *);
        int (*client_submit)(scaler_client *, const scaler_spec *, scaler_future **, scaler_error *);
        int (*client_wait_all)(scaler_client *, int64_t);
        int (*future_result)(scaler_future *, int64_t, scaler_blob **);
        void (*future_unref)(scaler_future *);
        int (*client_create)(const scaler_client_options *, scaler_client **, scaler_error *);
        int (*client_start)(scaler_client *, scaler_error *);
        int (*client_stop)(scaler_client *, int64_t);
        void (*client_destroy)(scaler_client *);
        scaler_scheduler *(*local_scheduler)(scaler_local *);
        const char *(*scheduler_address)(const scaler_scheduler *, size_t);
};

static bool find(struct library *l, const char *name, void *function)
{
        void *symbol = dlsym(l->handle, name);
        memcpy(function, &symbol, sizeof symbol);
        return symbol != NULL;
}

static bool load(struct library *l, const char *path)
{
        l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        return l->handle && find(l, "scaler_local_create", &l->local_create) &&
               find(l, "scaler_local_register", &l->local_register) && find(l, "scaler_local_start", &l->local_start) &&
               find(l, "scaler_local_client", &l->local_client) && find(l, "scaler_local_destroy", &l->local_destroy) &&
               find(l, "scaler_client_submit", &l->client_submit) &&
               find(l, "scaler_client_wait_all", &l->client_wait_all) &&
               find(l, "scaler_future_result", &l->future_result) && find(l, "scaler_future_unref", &l->future_unref) &&
               find(l, "scaler_client_create", &l->client_create) && find(l, "scaler_client_start", &l->client_start) &&
               find(l, "scaler_client_stop", &l->client_stop) && find(l, "scaler_client_destroy", &l->client_destroy) &&
               find(l, "scaler_local_scheduler", &l->local_scheduler) &&
               find(l, "scaler_scheduler_address", &l->scheduler_address);
}

static int nothing(scaler_task *task, void *ctx)
{
        (void)task;
        (void)ctx;
        return 0;
}

/* Functions and a command, through one client. */
static int work(const struct library *l, scaler_client *client)
{
        static const char *const argv[] = { "true", NULL };
        scaler_command           command;
        scaler_error             err;
        int                      status = 0;
        scaler_init(&command, sizeof command);
        command.argv = argv;
        for (int i = 0; i < TASKS && status == 0; i++) {
                scaler_future *f = NULL;
                scaler_spec    spec;
                scaler_init(&spec, sizeof spec);
                spec.function = i ? "nothing" : NULL;
                spec.command  = i ? NULL : &command;
                status        = l->client_submit(client, &spec, &f, &err);
                if (status == 0 && i < 2)
                        status = l->future_result(f, 30000, NULL);
                l->future_unref(f);
        }
        return status ? status : l->client_wait_all(client, 30000);
}

/* One client inside, and one that comes by TCP. */
static int use(const struct library *l, scaler_local *local)
{
        scaler_client        *guest = NULL;
        scaler_client_options options;
        scaler_error          err;
        scaler_init(&options, sizeof options);
        int status = work(l, l->local_client(local));
        for (size_t i = 0; i < 2; i++) {
                const char *url = l->scheduler_address(l->local_scheduler(local), i);
                if (url && strncmp(url, "tcp:", 4) == 0)
                        options.scheduler = url;
        }
        if (status == 0)
                status = l->client_create(&options, &guest, &err);
        if (status == 0)
                status = l->client_start(guest, &err);
        if (status == 0)
                status = work(l, guest);
        if (guest) {
                l->client_stop(guest, 5000);
                l->client_destroy(guest);
        }
        return status;
}

static int cycle(const char *path)
{
        static const char *const listen[] = { "tcp://127.0.0.1:0" };
        struct library           l        = { 0 };
        scaler_local            *local    = NULL;
        scaler_local_options     options;
        scaler_function          function;
        scaler_error             err;
        if (!load(&l, path)) {
                fprintf(stderr, "reload: %s\n", dlerror());
                return -1;
        }
        scaler_init(&options, sizeof options);
        options.workers      = 2;
        options.slots        = 2;
        options.listen       = listen;
        options.listen_count = 1;
        scaler_init(&function, sizeof function);
        function.name = "nothing";
        function.fn   = nothing;
        int status    = l.local_create(&options, &local, &err);
        if (status == 0)
                status = l.local_register(local, &function);
        if (status == 0)
                status = l.local_start(local, &err);
        if (status == 0)
                status = use(&l, local);
        l.local_destroy(local);
        dlclose(l.handle);
        return status;
}

static int entries(const char *path)
{
        DIR *folder = opendir(path);
        int  count  = 0;
        while (folder && readdir(folder))
                count++;
        if (folder)
                closedir(folder);
        return count - 2;
}

static long resident_kib(void)
{
        char  line[256];
        long  kib  = 0;
        FILE *file = fopen("/proc/self/status", "r");
        while (file && fgets(line, sizeof line, file))
                if (strncmp(line, "VmRSS:", 6) == 0)
                        kib = strtol(line + 6, NULL, 10);
        if (file)
                fclose(file);
        return kib;
}

int main(int argc, char **argv)
{
        if (argc != 3)
                return 2;
        for (int i = 1; i <= atoi(argv[2]); i++) {
                const int status = cycle(argv[1]);
                if (status < 0) {
                        fprintf(stderr, "reload: cycle %d: status %d\n", i, status);
                        return 1;
                }
                printf("{\"cycle\":%d,\"threads\":%d,\"descriptors\":%d,\"resident_kib\":%ld}\n", i,
                       entries("/proc/self/task"), entries("/proc/self/fd"), resident_kib());
                fflush(stdout);
        }
        return 0;
}
