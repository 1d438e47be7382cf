/* The text of a config file. A first byte of 'J' makes the rest JSON. */
#include "config/describe.h"
#include "config/file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings *settings;
    char *told;
    bool json = size > 0 && data[0] == 'J';
    cg_str text = cg_bytes((const char *)data + json, size - json);
    if (file_parse_alone(text, json, "/nonexistent", &settings, &told) == 0) {
        told = settings_describe(settings);
        settings_destroy(settings);
    }
    free(told);
    return 0;
}
