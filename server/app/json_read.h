/* json_unpack whose complaint names the member, which jansson's own does not. */
#ifndef APP_JSON_READ_H
#define APP_JSON_READ_H

#include <jansson.h>
#include <stdarg.h>

#define JSON_READ_ERROR_SIZE 256

/* 0, or -EINVAL and what is wrong: "age: Expected integer, got string". */
int json_read(json_t *json, char error[JSON_READ_ERROR_SIZE], const char *format, va_list args);

#endif
