#include "app/module.h"

#include "app/elf.h"
#include "base/alloc.h"
#include "base/file.h"
#include "parse/path.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 5
#define PAUSE_MS 50 /* between two attempts at a file that is being written */

static void fail(struct module *module, const char *what)
{
    if (module->error == NULL)
        module->error = xsprintf("%s: %s", module->file, what);
}

/* What the loader says names the copy; people know the file. */
static void fail_in_loader(struct module *module, const char *copy, const char *text)
{
    size_t len = strlen(copy);
    if (strncmp(text, copy, len) == 0 && text[len] == ':')
        text += len + 1 + strspn(text + len + 1, " ");
    fail(module, text);
}

static int read_object(const char *path, char **ret_data, size_t *ret_size)
{
    struct stat stat = {0};
    int result = file_read(path, MODULE_SIZE_MAX, ret_data, &stat);
    for (int i = 1; i < ATTEMPTS && result == -EAGAIN; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        result = file_read(path, MODULE_SIZE_MAX, ret_data, &stat);
    }
    *ret_size = (size_t)stat.st_size;
    return result;
}

/* A sealed file in memory; its name is what /proc/PID/maps shows. A negative errno on failure. */
static int make_copy(const char *file, const char *data, size_t size)
{
    char name[128];
    snprintf(name, sizeof name, "%s", file);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    int error = file_write_all(fd, data, size);
    if (error != 0) {
        close(fd);
        return error;
    }
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

/* The loader knows objects by the path they were opened with. One that refused to be unloaded keeps its path,
   though its number may be in use again: such a number is passed by. */
static int open_copy(struct module *module, char *path, size_t path_size)
{
    for (;;) {
        snprintf(path, path_size, "/proc/self/fd/%d", module->fd);
        void *other = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        if (other == NULL)
            break;
        dlclose(other);
        int fd = fcntl(module->fd, F_DUPFD_CLOEXEC, module->fd + 1);
        if (fd < 0)
            return -errno;
        close(module->fd);
        module->fd = fd;
    }
    module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return 0;
}

static uint64_t number_of(const char *data, size_t size)
{
    static const unsigned char key[crypto_shorthash_KEYBYTES];
    uint64_t number;
    crypto_shorthash((unsigned char *)&number, (const unsigned char *)data, size, key);
    return number;
}

static void open_object(struct module *module, const char *path)
{
    char *data = NULL;
    size_t size = 0;
    int result = read_object(path, &data, &size);
    if (result < 0) {
        fail(module, result == -EAGAIN    ? "is being written to all the time"
                     : result == -ENOTSUP ? "is no file"
                                          : strerror(-result));
        return;
    }
    const char *problem = elf_problem(data, size);
    if (problem != NULL)
        module->error = xsprintf("%s: is %s", module->file, problem);
    else
        module->fd = make_copy(module->file, data, size);
    module->build = number_of(data, size);
    free(data);
    if (problem != NULL)
        return;
    char copy[64];
    result = module->fd < 0 ? module->fd : open_copy(module, copy, sizeof copy);
    if (result < 0)
        fail(module, strerror(-result));
    else if (module->handle == NULL)
        fail_in_loader(module, copy, dlerror());
}

static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module *module = arg;
    const struct link_map *map;
    (void)size;
    if (dlinfo(module->handle, RTLD_DI_LINKMAP, &map) != 0 || info->dlpi_addr != map->l_addr)
        return 0;
    module->base = (const void *)info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
            continue;
        module->text = (const char *)info->dlpi_addr + part->p_vaddr;
        module->text_end = (const char *)module->text + part->p_memsz;
    }
    return 1;
}

static void take_hooks(struct module *module)
{
    const cg_module *hooks = dlsym(module->handle, "cg_module_export");
    if (hooks == NULL) {
        fail(module, "has no CG_MODULE(...)");
        return;
    }
    if (hooks->abi != CG_ABI) {
        module->error = xsprintf("%s: was built for version %u of <cloudgate.h>, this server has version %u",
                                 module->file, (unsigned)hooks->abi, (unsigned)CG_ABI);
        return;
    }
    size_t size = hooks->size < sizeof *hooks ? hooks->size : sizeof *hooks;
    cg_module known = {0};
    memcpy(&known, hooks, size);
    const char *more = (const char *)hooks + size, *end = (const char *)hooks + hooks->size;
    while (more < end && *more == 0)
        more++;
    if (more < end)
        fail(module, "a hook of a newer <cloudgate.h> is not in this version");
    else if ((known.flags & ~(uint64_t)CG_BLOCKING) != 0)
        module->error = xsprintf("%s: the flag 0x%llx is not in this version", module->file,
                                 (unsigned long long)known.flags);
    else
        module->hooks = known;
}

struct module *module_load(const char *functions_dir, const char *name)
{
    struct module *module = xzalloc(sizeof *module);
    const char *slash = strrchr(functions_dir, '/');
    module->fd = -1;
    module->name = xstrdup(name);
    module->file = xsprintf("%s/%s.so", slash ? slash + 1 : functions_dir, name);
    if (!path_stays_below(name)) {
        fail(module, "is not below the folder of functions");
        return module;
    }
    char *path = xsprintf("%s/%s.so", functions_dir, name);
    open_object(module, path);
    free(path);
    if (module->error == NULL) {
        dl_iterate_phdr(find_text, module);
        take_hooks(module);
    }
    return module;
}

void module_destroy(struct module *module)
{
    if (module == NULL)
        return;
    if (module->handle != NULL)
        dlclose(module->handle);
    if (module->fd >= 0)
        close(module->fd);
    free(module->error);
    free(module->file);
    free(module->name);
    free(module);
}

cg_handler *module_handler(const struct module *module, const char *name)
{
    if (module->handle == NULL || module->error != NULL)
        return NULL;
    char *symbol = xsprintf("cg_handler_%s", name);
    cg_handler *const *handler = dlsym(module->handle, symbol);
    free(symbol);
    return handler ? *handler : NULL;
}

int module_start(struct module *module)
{
    if (module->error != NULL)
        return -EINVAL;
    int result = module->hooks.init ? module->hooks.init() : 0;
    if (result != 0) {
        module->error = xsprintf("%s: init failed with %d", module->file, result);
        return -EINVAL;
    }
    module->started = true;
    return 0;
}

void module_stop(struct module *module)
{
    if (module->started && module->hooks.fini != NULL)
        module->hooks.fini();
    module->started = false;
}

int module_thread_start(const struct module *module)
{
    return module->hooks.thread_init ? module->hooks.thread_init() : 0;
}

void module_thread_stop(const struct module *module)
{
    if (module->hooks.thread_fini != NULL)
        module->hooks.thread_fini();
}
