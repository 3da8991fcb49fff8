/*
 * plugin: opens each file, looks up its one function and calls it.
 */
#include "plugin.h"

#include <dlfcn.h>

#include "text.h"

/* A plain file name means a file here, not one on the linker's search path. */
static bool load_plugin(const struct program *p, scaler_worker *worker, const char *file)
{
        struct text path = { 0 };
        text_print(&path, "%s%s", strchr(file, '/') ? "" : "./", file);
        void *plugin = dlopen(path.data, RTLD_NOW | RTLD_LOCAL);
        text_free(&path);
        if (!plugin) {
                program_refuse(p, "--plugin: %s", dlerror());
                return false;
        }
        scaler_plugin_init_fn init = NULL;
        *(void **)&init            = dlsym(plugin, SCALER_PLUGIN_INIT);
        if (!init) {
                program_refuse(p, "--plugin: '%s' has no " SCALER_PLUGIN_INIT "()", file);
                return false;
        }
        int status = init(worker);
        if (status < 0)
                program_refuse(p, "--plugin: '%s' refused: %s", file, scaler_strerror(status));
        return status >= 0;
}

bool plugins_load(const struct program *p, scaler_worker *worker, const struct option_list *plugins)
{
        for (size_t i = 0; i < plugins->count; i++)
                if (!load_plugin(p, worker, plugins->items[i]))
                        return false;
        return true;
}
