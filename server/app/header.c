#include "app/build.h"

/* Included so that make sees on what this file depends; what counts is its text, below. */
#include <cloudgate.h>

__asm__(".section .rodata\n"
        ".hidden build_header\n"
        ".global build_header\n"
        "build_header:\n"
        ".incbin \"include/cloudgate.h\"\n"
        "build_header_end:\n"
        ".byte 0\n"
        ".balign 8\n"
        ".hidden build_header_size\n"
        ".global build_header_size\n"
        "build_header_size:\n"
        ".quad build_header_end - build_header\n"
        ".text\n");
