/* An app's folder: public/, functions/, apiconfig.yaml, .env, and a certificate. Fails the test on any error.
 */
#ifndef E2E_FOLDER_H
#define E2E_FOLDER_H

#include <stddef.h>

struct folder {
    char path[256];
};

/* A new one in the run's folder, with an empty public/ and functions/. */
struct folder *folder_create(void);

/* path is relative to the folder; what is missing above it is made. */
void folder_write(const struct folder *folder, const char *path, const void *data, size_t len);
void folder_print(const struct folder *folder, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
char *folder_read(const struct folder *folder, const char *path, size_t *ret_len);
char *folder_path(const struct folder *folder, const char *path);

/* Compiles a source of the project ("tests/stories/simple.c") to functions/NAME.so, with all warnings as
 * errors. */
void folder_add_function(const struct folder *folder, const char *source, const char *name);

/* cert.pem and key.pem, self-signed, for localhost and 127.0.0.1. */
void folder_add_certificate(const struct folder *folder);

/* Runs a command with its output in a file that is shown when it fails; the test then fails. */
void run_command(const char *const argv[]);

#endif
