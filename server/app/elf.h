/* A look at a shared object before the loader sees it: the loader trusts the headers, and a truncated file
   would end the process with SIGBUS. */
#ifndef APP_ELF_H
#define APP_ELF_H

#include <stddef.h>

/* NULL when the whole file at data (aligned as malloc does) can be a shared object for this machine; else
   what is wrong with it, in words that follow "is ": "truncated". */
const char *elf_problem(const void *data, size_t size);

#endif
