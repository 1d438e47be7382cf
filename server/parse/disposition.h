/* The headers of a part of multipart/form-data, as clients really write them. */
#ifndef PARSE_DISPOSITION_H
#define PARSE_DISPOSITION_H

#include <cloudgate.h>

/* The name of a form field and of a file in the value of a Content-Disposition field (RFC 7578, 4.2), which
   is changed in place: value[len] must be writable, and the results point into it, terminated. ret_name is
   empty and ret_filename absent when they are missing.

   Browsers quote with '"' and write a quote inside as %22 and a backslash as itself; other clients write \"
   or quote nothing. So: a quote that a ';' or the end follows closes the value; any other is part of it,
   without the backslash before it; all other backslashes and all percent signs stay as sent. filename* (RFC
   5987) counts when there is no filename; one in another charset than UTF-8, or that hides control bytes,
   makes the filename empty. Of a parameter that comes twice the first counts. -400: a quote that never
   closes. */
int disposition_parse(char *value, size_t len, cg_str *ret_name, cg_str *ret_filename);

#endif
