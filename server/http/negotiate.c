#include "http/negotiate.h"

#include <string.h>

struct accept_encoding negotiate_encoding(const struct request *request)
{
    static const char name[] = "accept-encoding";
    struct accept_encoding encoding = ACCEPT_ENCODING_NONE;
    for (size_t i = 0; i < request->field_count; i++) {
        const cg_field *field = &request->fields[i];
        if (field->name.len == sizeof name - 1 && memcmp(field->name.ptr, name, sizeof name - 1) == 0)
            accept_encoding_read(&encoding, field->value);
    }
    return encoding;
}
