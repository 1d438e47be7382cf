#include "app/walk.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A folder on the way from the root to where the walk is. */
struct folder {
    const struct folder *above;
    const char *path, *name; /* name is "" for the root */
    dev_t device;
    ino_t inode;
    int depth;
};

struct walk {
    char *real_root; /* without links */
    walk_visit *visit;
    void *arg;
};

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool leads_outside(const struct walk *walk, const char *path)
{
    char *real = realpath(path, NULL);
    size_t len = strlen(walk->real_root);
    bool inside = real != NULL && strncmp(real, walk->real_root, len) == 0 &&
                  (real[len] == '/' || real[len] == '\0' || len == 1);
    free(real);
    return !inside;
}

static bool is_loop(const struct folder *folder, const struct stat *stat)
{
    for (; folder != NULL; folder = folder->above)
        if (folder->device == stat->st_dev && folder->inode == stat->st_ino)
            return true;
    return false;
}

static int walk_folder(const struct walk *walk, const struct folder *folder);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as WALK_MAX_DEPTH. */
static void visit_entry(const struct walk *walk, const struct folder *folder, const char *base)
{
    char *path = xsprintf("%s/%s", folder->path, base);
    char *name = folder->name[0] ? xsprintf("%s/%s", folder->name, base) : xstrdup(base);
    struct stat own = {0}, target = {0};
    struct walk_entry entry = {.path = path, .name = name, .base = name + strlen(name) - strlen(base)};
    if (lstat(path, &own) < 0 || stat(path, &target) < 0)
        entry.error = errno;
    else
        entry.stat = &target;
    entry.outside = S_ISLNK(own.st_mode) && leads_outside(walk, path);
    bool enter = entry.stat != NULL && S_ISDIR(target.st_mode);
    if ((!enter || (!is_loop(folder, &target) && folder->depth < WALK_MAX_DEPTH)) &&
        walk->visit(walk->arg, &entry) == WALK_ON && enter) {
        int result = walk_folder(walk, &(struct folder){.above = folder,
                                                        .path = path,
                                                        .name = name,
                                                        .device = target.st_dev,
                                                        .inode = target.st_ino,
                                                        .depth = folder->depth + 1});
        if (result < 0) {
            entry.stat = NULL;
            entry.error = -result;
            walk->visit(walk->arg, &entry);
        }
    }
    free(name);
    free(path);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int walk_folder(const struct walk *walk, const struct folder *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder->path, &entries, not_dots, by_bytes);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        visit_entry(walk, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int walk(const char *root, walk_visit *visit, void *arg)
{
    struct stat status;
    struct walk self = {.real_root = realpath(root, NULL), .visit = visit, .arg = arg};
    if (self.real_root == NULL)
        return -errno;
    int result;
    if (stat(self.real_root, &status) == 0)
        result = walk_folder(
            &self,
            &(struct folder){.path = root, .name = "", .device = status.st_dev, .inode = status.st_ino});
    else
        result = -errno;
    free(self.real_root);
    return result;
}

bool walk_ends_in(const char *name, const char *suffix)
{
    size_t len = strlen(name), suffix_len = strlen(suffix);
    return len > suffix_len && memcmp(name + len - suffix_len, suffix, suffix_len) == 0;
}
