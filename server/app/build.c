#include "app/build.h"

#include "app/compiler.h"
#include "app/walk.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One module to be made. */
struct target {
    char *name;                      /* of the source, for people: "functions/tests/simple.c" */
    char *source, *object, *partial; /* paths; partial is what the compiler writes */
    struct timespec changed;         /* the source */
    struct timespec started;
    pid_t pid;   /* of the compiler; 0: none runs */
    char *error; /* why it was not started */
    bool current;
};

struct build {
    const struct settings *settings;
    FILE *out;
    struct target *targets;
    size_t count, capacity;
    struct arguments library; /* sources that go into every module */
    struct timespec changed;  /* the newest file that any module may include */
    int failures;
};

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* It, or a folder that it is in, begins with an underscore. */
static bool is_private(const char *name)
{
    return name[0] == '_' || strstr(name, "/_") != NULL;
}

static void add_target(struct build *build, const struct walk_entry *entry)
{
    build->targets = xgrow(build->targets, build->count, &build->capacity, sizeof *build->targets);
    int dir = (int)(entry->base - entry->name), stem = (int)(strrchr(entry->base, '.') - entry->base);
    const char *root = build->settings->functions_dir, *slash = strrchr(root, '/');
    build->targets[build->count++] = (struct target){
        .name = xsprintf("%s/%s", slash ? slash + 1 : root, entry->name),
        .source = xstrdup(entry->path),
        .object = xsprintf("%s/%.*s%.*s.so", root, dir, entry->name, stem, entry->base),
        .partial = xsprintf("%s/%.*s.%.*s.so.%d", root, dir, entry->name, stem, entry->base, (int)getpid()),
        .changed = entry->stat->st_mtim,
    };
}

static enum walk_result visit(void *arg, const struct walk_entry *entry)
{
    struct build *build = arg;
    if (entry->base[0] == '.' || entry->stat == NULL)
        return WALK_SKIP;
    if (!S_ISREG(entry->stat->st_mode) || walk_ends_in(entry->base, "_test.c"))
        return WALK_ON;
    bool source = compiler_is_source(entry->base), private = is_private(entry->name);
    if (source && !private)
        add_target(build, entry);
    else if ((source || compiler_is_header(entry->base)) && is_later(entry->stat->st_mtim, build->changed))
        build->changed = entry->stat->st_mtim;
    if (strncmp(entry->name, "_lib/", 5) == 0 && walk_ends_in(entry->base, ".c"))
        arguments_add(&build->library, "%s", entry->path);
    return WALK_ON;
}

/* A module of the same age counts as old: the clock of files is coarse. */
static bool is_current(const struct build *build, const struct target *target)
{
    struct stat stat_of_object;
    if (stat(target->object, &stat_of_object) < 0)
        return false;
    struct timespec made = stat_of_object.st_mtim;
    return is_later(made, target->changed) && is_later(made, build->changed);
}

static bool is_taken(const struct build *build, const struct target *target)
{
    for (const struct target *other = build->targets; other < target; other++)
        if (strcmp(other->object, target->object) == 0)
            return true;
    return false;
}

static void start(const struct build *build, struct target *target)
{
    struct arguments command = {0};
    if (is_taken(build, target)) {
        target->error = xstrdup("another source makes the same module");
        return;
    }
    target->current = is_current(build, target);
    if (target->current)
        return;
    clock_gettime(CLOCK_REALTIME_COARSE, &target->started);
    if (compiler_command(build->settings, target->source, target->partial, &build->library, &command,
                         &target->error) < 0)
        return;
    int result = compiler_start(&command, &target->pid);
    if (result < 0) {
        target->pid = 0;
        target->error = xsprintf("can't run %s: %s", command.items[0], strerror(-result));
    }
    arguments_finish(&command);
}

/* Puts the compiler's work into its place. 0 or a negative errno. */
static int deliver(const struct target *target)
{
    /* As old as its start: what was saved while the compiler ran is newer. */
    const struct timespec times[] = {target->started, target->started};
    if (utimensat(AT_FDCWD, target->partial, times, 0) < 0 || rename(target->partial, target->object) < 0)
        return -errno;
    return 0;
}

static void finish(struct build *build, const struct target *target)
{
    const char *error = target->error;
    bool compiled = target->pid != 0 && compiler_wait(target->pid);
    int result = compiled ? deliver(target) : 0;
    if (result < 0)
        error = strerror(-result);
    if (target->pid != 0)
        unlink(target->partial);
    if (target->current)
        fprintf(build->out, "%s: up to date\n", target->name);
    else if (compiled && error == NULL)
        fprintf(build->out, "%s: built\n", target->name);
    else
        fprintf(build->out, "%s: failed%s%s\n", target->name, error ? ": " : "", error ? error : "");
    fflush(build->out);
    build->failures += !target->current && (!compiled || error != NULL);
}

static size_t cpu_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (size_t)count : 1;
}

/* As many at once as there are CPUs; the oldest is waited for, so lines come in the order of the names. */
static void run(struct build *build)
{
    size_t parallel = cpu_count();
    for (size_t i = 0; i < build->count + parallel; i++) {
        if (i >= parallel && i - parallel < build->count)
            finish(build, &build->targets[i - parallel]);
        if (i < build->count)
            start(build, &build->targets[i]);
    }
}

static void free_targets(struct build *build)
{
    for (size_t i = 0; i < build->count; i++) {
        free(build->targets[i].name);
        free(build->targets[i].source);
        free(build->targets[i].object);
        free(build->targets[i].partial);
        free(build->targets[i].error);
    }
    free(build->targets);
    arguments_finish(&build->library);
}

int build_all(const struct settings *settings, FILE *out)
{
    struct build build = {.settings = settings, .out = out};
    struct stat header;
    char *path = xsprintf("%s/include/cloudgate.h", settings->state_dir);
    int result = compiler_write_header(settings->state_dir);
    if (result == 0 && stat(path, &header) == 0)
        build.changed = header.st_mtim;
    free(path);
    if (result == 0)
        result = walk(settings->functions_dir, visit, &build);
    if (result == 0)
        run(&build);
    free_targets(&build);
    return result < 0 ? result : build.failures;
}
