#include "harness.h"

#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEST_TIMEOUT 60 /* seconds; catches a hang, asserts nothing */

static char run_folder[] = "/tmp/cloudgate-e2e.XXXXXX";
static pid_t runner_pid;
static unsigned failures;

/* Under AddressSanitizer: the tests' own memory ends with their processes. The server is another program. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

const char *harness_folder(void)
{
    return run_folder;
}

void harness_fail(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    ck_assert_int_ge(len, 0);
    if (getpid() != runner_pid)
        ck_abort_msg("%s", text);
    printf("%s\n", text);
    fflush(stdout);
    free(text);
    failures++;
}

TCase *harness_case(Suite *suite, const char *name, void (*setup)(void), void (*teardown)(void))
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, TEST_TIMEOUT);
    if (setup != NULL)
        tcase_add_unchecked_fixture(tests, setup, teardown);
    suite_add_tcase(suite, tests);
    return tests;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

int harness_run(Suite *suite)
{
    signal(SIGPIPE, SIG_IGN);
    if (access("include/cloudgate.h", R_OK) != 0) {
        fprintf(stderr, "start me in the project's folder\n");
        return 2;
    }
    if (mkdtemp(run_folder) == NULL) {
        perror(run_folder);
        return 2;
    }
    runner_pid = getpid();
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    nftw(run_folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed == 0 && failures == 0 ? 0 : 1;
}

void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

char *text_print(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    ck_assert_int_ge(len, 0);
    return text;
}

char *bytes_make(size_t len, unsigned seed)
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    char *bytes = malloc(len + 1);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < len; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        bytes[i] = (char)(state >> 24);
    }
    bytes[len] = '\0';
    return bytes;
}

char *bytes_digest(const void *data, size_t len)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return text_print("%016llx", (unsigned long long)hash);
}
