/* What a file's name tells: its media type and how long a client may keep it. */
#ifndef APP_MIME_H
#define APP_MIME_H

#include <cloudgate.h>
#include <stdbool.h>

/* By the extension, in any case: "text/html; charset=utf-8". application/octet-stream when it is unknown. */
const char *mime_of(cg_str path);
/* Seconds for Cache-Control's max-age. */
int mime_max_age(cg_str path);
/* Whether bytes of that media type (parameters may follow) tend to get smaller by compression: text, and
   formats that are not compressed themselves. */
bool mime_compressible(const char *type);

#endif
