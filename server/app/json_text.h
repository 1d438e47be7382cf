/* Text as a JSON string (RFC 8259, section 7). */
#ifndef APP_JSON_TEXT_H
#define APP_JSON_TEXT_H

#include "base/arena.h"

/* With its quotes. Bytes that are no UTF-8 become U+FFFD; '<' is escaped, so that the result may stand in a
   page's script. */
cg_str json_quote(struct arena *arena, cg_str text);

#endif
