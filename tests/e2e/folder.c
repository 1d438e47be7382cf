#include "folder.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ck_assert_msg(mkdir(path, 0755) == 0 || errno == EEXIST, "%s: %s", path, strerror(errno));
        *slash = '/';
    }
}

struct folder *folder_create(void)
{
    struct folder *folder = calloc(1, sizeof *folder);
    ck_assert_ptr_nonnull(folder);
    snprintf(folder->path, sizeof folder->path, "%s/app.XXXXXX", harness_folder());
    ck_assert_msg(mkdtemp(folder->path) != NULL, "%s: %s", folder->path, strerror(errno));
    make_parents(folder_path(folder, "public/"));
    make_parents(folder_path(folder, "functions/"));
    return folder;
}

char *folder_path(const struct folder *folder, const char *path)
{
    return text_print("%s/%s", folder->path, path);
}

void folder_write(const struct folder *folder, const char *path, const void *data, size_t len)
{
    char *whole = folder_path(folder, path);
    make_parents(whole);
    FILE *file = fopen(whole, "we");
    ck_assert_msg(file != NULL, "%s: %s", whole, strerror(errno));
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
}

void folder_print(const struct folder *folder, const char *path, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    ck_assert_int_ge(len, 0);
    folder_write(folder, path, text, (size_t)len);
}

char *folder_read(const struct folder *folder, const char *path, size_t *ret_len)
{
    char *whole = folder_path(folder, path), *data;
    struct stat info;
    FILE *file = fopen(whole, "re");
    ck_assert_msg(file != NULL && fstat(fileno(file), &info) == 0, "%s: %s", whole, strerror(errno));
    data = malloc((size_t)info.st_size + 1);
    ck_assert_ptr_nonnull(data);
    size_t len = fread(data, 1, (size_t)info.st_size, file);
    data[len] = '\0';
    fclose(file);
    if (ret_len != NULL)
        *ret_len = len;
    return data;
}

void run_command(const char *const argv[])
{
    char *log = text_print("%s/command.XXXXXX", harness_folder());
    int fd = mkostemp(log, O_CLOEXEC), status;
    ck_assert_int_ge(fd, 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        execvp(argv[0], (char *const *)argv);
        perror(argv[0]);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (status != 0) {
        char text[8192];
        ssize_t len = pread(fd, text, sizeof text - 1, 0);
        text[len > 0 ? len : 0] = '\0';
        ck_abort_msg("%s: status %d\n%s", argv[0], status, text);
    }
    close(fd);
    unlink(log);
}

/* A source is compiled once in a run. Two tests that want it at the same time both rename a whole file. */
static char *compile(const char *source)
{
    char *module = text_print("%s/modules/%s.so", harness_folder(), source);
    char *fresh = text_print("%s.%d", module, (int)getpid());
    if (access(module, R_OK) == 0)
        return module;
    make_parents(module);
    const char *cc = getenv("CC") ? getenv("CC") : "cc";
    run_command((const char *const[]){cc, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-fPIC",
                                      "-shared", "-Iinclude", "-o", fresh, source, NULL});
    ck_assert_int_eq(rename(fresh, module), 0);
    return module;
}

void folder_add_function(const struct folder *folder, const char *source, const char *name)
{
    char *target = text_print("%s/functions/%s.so", folder->path, name), *module = compile(source);
    make_parents(target);
    ck_assert_msg(link(module, target) == 0, "%s: %s", target, strerror(errno));
}

void folder_add_certificate(const struct folder *folder)
{
    run_command((const char *const[]){
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "30", "-subj", "/CN=cloudgate test", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout", folder_path(folder, "key.pem"), "-out", folder_path(folder, "cert.pem"), NULL});
}
