/* What every end-to-end test includes: the parts of the harness, and how a test program runs its suite.
   The programs are started in the project's folder. Memory is not given back: each test is a process of its
   own. */
#ifndef E2E_HARNESS_H
#define E2E_HARNESS_H

#include "answer.h"
#include "client.h"
#include "folder.h"
#include "server.h"
#include "wire.h"

#include <check.h>

/* A test case whose setup runs once, before its tests, and starts what they share. */
TCase *harness_case(Suite *suite, const char *name, void (*setup)(void), void (*teardown)(void));

/* Runs the suite; the result is the exit status of the program. */
int harness_run(Suite *suite);

/* A folder of this run, removed at its end. */
const char *harness_folder(void);

/* Fails the test; in the teardown of a test case, where Check does not look, prints it and lets the program
 * fail. */
void harness_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void pause_ms(int ms);

/* Formatted text, on the heap. */
char *text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* len bytes that look random, the same for the same seed. */
char *bytes_make(size_t len, unsigned seed);

/* 64 bits FNV-1a as 16 hex digits; tests/e2e/functions/echo.c tells bodies and files so. */
char *bytes_digest(const void *data, size_t len);

#endif
