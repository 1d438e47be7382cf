/* Scalars as people write them in a file, a variable or a flag. Decimal only: a leading zero, a sign, blanks
   or anything behind the number is refused, never guessed at. All give 0; -EINVAL when text is no such value;
   -ERANGE when it is outside min..max, overflow included. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

int value_number(const char *text, int64_t min, int64_t max, int64_t *ret_number);

/* 1 0, true false, yes no, on off, in any case. */
int value_bool(const char *text, bool *ret_on);

/* "512", "64k", "10MB", "1 GiB" in any case: bytes. k, KB and KiB are all 1024, and so on to T. */
int value_size(const char *text, int64_t min, int64_t max, int64_t *ret_bytes);

/* "500ms", "10s", "2m", "1h"; a plain number is ms. */
int value_duration(const char *text, int64_t min, int64_t max, int64_t *ret_ms);

/* The shortest exact way to write them: "10 MiB", "90 s". */
void value_print_size(struct buffer *out, int64_t bytes);
void value_print_duration(struct buffer *out, int64_t ms);

#endif
