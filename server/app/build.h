/* `cloudgate build`: compiles functions/ to the modules that the server loads. */
#ifndef APP_BUILD_H
#define APP_BUILD_H

#include "config/settings.h"

#include <stdio.h>

/* Compiles each .c, .cc and .cpp file below functions_dir to the .so beside it, when that is missing or older
   than the source, a source of _lib/, or a header. Names that begin with '.' or '_' and `*_test.c` are no
   modules; the sources in _lib/ go into every one. Runs $CC (cc) or $CXX (c++) with $CFLAGS or $CXXFLAGS, as
   many at once as there are CPUs; a line `// cloudgate: pkgs=sqlite3` adds what pkg-config knows of these
   packages. <cloudgate.h> is the server's own, written to state_dir/include. A module appears whole or not at
   all, and stays as it was when its source does not compile. Prints a line a module to out; compilers write
   to stderr. Number of failures, or a negative errno when nothing could be tried. */
int build_all(const struct settings *settings, FILE *out);

/* The text of <cloudgate.h> that this server was built with. */
extern const char build_header[];
extern const size_t build_header_size;

#endif
