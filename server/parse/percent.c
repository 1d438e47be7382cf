#include "parse/percent.h"

#include "parse/bytes.h"

int percent_byte(const char *text, size_t len)
{
    if (len < 3 || text[0] != '%')
        return -1;
    int high = byte_hex(text[1]), low = byte_hex(text[2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

size_t percent_decode(const char *text, size_t len, bool form, char *out)
{
    char *to = out;
    for (size_t i = 0; i < len; i++) {
        int byte = percent_byte(text + i, len - i);
        if (byte >= 0) {
            *to++ = (char)byte;
            i += 2;
        } else {
            *to++ = form && text[i] == '+' ? ' ' : text[i];
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

char *percent_put(char *out, char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned value = (unsigned char)byte;
    *out++ = '%';
    *out++ = digits[value >> 4];
    *out++ = digits[value & 15];
    return out;
}
