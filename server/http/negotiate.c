#include "http/negotiate.h"

#include "base/str.h"

struct accept_encoding negotiate_encoding(const struct request *request)
{
    struct accept_encoding encoding = ACCEPT_ENCODING_NONE;
    for (size_t i = 0; i < request->field_count; i++) {
        const cg_field *field = &request->fields[i];
        if (str_is(field->name, "accept-encoding"))
            accept_encoding_read(&encoding, field->value);
    }
    return encoding;
}
