/* The text of a date; its first eight bytes are also a time to be written. */
#include "parse/date.h"

#include "tests/fuzz/fuzz.h"

/* What is written is read as the same second. */
static void round_trip(int64_t seconds)
{
    char text[DATE_SIZE];
    int64_t back;
    date_format(seconds, text);
    require(strlen(text) == DATE_SIZE - 1);
    require(date_parse(cg_string(text), &back) == 0);
    require(back == seconds || back == -62135596800 || back == 253402300799);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t seconds;
    char *text = exact_copy(data, size);
    if (date_parse(cg_bytes(text, size), &seconds) == 0)
        round_trip(seconds);
    if (size >= sizeof seconds) {
        memcpy(&seconds, data, sizeof seconds);
        round_trip(seconds);
        round_trip(seconds % 253402300799);
    }
    free(text);
    return 0;
}
