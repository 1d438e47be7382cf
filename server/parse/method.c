#include "parse/method.h"

#include <string.h>

static const char *const names[METHOD_COUNT] = {
    [METHOD_GET] = "GET",     [METHOD_HEAD] = "HEAD",     [METHOD_POST] = "POST",       [METHOD_PUT] = "PUT",
    [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE", [METHOD_OPTIONS] = "OPTIONS",
};

enum method method_of(cg_str name)
{
    for (int method = 0; method < METHOD_COUNT; method++)
        if (name.len == strlen(names[method]) && memcmp(name.ptr, names[method], name.len) == 0)
            return (enum method)method;
    return METHOD_COUNT;
}

const char *method_name(enum method method)
{
    return names[method];
}
