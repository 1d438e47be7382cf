/* The fields and files of a multipart form that is held whole. */
#ifndef PARSE_MULTIPART_FORM_H
#define PARSE_MULTIPART_FORM_H

#include "base/arena.h"

#include <cloudgate.h>

/* Parses body with MULTIPART_LIMITS by the boundary in content_type. All that is returned is copied to the
   arena and terminated. 0, -400 or -413 as multipart_feed, -415 as multipart_boundary, -503 when memory is
   out. */
int multipart_collect(cg_str content_type, cg_str body, struct arena *arena, cg_fields *ret_form,
                      cg_files *ret_files);

#endif
