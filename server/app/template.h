/* Text with places to fill in: {{x}} by the value of x, HTML-escaped, {{{x}}} by the value as it is, an
   unknown name by nothing. A name is made of letters, digits, '_', '-', '.' and bytes above 127, with spaces
   or tabs around it; whatever else stands in braces stays as it is. */
#ifndef APP_TEMPLATE_H
#define APP_TEMPLATE_H

#include "base/arena.h"

#include <cloudgate.h>
#include <stddef.h>

struct page_template;

/* Copies text. Immutable, so any number of threads may render it. */
struct page_template *template_parse(cg_str text);
void template_destroy(struct page_template *page);

/* Of a repeated name the first value counts. */
cg_str template_render(const struct page_template *page, struct arena *arena, const cg_field *values,
                       size_t count);

/* text with & < > " ' as character references, in the arena. */
cg_str html_escape(struct arena *arena, cg_str text);

#endif
