/* JSON for yaml_parse. YAML 1.2 is a superset of JSON, but libyaml misses some corners of it. */
#ifndef CONFIG_JSON_H
#define CONFIG_JSON_H

#include "base/arena.h"
#include "config/problems.h"

#include <stdbool.h>

/* false, and told: text is no JSON. Else *ret_text (in the arena) means the same to libyaml, line by line. */
bool json_to_yaml(cg_str text, const char *file, struct arena *arena, struct problems *problems,
                  cg_str *ret_text);

#endif
